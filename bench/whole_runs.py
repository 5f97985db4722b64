"""Analyses to run as a whole on one cluster: with no monitoring, the workflow level, everything."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot
from coffea import processor
from distributed import Client

from roastcoffea import MetricsCollector, files

SMALL_CHUNK_EVENTS = 100

#: What is put around a run of a coffea runner.
Way = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    """An analysis to run each way."""

    name: str
    fileset: Any
    processor_instance: processor.ProcessorABC
    schema: Any
    chunk_events: int
    #: Per dataset; None for all.
    max_chunks: int | None
    #: Turns at least and at most, and the seconds after which no further one begins.
    turns: tuple[int, int]
    secs: float


@dataclass(frozen=True)
class Figures:
    """What one run took, in seconds."""

    wall: float
    worker_cpu: float
    #: The scheduler is in the client's process.
    client_cpu: float
    #: The run alone, without what is done before and after it.
    run: float
    #: What is done before and after it, once per run, however long that takes.
    around: float
    #: The recording and sampling inside, as the run itself tells it.
    inside: float

    @property
    def cpu(self) -> float:
        """Return all CPU time."""
        return self.worker_cpu + self.client_cpu

    def own_share(self, times: float = 1.0) -> float:
        """Return what monitoring takes of a run that is so many times as long."""
        return self.around / (times * self.run) + self.inside / self.run


@dataclass(frozen=True)
class Turns:
    """What each turn took, way by way, in order."""

    name: str
    chunks: int
    taken: dict[str, list[Figures]]

    def secs(self, way: str, what: str) -> list[float]:
        """Return one of the figures of each turn."""
        return [getattr(figures, what) for figures in self.taken[way]]


BARE = "no monitoring"
WORKFLOW = "workflow level"
EVERYTHING = "everything"


def by_turns(client: Client, case: Case, *names: str) -> Turns:
    """Run these ways once in each turn, so that the machine's moods are the same for all."""
    every: dict[str, Way] = {
        BARE: lambda _: nullcontext(),
        WORKFLOW: lambda _: MetricsCollector(client, track_workers=False),
        EVERYTHING: MetricsCollector,
    }
    ways = {name: every[name] for name in names}
    run = _Run(client, case)
    for way in ways.values():
        run.warm_up(way)
    # The first whole run takes longer, whichever it is.
    run.once(every[BARE])
    taken: dict[str, list[Figures]] = {name: [] for name in ways}
    least, most = case.turns
    began = time.monotonic()
    for turn in itertools.count():
        if turn == most or (turn >= least and time.monotonic() - began > case.secs):
            break
        for name in list(ways) if turn % 2 else reversed(ways):
            taken[name].append(run.once(ways[name]))
    return Turns(case.name, run.chunks, taken)


class _Run:
    """The same analysis, as often as wanted."""

    def __init__(self, client: Client, case: Case) -> None:
        self._client = client
        self._case = case
        self.chunks = 0

    def warm_up(self, way: Way) -> None:
        """Let the workers import what they need, on one chunk of each dataset."""
        runner = self._runner(max_chunks=1)
        with way(runner):
            runner(self._case.fileset, self._case.processor_instance)

    def once(self, way: Way) -> Figures:
        """Run once, putting the metrics together included."""
        runner = self._runner(max_chunks=self._case.max_chunks)
        # Otherwise Python collects its garbage in some turns and not in others.
        self._client.run(_start_anew)
        gc.collect()
        worker_cpu, client_cpu, began = self._worker_cpu(), time.process_time(), time.perf_counter()
        with way(runner) as collector:
            run_began = time.perf_counter()
            _, report = runner(self._case.fileset, self._case.processor_instance)
            run_secs = time.perf_counter() - run_began
            if collector is not None:
                collector.set_coffea_report(report)
        metrics = {} if collector is None else collector.get_metrics()
        wall_secs = time.perf_counter() - began
        self.chunks = report["chunks"]
        share = (metrics.get("monitoring_overhead_percent") or 0.0) / 100
        return Figures(
            wall=wall_secs,
            worker_cpu=self._worker_cpu() - worker_cpu,
            client_cpu=time.process_time() - client_cpu,
            run=run_secs,
            around=wall_secs - run_secs,
            inside=share * run_secs,
        )

    def _runner(self, *, max_chunks: int | None) -> Any:
        return processor.Runner(
            processor.DaskExecutor(client=self._client, status=False),
            chunksize=self._case.chunk_events,
            schema=self._case.schema,
            savemetrics=True,
            maxchunks=max_chunks,
        )

    def _worker_cpu(self) -> float:
        return float(sum(self._client.run(time.process_time).values()))


def _start_anew() -> None:
    """Let a worker see its files for the first time, and leave no garbage to collect."""
    files._known.clear()
    gc.collect()


class SumsThree(processor.ProcessorABC):
    """Read three columns and add them up."""

    def process(self, events: Any) -> dict[str, float]:
        """Return the sums."""
        return {name: float(ak.sum(events[name])) for name in ("a", "b", "c")}

    def postprocess(self, accumulator: Any) -> Any:
        """Return what there is."""
        return accumulator


def small_file(directory: Path, *, chunks: int) -> Path:
    """Write a file of so many small chunks."""
    random = np.random.default_rng(1)
    path = directory / "small.root"
    with uproot.recreate(path) as file:
        columns = {name: random.random(chunks * SMALL_CHUNK_EVENTS) for name in "abcdefgh"}
        tree = file.mktree("Events", {name: array.dtype for name, array in columns.items()})
        tree.extend(columns)
    return path
