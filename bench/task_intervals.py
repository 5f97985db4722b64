"""What a task costs the scheduler: noting its interval, and pickling its work for a worker."""

from __future__ import annotations

import gc
import itertools
import pickle
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from dask.task_spec import Task
from distributed import Client, LocalCluster, Scheduler
from distributed.protocol.pickle import dumps

from bench.row import Row
from bench.timing import in_turns, medians, pair, uncertainty
from roastcoffea.backends.by_value import work_by_value
from roastcoffea.backends.dask import DaskMetricsBackend

TASKS = 20_000
TASKS_QUICK = 4_000
# With and without take turns so often: a machine's moods last longer than that.
TASKS_PER_TURN = 400
# More than one: then messages of several tasks travel together, and a task costs Dask less.
THREADS = 8
CALLS_PER_TASK = 6
PICKLES_PER_TURN = 200
NAMES = {"cpu": "CPU of cluster and client", "wall": "wall clock"}


def _nothing(_: object) -> None:
    pass


def rows(*, quick: bool) -> Iterator[Row]:
    """Run no-op tasks with and without, by turns, and time the hook itself."""
    tasks = TASKS_QUICK if quick else TASKS
    turns = tasks // TASKS_PER_TURN
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=THREADS,
            processes=False,
            memory_limit=None,
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        run = _Run(client, cluster.scheduler)
        for warm in (run.monitored, run.bare):
            warm()
        taken = in_turns(run.monitored, run.bare, repeats=turns)
        per_call = client.run_on_scheduler(_hook_secs)
    # Scheduler, workers and client share this process: its CPU time is all there is.
    for what in ("cpu", "wall"):
        # A sampler starts and stops in every turn here, and once for all tasks in a run.
        started = statistics.median(around.secs[what] for around in run.around) / turns
        secs = [(above.secs[what] + started, below.secs[what]) for above, below in taken]
        both = medians(secs)
        yield Row(
            topic="task intervals",
            what=f"{tasks:,} no-op tasks: {NAMES[what]}",
            measured=both.measured * turns,
            unit="s",
            reference="without monitoring",
            reference_measured=both.reference * turns,
            ratio=both.ratio,
            uncertainty=uncertainty([above / below for above, below in secs]),
            budget=1.05,
        )
    per_task = statistics.median(below.secs["cpu"] for _, below in taken) / TASKS_PER_TURN
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


class _Clocks:
    """What some work took, by both clocks."""

    def __init__(self) -> None:
        self.secs: dict[str, float] = {"cpu": 0.0, "wall": 0.0}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Add what is done inside."""
        cpu_began, began = time.process_time(), time.perf_counter()
        yield
        self.secs["cpu"] += time.process_time() - cpu_began
        self.secs["wall"] += time.perf_counter() - began


class _Run:
    """The same tasks over and over, under new names."""

    def __init__(self, client: Client, scheduler: Scheduler) -> None:
        self._client = client
        self._scheduler = scheduler
        self._number = itertools.count()
        #: What starting and stopping took, each time.
        self.around: list[_Clocks] = []

    def bare(self) -> _Clocks:
        """Run once without monitoring."""
        # Otherwise Python collects its garbage, for as long as a hundred tasks take, in some
        # turns and not in others, and two turns of the same thing differ by half.
        gc.collect()
        prefix = f"noop-{next(self._number)}"
        keys = [f"{prefix}-{index}" for index in range(TASKS_PER_TURN)]
        taken = _Clocks()
        with taken.running():
            self._client.gather(self._client.map(_nothing, keys, key=keys))
            # What is forgotten late would be forgotten at the next turn's cost.
            while self._scheduler.tasks:
                time.sleep(0.001)
        return taken

    def monitored(self) -> _Clocks:
        """Run once with the sampler on the scheduler and all tasks in a span."""
        around = _Clocks()
        with around.running():
            backend = DaskMetricsBackend(self._client)
            span = backend.create_span("bench")
            assert span is not None
            backend.start_tracking(1.0)
            span.__enter__()
        taken = self.bare()
        with around.running():
            span.__exit__(None, None, None)
            backend.stop_tracking()
        self.around.append(around)
        return taken


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
