"""Whole runs with no monitoring, with the workflow level, and with everything.

One cluster of two worker processes runs each way in turn: part of the demo, and four hundred chunks
of a few branches, which take so little that a fixed cost per chunk shows.

Two runs of the same thing differ by several percent on most machines, so each ratio has its
uncertainty. Where that hides the budget, three things do not: by how much a run of as many small
chunks is slower, which is over so soon that it can be had many times; what the run itself says
monitoring took (the time around it on the client, and the recording and sampling inside); and how
many more calls there are.
"""

from __future__ import annotations

import cProfile
import dataclasses
import logging
import math
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

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
from roastcoffea import MetricsCollector

DATA = Path(__file__).resolve().parent.parent / "demo-data"
DEMO_CHUNK_EVENTS = 1_000
DEMO_CHUNKS_PER_DATASET = 4
SMALL_CHUNKS = 400
SHORT_TURNS = 17
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
        yield from _compared(small, budget=None)
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
        whole_case = dataclasses.replace(demo_case, max_chunks=None, turns=(1, 1))
        whole = by_turns(client, whole_case, BARE)
        short_case = dataclasses.replace(
            small_case, max_chunks=whole.chunks, turns=(SHORT_TURNS, SHORT_TURNS)
        )
        short = by_turns(client, short_case, BARE, EVERYTHING)
        yield _of_short_runs(whole, part, short)
        yield _calls(demo_case)


def _compared(turns: Turns, *, budget: float | None) -> Iterator[Row]:
    """Show each way against none, and what the run says it took."""
    design = None if budget is None else f"≤ {budget}"
    for way in (WORKFLOW, EVERYTHING):
        for what in NAMES:
            above, below = turns.secs(way, what), turns.secs(BARE, what)
            ratios = [one / other for one, other in zip(above, below, strict=True)]
            is_judged = what in ("wall", "cpu")
            yield Row(
                topic="end to end",
                what=f"{turns.name} ({turns.chunks} chunks), {way}: {NAMES[what]}",
                measured=statistics.median(above),
                unit="s",
                reference=BARE,
                reference_measured=statistics.median(below),
                ratio=statistics.median(ratios),
                uncertainty=uncertainty(ratios),
                budget=budget if is_judged else None,
                design=design if is_judged else None,
            )
    # Of the turns, the one in the middle.
    taken = turns.taken[EVERYTHING]
    account = sorted(taken, key=lambda figures: figures.own)[len(taken) // 2]
    yield Row(
        topic="end to end",
        what=f"{turns.name} ({turns.chunks} chunks), {EVERYTHING}: what it says it took",
        measured=account.own,
        unit="s",
        reference="the run",
        reference_measured=account.run,
        ratio=1 + account.own / account.run,
        budget=budget,
        design=design,
    )


def _of_short_runs(demo: Turns, part: Turns, short: Turns) -> Row:
    """Set what monitoring adds to short runs of as many chunks against the demo.

    A chunk of the demo reads a dozen columns more, for some microseconds each. The demo is run
    once; how far that may be off, the runs of its part tell.
    """
    assert short.chunks == demo.chunks, (short.chunks, demo.chunks)
    pairs = zip(short.secs(EVERYTHING, "wall"), short.secs(BARE, "wall"), strict=True)
    added = [monitored - bare for monitored, bare in pairs]
    extra, error = statistics.median(added), uncertainty(added)
    assert error is not None
    (wall,) = demo.secs(BARE, "wall")
    walls = part.secs(BARE, "wall")
    wall_error = 2 * statistics.stdev(walls) / statistics.mean(walls)
    return Row(
        topic="end to end",
        what=f"{demo.name} ({demo.chunks} chunks), {EVERYTHING}: added to as many small chunks",
        measured=extra,
        unit="s",
        reference=f"{demo.name}, {BARE}",
        reference_measured=wall,
        ratio=1 + extra / wall,
        uncertainty=math.hypot(error, extra * wall_error) / wall,
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
    def run() -> int:
        executor = processor.IterativeExecutor(status=False)
        runner: Any = processor.Runner(
            executor, chunksize=case.chunk_events, schema=case.schema, maxchunks=1
        )
        profile = cProfile.Profile()
        # coffea draws its bars whatever it is told.
        with way(runner), redirect_stdout(StringIO()):
            profile.runcall(runner, case.fileset, case.processor_instance)
        return sum(entry.callcount for entry in profile.getstats())

    # The first run imports, and asks files for what is then known.
    run()
    return run()


def _no_progress(done: int, wanted: int) -> None:
    del done, wanted
