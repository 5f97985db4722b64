"""Whole runs with no monitoring, with the workflow level, and with everything.

One cluster of two worker processes runs each way in turn: part of the demo, and four hundred chunks
of a few branches, which take so little that a fixed cost per chunk would show.

Two runs of the same thing differ by several percent on most machines, so each ratio has its
uncertainty. Beside it stands what does not: what the run itself says monitoring took (the time
around it on the client, and the recording and sampling inside), and how many more calls there are.
"""

from __future__ import annotations

import cProfile
import logging
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import psutil
import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema, NanoAODSchema
from distributed import Client, LocalCluster

from analysis import DimuonProcessor
from bench.row import Row
from nanoaod import make_fileset
from roastcoffea import MetricsCollector

DATA = Path(__file__).resolve().parent.parent / "demo-data"
DEMO_CHUNK_EVENTS = 1_000
DEMO_CHUNKS_PER_DATASET = 6
SMALL_CHUNK_EVENTS = 100
SMALL_CHUNKS = 400
#: Student's t for so many runs: standard errors within which a mean lies nineteen times of twenty.
STUDENT_T = {3: 4.30, 4: 3.18, 5: 2.78}
NAMES = {"wall": "wall clock", "cpu": "CPU"}


@dataclass(frozen=True)
class _Case:
    """An analysis to run each way."""

    name: str
    fileset: Any
    processor_instance: processor.ProcessorABC
    schema: Any
    chunk_events: int
    repeats: int
    max_chunks: int | None
    #: The largest ratio; None where a run shows what a chunk costs at worst.
    budget: float | None


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
        small = _Case(
            name="small chunks",
            fileset={"small": {"files": {str(_small_file(Path(directory))): "Events"}}},
            processor_instance=SumsThree(),
            schema=BaseSchema,
            chunk_events=SMALL_CHUNK_EVENTS,
            repeats=1 if quick else 3,
            max_chunks=None,
            budget=None,
        )
        yield from _compare(client, small)
        if quick:
            return
        demo = _Case(
            name="the demo",
            fileset=make_fileset(DATA, progress=_no_progress),
            processor_instance=DimuonProcessor(),
            schema=NanoAODSchema,
            chunk_events=DEMO_CHUNK_EVENTS,
            repeats=4,
            max_chunks=DEMO_CHUNKS_PER_DATASET,
            budget=1.01,
        )
        yield from _compare(client, demo)
        yield _calls(demo)


def _calls(case: _Case) -> Row:
    """Count the calls of chunks in this process, which are the same whatever else goes on."""
    bare, monitored = (_calls_of(case, way) for way in (lambda _: nullcontext(), MetricsCollector))
    return Row(
        topic="end to end",
        what=f"{case.name}, one chunk of each dataset, everything",
        measured=monitored,
        unit="calls",
        reference="no monitoring",
        reference_measured=bare,
        ratio=monitored / bare,
        budget=case.budget,
        design=f"≤ {case.budget}",
    )


def _calls_of(case: _Case, way: Callable[[Any], Any]) -> int:
    def run() -> int:
        executor = processor.IterativeExecutor(status=False)
        runner = processor.Runner(
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


class SumsThree(processor.ProcessorABC):
    """Read three columns and add them up."""

    def process(self, events: Any) -> dict[str, float]:
        """Return the sums."""
        return {name: float(ak.sum(events[name])) for name in ("a", "b", "c")}

    def postprocess(self, accumulator: Any) -> Any:
        """Return what there is."""
        return accumulator


def _small_file(directory: Path) -> Path:
    random = np.random.default_rng(1)
    path = directory / "small.root"
    with uproot.recreate(path) as file:
        columns = {name: random.random(SMALL_CHUNKS * SMALL_CHUNK_EVENTS) for name in "abcdefgh"}
        tree = file.mktree("Events", {name: array.dtype for name, array in columns.items()})
        tree.extend(columns)
    return path


def _compare(client: Client, case: _Case) -> Iterator[Row]:
    run = _Run(client, case)
    ways: dict[str, Callable[[Any], Any]] = {
        "no monitoring": lambda _: nullcontext(),
        "workflow level": lambda _: MetricsCollector(client, track_workers=False),
        "everything": MetricsCollector,
    }
    for collector in ways.values():
        run.warm_up(collector)
    figures: dict[str, list[_Figures]] = {way: [] for way in ways}
    for turn in range(case.repeats):
        order = list(ways) if turn % 2 else list(reversed(ways))
        for way in order:
            figures[way].append(run.once(ways[way]))
    bare = figures.pop("no monitoring")
    for way, monitored in figures.items():
        for what in ("wall", "cpu"):
            above = [getattr(figure, f"{what}_secs") for figure in monitored]
            below = [getattr(figure, f"{what}_secs") for figure in bare]
            ratios = [one / other for one, other in zip(above, below, strict=True)]
            yield Row(
                topic="end to end",
                what=f"{case.name} ({run.chunks} chunks), {way}: {NAMES[what]}",
                measured=statistics.median(above),
                unit="s",
                reference="no monitoring",
                reference_measured=statistics.median(below),
                ratio=statistics.median(ratios),
                uncertainty=_uncertainty(ratios),
                budget=case.budget,
                design=None if case.budget is None else f"≤ {case.budget}",
            )
    # Of the turns, the one in the middle.
    account = sorted(figures["everything"], key=lambda figure: figure.own_secs)[case.repeats // 2]
    yield Row(
        topic="end to end",
        what=f"{case.name}, everything: what it says it took",
        measured=account.own_secs,
        unit="s",
        reference="the run",
        reference_measured=account.run_secs,
        ratio=1 + account.own_secs / account.run_secs,
        budget=case.budget,
        design=None if case.budget is None else f"≤ {case.budget}",
    )


def _uncertainty(ratios: list[float]) -> float | None:
    """Return how far the ratio may be off, in nineteen of twenty cases."""
    few = STUDENT_T.get(len(ratios))
    return None if few is None else few * statistics.stdev(ratios) / math.sqrt(len(ratios))


@dataclass(frozen=True)
class _Figures:
    """What one run took."""

    wall_secs: float
    #: Workers, scheduler and client.
    cpu_secs: float
    #: The run alone, without what is done before and after it.
    run_secs: float
    #: What was done before and after it, and the recording and sampling inside.
    own_secs: float


class _Run:
    """The same analysis, as often as wanted."""

    def __init__(self, client: Client, case: _Case) -> None:
        self._client = client
        self._case = case
        pids = client.run(_process_id).values()
        self._processes = [psutil.Process(), *(psutil.Process(pid) for pid in pids)]
        self.chunks = 0

    def warm_up(self, way: Callable[[Any], Any]) -> None:
        """Let the workers import what they need, on one chunk of each dataset."""
        runner = self._runner(max_chunks=1)
        with way(runner):
            runner(self._case.fileset, self._case.processor_instance)

    def once(self, way: Callable[[Any], Any]) -> _Figures:
        """Run once, putting the metrics together included."""
        runner = self._runner(max_chunks=self._case.max_chunks)
        cpu_before, began = self._cpu_secs(), time.perf_counter()
        with way(runner) as collector:
            run_began = time.perf_counter()
            _, report = runner(self._case.fileset, self._case.processor_instance)
            run_secs = time.perf_counter() - run_began
            if collector is not None:
                collector.set_coffea_report(report)
        metrics = {} if collector is None else collector.get_metrics()
        wall_secs, cpu_secs = time.perf_counter() - began, self._cpu_secs() - cpu_before
        self.chunks = report["chunks"]
        share = (metrics.get("monitoring_overhead_percent") or 0.0) / 100
        return _Figures(wall_secs, cpu_secs, run_secs, wall_secs - run_secs + share * run_secs)

    def _runner(self, *, max_chunks: int | None) -> Any:
        return processor.Runner(
            processor.DaskExecutor(client=self._client, status=False),
            chunksize=self._case.chunk_events,
            schema=self._case.schema,
            savemetrics=True,
            maxchunks=max_chunks,
        )

    def _cpu_secs(self) -> float:
        times = [process.cpu_times() for process in self._processes]
        return float(sum(spent.user + spent.system for spent in times))


def _no_progress(done: int, wanted: int) -> None:
    del done, wanted


def _process_id() -> int:
    import os

    return os.getpid()
