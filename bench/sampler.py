"""The sampler on a scheduler of 100, 1000 and 5000 workers.

The scheduler, its worker states and tasks' prefixes are Dask's own; what a cluster would do to
them (heartbeats, finished tasks) is done by hand, at the pace of a real one.
"""

from __future__ import annotations

import asyncio
import logging
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import psutil
from distributed import Scheduler
from distributed.core import Status
from distributed.scheduler import WorkerState, heartbeat_interval

from bench.memory import peak_bytes
from bench.row import Row
from bench.timing import medians, uncertainty
from roastcoffea._core import TableBuilder
from roastcoffea.backends.dask import TABLES
from roastcoffea.backends.remote import SLICE_SECS, SchedulerSampler

THREADS_PER_WORKER = 4
# A chunk that takes so long is on the short side of what analyses choose.
TASK_SECS = 20.0
TICKS_PER_DRAIN = 2
WARM_UP_TICKS = 4
HOUR_TICKS = 3600
# The design's 10 ms for 5000 workers, over the plain way's 37 ms. Fewer workers send more
# heartbeats each, so that more of them have changed at a tick: for those it must not be much
# dearer than the plain way, which notes twelve numbers where a row has eighteen.
BUDGETS = {100: 1.25, 1000: 0.5, 5000: 0.27}
#: So long it may keep the loop to itself.
HOLD_SECS = 0.005


@dataclass
class Figures:
    """What some ticks of the sampler cost, in CPU seconds and bytes."""

    #: A tick, and one of the plain way beside it.
    ticks: list[tuple[float, float]]
    longest_hold_secs: float
    bytes_per_drain: float


@dataclass
class ClientMemory:
    """What an hour of samples takes on the client."""

    held_mb: float
    peak_mb: float
    unpacked_mb: float


def rows(*, quick: bool) -> Iterator[Row]:
    """Sample clusters of three sizes, busy as real ones, and one in uproar."""
    logging.getLogger("distributed").setLevel(logging.ERROR)
    ticks = 20 if quick else 100
    busy = {count: asyncio.run(_sample(count, ticks)) for count in (100, 1000, 5000)}
    for count, figures in busy.items():
        yield _tick_row(f"a tick at {count} workers", figures, BUDGETS[count], count)
    uproar = asyncio.run(_sample(5000, ticks, changed_share=0.5))
    yield _tick_row("a tick at 5000 workers, half changed", uproar, 0.5, None)
    for what, figures in (("5000 workers", busy[5000]), ("5000 workers, half changed", uproar)):
        yield Row(
            topic="sampler",
            what=f"longest hold of the loop, {what}",
            measured=figures.longest_hold_secs * 1e3,
            unit="ms",
            # A clock bounds it, so it is the same on every machine.
            reference="the slice that it is given",
            reference_measured=SLICE_SECS * 1e3,
            ratio=figures.longest_hold_secs / SLICE_SECS,
            budget=HOLD_SECS / SLICE_SECS,
            design=f"≤ {HOLD_SECS * 1e3:g} ms",
        )
    # Twelve numbers with a time each, as tuples in lists, per worker and second.
    tuples_mb = 1000 * HOUR_TICKS * 12 * (56 + 8 + 24 + 24) / 1e6
    yield Row(
        topic="sampler",
        what="1000 workers: held on the scheduler, whatever the hours",
        measured=busy[1000].bytes_per_drain / 1e6,
        unit="MB",
        reference="an hour of tuples in lists",
        reference_measured=tuples_mb,
        ratio=busy[1000].bytes_per_drain / 1e6 / tuples_mb,
        budget=60 / tuples_mb,
        design="≤ 60 MB",
    )
    client = _client_memory()
    yield Row(
        topic="sampler",
        what="1000 workers: an hour in the client's memory",
        measured=client.held_mb,
        unit="MB",
        reference="an hour of tuples in lists",
        reference_measured=tuples_mb,
        ratio=client.held_mb / tuples_mb,
        budget=60 / tuples_mb,
        design="≤ 60 MB",
    )
    yield Row(
        topic="sampler",
        what="1000 workers: the client's peak when that hour ends",
        measured=client.peak_mb,
        unit="MB",
        reference="its rows, eight bytes a cell",
        reference_measured=client.unpacked_mb,
        ratio=client.peak_mb / client.unpacked_mb,
        # The table once, what it was held as until then, and one of its columns in pieces.
        budget=1.5,
    )


def _client_memory() -> ClientMemory:
    """Take in an hour of 1000 workers in a process of its own."""
    command = [sys.executable, "-m", "bench.sampler", str(HOUR_TICKS)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    held, peak, unpacked = (float(word) / 1e6 for word in answer.split())
    return ClientMemory(held_mb=held, peak_mb=peak, unpacked_mb=unpacked)


def _tick_row(what: str, figures: Figures, budget: float, workers: int | None) -> Row:
    both = medians(figures.ticks)
    return Row(
        topic="sampler",
        what=what,
        measured=both.measured * 1e3,
        unit="ms",
        reference="a tick of tuples in lists",
        reference_measured=both.reference * 1e3,
        ratio=both.ratio,
        uncertainty=uncertainty([tick / plain for tick, plain in figures.ticks]),
        budget=budget,
        design="≤ 10 ms" if workers == 5000 else None,
    )


async def _sample(count: int, ticks: int, *, changed_share: float | None = None) -> Figures:
    """Run ticks by turns with the plain way of sampling; the first ones warm up."""
    async with Scheduler(port=0, dashboard=False, host="127.0.0.1") as scheduler:
        cluster = _Cluster(scheduler, count, changed_share)
        sampler = _WatchedSampler(name="bench", owner="bench", interval=None, span_ids=())
        sampler.begin(scheduler)
        plain = _PlainSampler()
        costs: list[tuple[float, float]] = []
        holds: list[float] = []
        shipped: list[int] = []
        for tick in range(ticks + WARM_UP_TICKS):
            cluster.live_one_second(time.time())
            sampler.longest_secs = 0.0
            cost = await sampler._tick()
            began = time.thread_time()
            plain.tick(cluster.workers)
            plain_cost = time.thread_time() - began
            plain.forget()
            if tick % TICKS_PER_DRAIN == 0:
                drained = sampler.drain()
                shipped.append(_bytes_of(drained))
            if tick >= WARM_UP_TICKS:
                costs.append((cost, plain_cost))
                holds.append(sampler.longest_secs)
        for worker in cluster.workers:
            del scheduler.workers[worker.address]
    return Figures(
        ticks=costs,
        # The ninth of ten: the machine itself interrupts now and then.
        longest_hold_secs=sorted(holds)[len(holds) * 9 // 10],
        bytes_per_drain=max(shipped),
    )


class _WatchedSampler(SchedulerSampler):
    """Notes the longest time, in CPU seconds, that it kept the loop to itself."""

    longest_secs = 0.0

    def _visit(self, workers: Sequence[Any], first: int, now: int) -> tuple[int, int, int]:
        began = time.thread_time()
        visited = super()._visit(workers, first, now)
        self.longest_secs = max(self.longest_secs, time.thread_time() - began)
        return visited

    def drain(self) -> dict[str, Any]:
        """Hand over what is there."""
        began = time.thread_time()
        drained = super().drain()
        self.longest_secs = max(self.longest_secs, time.thread_time() - began)
        return drained


def _bytes_of(drained: dict[str, Any]) -> int:
    rows, columns = drained["workers"]
    return len(rows) + sum(len(name) for _, names in columns for name in names or ())


class _Cluster:
    """Worker states of a real scheduler, and what a second does to them."""

    def __init__(self, scheduler: Scheduler, count: int, changed_share: float | None) -> None:
        self._random = random.Random(1)
        self._scheduler = scheduler
        finishing = 1 - (1 - 1 / TASK_SECS) ** THREADS_PER_WORKER
        self._finish_share = finishing if changed_share is None else changed_share
        self._beat_share = min(1.0, 1 / heartbeat_interval(count))
        self.workers = [self._worker(index) for index in range(count)]
        for worker in self.workers:
            scheduler.workers[worker.address] = worker

    def _worker(self, index: int) -> WorkerState:
        address = f"tls://10.{index // 60000}.{index // 250 % 240}.{index % 250}:40000"
        worker = WorkerState(
            address=address,
            status=Status.running,
            pid=index,
            name=index,
            nthreads=THREADS_PER_WORKER,
            memory_limit=8_000_000_000,
            local_directory="/tmp",
            nanny=None,
            server_id=address,
            scheduler=self._scheduler,
        )
        worker.processing.update(
            self._scheduler.new_task(f"DimuonProcessor-{index}-{number}", None, "released")
            for number in range(THREADS_PER_WORKER)
        )
        worker.task_prefix_count["DimuonProcessor"] = THREADS_PER_WORKER
        worker.metrics = self._metrics()
        return worker

    def live_one_second(self, now_secs: float) -> None:
        """Let some workers send a heartbeat, and some finish a task and begin another."""
        draw = self._random.random
        for worker in self.workers:
            if draw() < self._beat_share:
                worker.metrics = self._metrics()
                worker.last_seen = now_secs - draw()
            if draw() < self._finish_share:
                worker.nbytes += 40_000

    def _metrics(self) -> dict[str, Any]:
        draw = self._random.random
        return {
            "task_counts": {"executing": THREADS_PER_WORKER, "memory": 3},
            "bandwidth": {"total": 1e8, "workers": {}, "types": {}},
            "digests_total_since_heartbeat": {},
            "managed_bytes": int(1e9 * draw()),
            "spilled_bytes": {"memory": 0, "disk": 0},
            "transfer": {"incoming_bytes": 0, "incoming_count": 0},
            "event_loop_interval": 0.02 * draw(),
            "cpu": round(400 * draw(), 1),
            "memory": 4096 * int(1e6 * draw()),
            "time": time.time(),
            "host_net_io": {"read_bps": 1e7 * draw(), "write_bps": 1e6 * draw()},
            "host_disk_io": {"read_bps": 1e7 * draw(), "write_bps": 1e6 * draw()},
            "num_fds": 80,
        }


class _PlainSampler:
    """Samples the way one would first write it: a tuple per value, in lists per worker."""

    def __init__(self) -> None:
        self._series: dict[str, dict[str, list[tuple[float, Any]]]] = {}

    def forget(self) -> None:
        """Drop what was gathered: the garbage collector would be at work on it all the time."""
        for series in self._series.values():
            for values in series.values():
                values.clear()

    def tick(self, workers: list[WorkerState]) -> None:
        """Note twelve values of every worker."""
        now = time.time()
        for worker in workers:
            metrics = worker.metrics
            values = {
                "memory": metrics["memory"],
                "limit": worker.memory_limit,
                "cpu": metrics["cpu"],
                "processing": len(worker.processing),
                "executing": metrics["task_counts"].get("executing", 0),
                "nthreads": worker.nthreads,
                "nbytes": worker.nbytes,
                "occupancy": worker.occupancy,
                "spilled": metrics["spilled_bytes"]["disk"],
                "net_read": metrics["host_net_io"]["read_bps"],
                "disk_read": metrics["host_disk_io"]["read_bps"],
                "last_seen": worker.last_seen,
            }
            series = self._series.setdefault(worker.address, {})
            for key, value in values.items():
                series.setdefault(key, []).append((now, value))


async def _live(ticks: int) -> None:
    """Let a client take in the rows of so many seconds; print what it holds, in bytes."""
    rss, now_ns = psutil.Process().memory_info, time.time_ns()
    async with Scheduler(port=0, dashboard=False, host="127.0.0.1") as scheduler:
        cluster = _Cluster(scheduler, 1000, None)
        sampler = SchedulerSampler(name="bench", owner="bench", interval=None, span_ids=())
        sampler.begin(scheduler)
        before, tables = 0, {name: TableBuilder(name) for name in TABLES}
        for tick in range(-WARM_UP_TICKS, ticks):
            now_ns += 1_000_000_000
            with mock.patch.object(time, "time_ns", return_value=now_ns):
                cluster.live_one_second(now_ns / 1e9)
                await sampler._tick()
            drained = sampler.drain() if tick % TICKS_PER_DRAIN == 0 else None
            if tick < 0:
                before = rss().rss
            elif drained is not None:
                for name, table in tables.items():
                    table.append_rows(*drained[name])
        held = rss().rss - before
        built = [table.build() for table in tables.values()]
        unpacked = sum(table.num_rows * 8 * len(table.column_names) for table in built)
        peak = peak_bytes() - before
        for worker in cluster.workers:
            del scheduler.workers[worker.address]
    print(held, peak, unpacked)


if __name__ == "__main__":
    logging.getLogger("distributed").setLevel(logging.ERROR)
    asyncio.run(_live(int(sys.argv[1])))
