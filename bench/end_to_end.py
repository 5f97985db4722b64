"""Whole runs with no monitoring, with the workflow level, and with everything.

One cluster of two worker processes runs each way in turn: the demo's analysis, and the same in
many small chunks, where a fixed cost per chunk would show.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import psutil
from coffea import processor
from coffea.nanoevents import NanoAODSchema
from distributed import Client, LocalCluster

from analysis import DimuonProcessor
from bench.row import Row
from nanoaod import make_fileset
from roastcoffea import MetricsCollector

DATA = Path(__file__).resolve().parent.parent / "demo-data"
DEMO_CHUNK_EVENTS = 1_000
SMALL_CHUNK_EVENTS = 100


def rows(*, quick: bool) -> Iterator[Row]:
    """Run by turns; compare wall clock, and CPU of workers, scheduler and client."""
    fileset = make_fileset(DATA, progress=_no_progress)
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as client,
    ):
        cases = [("the demo", DEMO_CHUNK_EVENTS, 3 if quick else 5)]
        if not quick:
            cases.append(("many small chunks", SMALL_CHUNK_EVENTS, 3))
        for name, chunk_events, repeats in cases:
            yield from _compare(client, fileset, name, chunk_events, repeats)


def _compare(
    client: Client, fileset: Any, name: str, chunk_events: int, repeats: int
) -> Iterator[Row]:
    runner = processor.Runner(
        processor.DaskExecutor(client=client, status=False),
        chunksize=chunk_events,
        schema=NanoAODSchema,
        savemetrics=True,
    )
    run = _Run(client, runner, fileset)
    ways: dict[str, Callable[[], Any]] = {
        "no monitoring": nullcontext,
        "workflow level": lambda: MetricsCollector(client, track_workers=False),
        "everything": lambda: MetricsCollector(runner),
    }
    run.once(nullcontext)
    figures: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for turn in range(repeats):
        order = list(ways) if turn % 2 else list(reversed(ways))
        for way in order:
            figures[way].append(run.once(ways[way]))
    bare = figures.pop("no monitoring")
    for way, monitored in figures.items():
        for what, index, budget in (("wall clock", 0, 1.01), ("CPU", 1, 1.01)):
            above = [pair[index] for pair in monitored]
            below = [pair[index] for pair in bare]
            ratios = [one / other for one, other in zip(above, below, strict=True)]
            yield Row(
                topic="end to end",
                what=f"{name} ({run.chunks} chunks), {way}: {what}",
                measured=statistics.median(above),
                unit="s",
                reference="no monitoring",
                reference_measured=statistics.median(below),
                ratio=statistics.median(ratios),
                # The budget is for the demo; small chunks show what a chunk costs at worst.
                budget=budget if name == "the demo" else None,
                design="≤ 1.01" if name == "the demo" else None,
            )


class _Run:
    """The same analysis, as often as wanted."""

    def __init__(self, client: Client, runner: Any, fileset: Any) -> None:
        self._runner = runner
        self._fileset = fileset
        pids = client.run(_process_id).values()
        self._processes = [psutil.Process(), *(psutil.Process(pid) for pid in pids)]
        self.chunks = 0

    def once(self, way: Callable[[], Any]) -> tuple[float, float]:
        """Return the wall and CPU seconds of one run, putting the metrics together included."""
        cpu_before, began = self._cpu_secs(), time.perf_counter()
        with way() as collector:
            _, report = self._runner(self._fileset, DimuonProcessor())
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
