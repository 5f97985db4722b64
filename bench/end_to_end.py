"""Whole runs with no monitoring, with the workflow level, and with everything.

One cluster of two worker processes runs each way in turn: the demo's analysis, and four hundred
chunks of a few branches, which take so little that a fixed cost per chunk would show.
"""

from __future__ import annotations

import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
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
SMALL_CHUNK_EVENTS = 100
SMALL_CHUNKS = 400


@dataclass(frozen=True)
class _Case:
    """An analysis to run each way."""

    name: str
    fileset: Any
    processor_instance: processor.ProcessorABC
    schema: Any
    chunk_events: int
    repeats: int
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
        demo = _Case(
            name="the demo",
            fileset=make_fileset(DATA, progress=_no_progress),
            processor_instance=DimuonProcessor(),
            schema=NanoAODSchema,
            chunk_events=DEMO_CHUNK_EVENTS,
            repeats=3,
            budget=1.01,
        )
        small = _Case(
            name="small chunks",
            fileset={"small": {"files": {str(_small_file(Path(directory))): "Events"}}},
            processor_instance=SumsThree(),
            schema=BaseSchema,
            chunk_events=SMALL_CHUNK_EVENTS,
            repeats=3 if quick else 5,
            budget=None,
        )
        for case in (small,) if quick else (demo, small):
            yield from _compare(client, case)


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
    runner = processor.Runner(
        processor.DaskExecutor(client=client, status=False),
        chunksize=case.chunk_events,
        schema=case.schema,
        savemetrics=True,
    )
    run = _Run(client, runner, case)
    ways: dict[str, Callable[[], Any]] = {
        "no monitoring": nullcontext,
        "workflow level": lambda: MetricsCollector(client, track_workers=False),
        "everything": lambda: MetricsCollector(runner),
    }
    run.once(nullcontext)
    figures: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for turn in range(case.repeats):
        order = list(ways) if turn % 2 else list(reversed(ways))
        for way in order:
            figures[way].append(run.once(ways[way]))
    bare = figures.pop("no monitoring")
    for way, monitored in figures.items():
        for what, index in (("wall clock", 0), ("CPU", 1)):
            above = [pair[index] for pair in monitored]
            below = [pair[index] for pair in bare]
            ratios = [one / other for one, other in zip(above, below, strict=True)]
            yield Row(
                topic="end to end",
                what=f"{case.name} ({run.chunks} chunks), {way}: {what}",
                measured=statistics.median(above),
                unit="s",
                reference="no monitoring",
                reference_measured=statistics.median(below),
                ratio=statistics.median(ratios),
                budget=case.budget,
                design=None if case.budget is None else f"≤ {case.budget}",
            )


class _Run:
    """The same analysis, as often as wanted."""

    def __init__(self, client: Client, runner: Any, case: _Case) -> None:
        self._runner = runner
        self._case = case
        pids = client.run(_process_id).values()
        self._processes = [psutil.Process(), *(psutil.Process(pid) for pid in pids)]
        self.chunks = 0

    def once(self, way: Callable[[], Any]) -> tuple[float, float]:
        """Return the wall and CPU seconds of one run, putting the metrics together included."""
        cpu_before, began = self._cpu_secs(), time.perf_counter()
        with way() as collector:
            _, report = self._runner(self._case.fileset, self._case.processor_instance)
            if collector is not None:
                collector.set_coffea_report(report)
        if collector is not None:
            collector.get_metrics()
        wall_secs = time.perf_counter() - began
        self.chunks = report["chunks"]
        return wall_secs, self._cpu_secs() - cpu_before

    def _cpu_secs(self) -> float:
        times = [process.cpu_times() for process in self._processes]
        return float(sum(spent.user + spent.system for spent in times))


def _no_progress(done: int, wanted: int) -> None:
    del done, wanted


def _process_id() -> int:
    import os

    return os.getpid()
