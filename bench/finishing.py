"""From the end of a run to finished metrics, with every second of the spans there."""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from collections.abc import Iterator
from typing import Any

from distributed import Client, LocalCluster

from bench.row import Row
from bench.timing import timed
from roastcoffea import MetricsCollector

BURN_SECS = 0.005
TASKS_PER_WORKER = 5


def _burn(_: int) -> float:
    """Use a little CPU time; return how much it was."""
    began = time.thread_time()
    while time.thread_time() < began + BURN_SECS:
        pass
    return time.thread_time() - began


async def _beat(dask_worker: Any) -> None:
    """Send the heartbeat that tells the scheduler what the worker has done."""
    await dask_worker.heartbeat()


def rows(*, quick: bool) -> Iterator[Row]:
    """Finish runs on 2 and on 60 workers of this process."""
    for workers in (2, 60):
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=False,
                # They share this process: each would see all of its memory, and pause.
                memory_limit=None,
                dashboard_address=None,
            ) as cluster,
            Client(cluster) as client,
        ):
            client.wait_for_workers(workers)
            yield from _finish(client, workers, repeats=3 if quick else 5)


def _finish(client: Client, workers: int, *, repeats: int) -> Iterator[Row]:
    numbers = itertools.count()
    finishing, beating, unseen = [], [], []

    def run() -> float:
        name = f"burn-{next(numbers)}"
        keys = [f"{name}-{index}" for index in range(TASKS_PER_WORKER * workers)]
        burned = sum(client.gather(client.map(_burn, keys, key=keys)))
        # What follows is short: Python must not collect its garbage in it, or always.
        gc.collect()
        return float(burned)

    for _ in range(repeats):
        # The heartbeats that would tell of the same run without monitoring.
        run()
        beating.append(timed(lambda: client.run(_beat)))
        with MetricsCollector(client) as collector:
            burned = run()
            ended = time.perf_counter()
        collector.get_metrics()
        finishing.append(time.perf_counter() - ended)
        spans = collector.span_metrics or {}
        seen = sum(
            value for key, value in spans.items() if key[0] == "execute" and key[2] == "thread-cpu"
        )
        unseen.append((burned, seen))
    secs, reference = statistics.median(finishing), statistics.median(beating)
    yield Row(
        topic="finishing",
        what=f"end of run to metrics, {workers} workers",
        measured=secs * 1e3,
        unit="ms",
        reference="a heartbeat of every worker after such a run",
        reference_measured=reference * 1e3,
        ratio=secs / reference,
        # Every worker has to tell what it did, which is a heartbeat; the scheduler then adds it
        # up. With two workers, putting the measurement together is most of it.
        budget={2: 6.0, 60: 3.0}[workers],
        design="≤ 0.5 s" if workers == 60 else None,
    )
    burned, seen = max(unseen, key=lambda pair: pair[0] / pair[1])
    yield Row(
        topic="finishing",
        what=f"CPU seconds burned in {workers} workers, worst of {repeats} runs",
        measured=burned,
        unit="s",
        reference="in the spans",
        reference_measured=seen,
        ratio=burned / seen,
        budget=1.01,
        design="100 % there",
    )
