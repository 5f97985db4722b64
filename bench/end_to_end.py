"""Whole runs with no monitoring, with the workflow level, and with everything.

One cluster of two worker processes runs each way in turn: part of the demo, and four hundred chunks
of a few branches, which take so little that a fixed cost per chunk shows. Two runs of the same
thing differ by several percent on most machines, so each ratio has its uncertainty.

The budget is one percent of the whole demo, which is less than that: whole runs can only show that
it is exceeded. That it is kept is shown by what can be told: what a run of as many small chunks
takes more, which is over so soon that it can be had many times; what the run itself says monitoring
took (the time around it on the client, and the recording and sampling inside); and how many more
calls there are.
"""

from __future__ import annotations

import cProfile
import dataclasses
import itertools
import logging
import math
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema, NanoAODSchema
from distributed import Client, LocalCluster

from analysis import DimuonProcessor
from bench.row import Row
from bench.timing import uncertainty
from bench.whole_runs import (
    BARE,
    EVERYTHING,
    SMALL_CHUNK_EVENTS,
    WORKFLOW,
    Case,
    SumsThree,
    Turns,
    Way,
    by_turns,
    small_file,
)
from nanoaod import make_fileset
from roastcoffea import MetricsCollector, files

DATA = Path(__file__).resolve().parent.parent / "demo-data"
DEMO_CHUNK_EVENTS = 1_000
DEMO_CHUNKS_PER_DATASET = 4
SMALL_CHUNKS = 400
SHORT_TURNS = 13
#: The largest ratio on the demo. Small chunks have none: they show what a chunk costs at worst.
BUDGET = 1.01
NAMES = {
    "wall": "wall clock",
    "cpu": "CPU",
    "worker_cpu": "of which the workers",
    "client_cpu": "of which scheduler and client",
}


def rows(*, quick: bool) -> Iterator[Row]:
    """Run by turns; compare wall clock, and CPU of workers, scheduler and client."""
    with (
        tempfile.TemporaryDirectory() as directory,
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as client,
    ):
        path = small_file(Path(directory), chunks=SMALL_CHUNKS)
        small_case = Case(
            name="small chunks",
            fileset={"small": {"files": {str(path): "Events"}}},
            processor_instance=SumsThree(),
            schema=BaseSchema,
            chunk_events=SMALL_CHUNK_EVENTS,
            max_chunks=None,
            turns=(1, 1) if quick else (3, 9),
            secs=30,
        )
        small = by_turns(client, small_case, BARE, WORKFLOW, EVERYTHING)
        yield from _compared(small)
        if quick:
            return
        demo_case = Case(
            name="the demo",
            fileset=make_fileset(DATA, progress=_no_progress),
            processor_instance=DimuonProcessor(),
            schema=NanoAODSchema,
            chunk_events=DEMO_CHUNK_EVENTS,
            max_chunks=DEMO_CHUNKS_PER_DATASET,
            turns=(3, 9),
            secs=30,
        )
        part = by_turns(client, demo_case, BARE, WORKFLOW, EVERYTHING)
        yield from _compared(part, budget=BUDGET)
        chunks = _chunks_of(demo_case)
        short_case = dataclasses.replace(
            small_case, max_chunks=chunks, turns=(SHORT_TURNS, SHORT_TURNS)
        )
        short = by_turns(client, short_case, BARE, WORKFLOW, EVERYTHING)
        assert short.chunks == chunks, (short.chunks, chunks)
        yield from _of_short_runs(part, short)
        yield _account(part, chunks=chunks, budget=BUDGET)
        yield _calls(demo_case)


def _compared(turns: Turns, *, budget: float | None = None) -> Iterator[Row]:
    """Show each way against none, and what the run says it took."""
    design = None if budget is None else f"≤ {budget}"
    for way in (WORKFLOW, EVERYTHING):
        for what in NAMES:
            above, below = turns.secs(way, what), turns.secs(BARE, what)
            ratios = [one / other for one, other in zip(above, below, strict=True)]
            yield Row(
                topic="end to end",
                what=f"{turns.name} ({turns.chunks} chunks), {way}: {NAMES[what]}",
                measured=statistics.median(above),
                unit="s",
                reference=BARE,
                reference_measured=statistics.median(below),
                ratio=statistics.median(ratios),
                uncertainty=uncertainty(ratios),
                budget=budget if what in ("wall", "cpu") else None,
                design=design if what in ("wall", "cpu") else None,
                is_told_elsewhere=True,
            )
    yield _account(turns, chunks=turns.chunks)


def _account(turns: Turns, *, chunks: int, budget: float | None = None) -> Row:
    """Show what a run of so many chunks says that monitoring took."""
    times = chunks / turns.chunks
    shares = [figures.own_share(times) for figures in turns.taken[EVERYTHING]]
    run_secs = times * statistics.median(turns.secs(EVERYTHING, "run"))
    return Row(
        topic="end to end",
        what=f"{turns.name} ({chunks} chunks), {EVERYTHING}: what it says it took",
        measured=statistics.median(shares) * run_secs,
        unit="s",
        reference="the run",
        reference_measured=run_secs,
        ratio=1 + statistics.median(shares),
        uncertainty=uncertainty(shares),
        budget=budget,
        design=None if budget is None else f"≤ {budget}",
    )


def _chunks_of(case: Case) -> int:
    """Count the chunks of the whole analysis."""
    chunks = 0
    for path, tree in itertools.chain(*(of["files"].items() for of in case.fileset.values())):
        with uproot.open(path) as file:
            chunks += max(1, round(file[tree].num_entries / case.chunk_events))
    return chunks


def _of_short_runs(part: Turns, short: Turns) -> Iterator[Row]:
    """Set what monitoring adds to short runs of as many chunks against the whole demo.

    The demo takes as many times longer than its part as it has more chunks. What goes on by the
    second, whatever the chunks do, is not in here: samples, and looks at a worker's memory. The
    run's own account has it.
    """
    times = short.chunks / part.chunks
    for way, what in itertools.product((WORKFLOW, EVERYTHING), ("wall", "cpu")):
        pairs = zip(short.secs(way, what), short.secs(BARE, what), strict=True)
        added = [monitored - bare for monitored, bare in pairs]
        extra, error = statistics.median(added), uncertainty(added)
        demo = [times * secs for secs in part.secs(BARE, what)]
        demo_secs, demo_error = statistics.median(demo), uncertainty(demo)
        assert error is not None
        assert demo_error is not None
        yield Row(
            topic="end to end",
            what=f"{part.name} ({short.chunks} chunks), {way}: {NAMES[what]} "
            "added to as many small chunks",
            measured=extra,
            unit="s",
            reference=f"{part.name}, {BARE}: {times:g} times its part",
            reference_measured=demo_secs,
            ratio=1 + extra / demo_secs,
            uncertainty=math.hypot(error, extra * demo_error / demo_secs) / demo_secs,
            budget=BUDGET,
            design=f"≤ {BUDGET}",
        )


def _calls(case: Case) -> Row:
    """Count the calls of chunks in this process, which are the same whatever else goes on."""
    bare, monitored = (_calls_of(case, way) for way in (lambda _: nullcontext(), MetricsCollector))
    return Row(
        topic="end to end",
        what=f"{case.name}, one chunk of each dataset, {EVERYTHING}",
        measured=monitored,
        unit="calls",
        reference=BARE,
        reference_measured=bare,
        ratio=monitored / bare,
        budget=BUDGET,
        design=f"≤ {BUDGET}",
    )


def _calls_of(case: Case, way: Way) -> int:
    profile = cProfile.Profile()
    # The first run imports.
    for is_counted in (False, True):
        # As on a worker that sees the files for the first time.
        files._known.clear()
        executor = processor.IterativeExecutor(status=False)
        runner: Any = processor.Runner(
            executor, chunksize=case.chunk_events, schema=case.schema, maxchunks=1
        )
        # coffea draws its bars whatever it is told.
        with way(runner), redirect_stdout(StringIO()):
            if is_counted:
                profile.enable()
            runner(case.fileset, case.processor_instance)
            profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def _no_progress(done: int, wanted: int) -> None:
    del done, wanted
