"""What a task costs the scheduler: noting its interval, and pickling its work for a worker."""

from __future__ import annotations

import itertools
import pickle
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from dask.task_spec import Task
from distributed import Client, LocalCluster
from distributed.protocol.pickle import dumps

from bench.row import Row
from bench.timing import in_turns, medians, pair, uncertainty
from roastcoffea.backends.by_value import work_by_value
from roastcoffea.backends.dask import DaskMetricsBackend

TASKS = 20_000
TASKS_QUICK = 3_000
WARM_UP_TASKS = 200
# With and without take turns so often: a machine's moods last longer than that. Each turn starts
# and ends a sampler, so they must not be short.
TURNS = 5
CALLS_PER_TASK = 6
PICKLES_PER_TURN = 200


def _nothing(_: object) -> None:
    pass


def rows(*, quick: bool) -> Iterator[Row]:
    """Run no-op tasks with and without, by turns, and time the hook itself."""
    tasks = TASKS_QUICK if quick else TASKS
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        run = _Run(client, tasks // TURNS)
        _Run(client, WARM_UP_TASKS).bare()
        turns = in_turns(run.monitored, run.bare, repeats=TURNS)
        per_call = client.run_on_scheduler(_hook_secs)
    cpu = [(with_it.cpu_secs, without.cpu_secs) for with_it, without in turns]
    wall = [(with_it.wall_secs, without.wall_secs) for with_it, without in turns]
    # Scheduler, workers and client share this process: its CPU time is all there is.
    for what, taken in (("CPU of cluster and client", cpu), ("wall clock", wall)):
        both = medians(taken)
        yield Row(
            topic="task intervals",
            what=f"{tasks:,} no-op tasks: {what}",
            measured=both.measured * TURNS,
            unit="s",
            reference="without monitoring",
            reference_measured=both.reference * TURNS,
            ratio=both.ratio,
            uncertainty=uncertainty([above / below for above, below in taken]),
            budget=1.05,
        )
    per_task = medians(cpu).reference * TURNS / tasks
    yield Row(
        topic="task intervals",
        what=f"the hook, {CALLS_PER_TASK} transitions of a task",
        measured=per_call * 1e6,
        unit="µs",
        reference="CPU of a no-op task",
        reference_measured=per_task * 1e6,
        ratio=per_call / per_task,
        budget=0.03,
    )
    work = partial(_nothing, bytes(500))
    pickled = pair(
        _pickles(work_by_value(work, topic="bench", packs=True)), _pickles(work), repeats=20
    )
    yield Row(
        topic="task intervals",
        what="pickling a chunk's task",
        measured=pickled.measured / PICKLES_PER_TURN * 1e6,
        unit="µs",
        reference="the same without monitoring",
        reference_measured=pickled.reference / PICKLES_PER_TURN * 1e6,
        ratio=pickled.ratio,
        budget=2.0,
    )


def _pickles(work: Callable[..., Any]) -> Callable[[], None]:
    """Pickle a task many times, as the scheduler does, which has unpickled it before."""
    task = pickle.loads(pickle.dumps(Task("bench", work, "an item")))

    def run() -> None:
        for _ in range(PICKLES_PER_TURN):
            dumps(task)

    return run


class _Taken(NamedTuple):
    cpu_secs: float
    wall_secs: float


def _taken(work: Callable[[], object]) -> _Taken:
    cpu_began, began = time.process_time(), time.perf_counter()
    work()
    return _Taken(time.process_time() - cpu_began, time.perf_counter() - began)


class _Run:
    """The same tasks over and over, under new names."""

    def __init__(self, client: Client, tasks: int) -> None:
        self._client = client
        self._tasks = tasks
        self._number = itertools.count()

    def bare(self) -> _Taken:
        """Run once without monitoring."""
        return _taken(self._tasks_alone)

    def monitored(self) -> _Taken:
        """Run once with the sampler on the scheduler and all tasks in a span."""
        return _taken(self._tasks_in_span)

    def _tasks_alone(self) -> None:
        prefix = f"noop-{self._tasks}-{next(self._number)}"
        keys = [f"{prefix}-{index}" for index in range(self._tasks)]
        self._client.gather(self._client.map(_nothing, range(self._tasks), key=keys))

    def _tasks_in_span(self) -> None:
        backend = DaskMetricsBackend(self._client)
        span = backend.create_span("bench")
        assert span is not None
        backend.start_tracking(1.0)
        with span:
            self._tasks_alone()
        backend.stop_tracking()


def _hook_secs(dask_scheduler: Any = None) -> float:
    """Time the hook on a task that the scheduler knows, per task."""
    from roastcoffea.backends.remote import SchedulerSampler

    sampler = SchedulerSampler(name="bench", owner="bench", interval=None, span_ids=())
    sampler.begin(dask_scheduler)
    task = dask_scheduler.new_task("bench-hook", None, "released")
    sampler._span_is_ours[task.group.span_id] = True
    details = {
        "worker": "tcp://10.0.0.1:40000",
        "nbytes": 28,
        "startstops": ({"action": "compute", "start": 1.0, "stop": 2.0},),
    }
    repeats = 2_000
    began = time.thread_time()
    for _ in range(repeats):
        for _ in range(CALLS_PER_TASK - 1):
            sampler.transition("bench-hook", "waiting", "processing", stimulus_id="bench")
        sampler.transition("bench-hook", "processing", "memory", stimulus_id="bench", **details)
    return (time.thread_time() - began) / repeats
