"""What runs on the scheduler.

The functions and the plugin here are shipped by value, because the scheduler
need not have roastcoffea: this module uses the standard library only, and
imports ``distributed`` inside functions. Each collector has one plugin, which
holds all of its state and takes itself away at the end.
"""

# Whatever goes wrong in here is counted and told to the user, never raised into
# the scheduler: so everything is caught.
# ruff: noqa: BLE001

from __future__ import annotations

import asyncio
import pickle
import struct
import time
from collections.abc import Sequence
from typing import Any

MISSING = float("nan")
MISSING_TIME = -(2**63)
MISSING_NAME = -1
# The scheduler's other work gets its turn after so much time.
SLICE_SECS = 0.002
# The clock is looked at once for so many workers.
WORKERS_PER_LOOK_AT_CLOCK = 25
# One slice of so many calls to workers takes one to two milliseconds.
CALLS_PER_SLICE = 100
# The sampler takes at most one part in this many of the scheduler's time.
MIN_INTERVAL_PER_COST = 100
# Beyond this, a client that no longer collects would fill the scheduler's memory.
MAX_BUFFERED_BYTES = 100_000_000

# Layouts for struct.pack, which keeps them compiled; a Struct cannot be shipped.
TICK_ROW = "<q5d"
TASK_ROW = "<6qd"
# A worker's row in two parts, because the second changes with heartbeats only.
WORKER_STATE = "<5q5d"
WORKER_HEARTBEAT = "<10d"


class RowBuffer:
    """Rows of one table, packed until the client fetches them.

    Every value takes eight bytes, and a row is packed in one call. Nothing here
    is an object per value, so the scheduler's garbage collector has nothing to
    walk through.
    """

    def __init__(
        self, *, names: Sequence[str], times: Sequence[str], numbers: Sequence[str]
    ) -> None:
        self._names = tuple(names)
        self._columns = (*names, *times, *numbers)
        self.batch = 0
        self._clear()

    def _clear(self) -> None:
        self._rows = bytearray()
        self._codes: list[dict[str, int]] = [{} for _ in self._names]
        # Codes are good for this batch only.
        self.batch += 1

    def code(self, position: int, name: str | None) -> int:
        """Return the number that stands for ``name`` in that name column."""
        if name is None:
            return MISSING_NAME
        codes = self._codes[position]
        return codes.setdefault(name, len(codes))

    def append(self, row: bytes) -> None:
        """Add one packed row: codes and times as integers, then the numbers."""
        if len(self._rows) >= MAX_BUFFERED_BYTES:
            raise BufferError(
                "the client did not fetch the samples that were waiting for it; "
                "the later ones are lost"
            )
        self._rows += row

    def drain(self) -> tuple[bytes, list[tuple[str, list[str] | None]]]:
        """Return the rows and what their cells are, and forget them.

        A cell of a name column is a code into the list beside its name. Rows are
        cut into columns where they arrive: here that would hold up the loop.
        """
        codes: list[list[str] | None] = [list(names) for names in self._codes]
        codes += [None] * (len(self._columns) - len(codes))
        drained = bytes(self._rows), list(zip(self._columns, codes, strict=True))
        self._clear()
        return drained


class Stretch:
    """One worker's state for as long as it does not change."""

    __slots__ = (
        "batch",
        "first",
        "heartbeat",
        "host_code",
        "last",
        "last_seen",
        "metrics",
        "occupancy_secs",
        "processing",
        "samples",
        "stored_bytes",
        "threads",
        "worker",
        "worker_code",
    )

    batch: int
    first: int
    heartbeat: bytes
    host_code: int
    last: int
    last_seen: int
    metrics: dict[str, Any] | None
    occupancy_secs: float
    processing: int
    samples: int
    stored_bytes: int
    threads: int
    worker: Any
    worker_code: int


def _nanoseconds(seconds: float | None) -> int:
    return MISSING_TIME if seconds is None else int(seconds * 1e9)


class SchedulerSampler:
    """Samples the workers and notes the tasks of one collector.

    Its hooks are called by the scheduler and must neither raise nor linger:
    whatever goes wrong in them is counted, and the first failure kept.
    """

    def __init__(
        self, *, name: str, owner: str, interval: float | None, span_ids: Sequence[str]
    ) -> None:
        self.name = name
        self._owner = owner
        self._interval_secs = interval
        self._chunk_rows: list[Any] = []
        self._chunk_bytes = 0
        self._span_ids = set(span_ids)
        self._span_is_ours: dict[str | None, bool] = {}
        self._open: dict[str, Stretch] = {}
        self._errors = 0
        self._first_error: str | None = None
        self._stopped = False
        self._scheduler: Any = None
        self._task: asyncio.Task[None] | None = None
        self._ticks = RowBuffer(
            names=(),
            times=("time",),
            numbers=(
                "worker_count",
                "threads_total",
                "tasks_waiting",
                "tasks_processing",
                "tick_secs",
            ),
        )
        self._workers = RowBuffer(
            names=("worker", "host"),
            times=("time", "until", "last_seen"),
            numbers=(
                "samples",
                "threads",
                "processing",
                "stored_bytes",
                "occupancy_secs",
                "memory_bytes",
                "memory_limit_bytes",
                "cpu_percent",
                "executing",
                "spilled_bytes",
                "host_net_read_bps",
                "host_net_write_bps",
                "host_disk_read_bps",
                "host_disk_write_bps",
                "event_loop_interval_secs",
            ),
        )
        self._tasks = RowBuffer(
            names=("worker", "prefix", "action", "outcome"),
            times=("start", "stop"),
            numbers=("nbytes",),
        )

    # -- life ---------------------------------------------------------------

    def begin(self, scheduler: Any) -> None:
        """Start sampling on the scheduler's event loop, if there is an interval."""
        self._scheduler = scheduler
        if self._interval_secs is None:
            return
        self._task = asyncio.get_running_loop().create_task(self._sample_forever(), name=self.name)

    def add_span(self, span_id: str) -> None:
        """Count the tasks of one more span."""
        self._span_ids.add(span_id)
        self._span_is_ours.clear()

    def drain(self) -> dict[str, Any]:
        """Return everything buffered so far, and forget it."""
        batch = {
            "ticks": self._ticks.drain(),
            "workers": self._workers.drain(),
            "tasks": self._tasks.drain(),
            "chunks": self._chunk_rows,
            "errors": self._errors,
            "first_error": self._first_error,
        }
        self._errors = 0
        self._first_error = None
        self._chunk_rows = []
        self._chunk_bytes = 0
        return batch

    async def finish(self) -> dict[str, Any]:
        """Take a last sample, stop, and return what was still buffered."""
        if self._task is not None:
            self._task.cancel()
            # Cancelling only asks: it must have ended before the caller hears so.
            await asyncio.wait([self._task])
        if not self._stopped and self._interval_secs is not None:
            try:
                await self._tick()
            except Exception as error:
                self._note_error(error)
        deadline = time.perf_counter() + SLICE_SECS
        for address in list(self._open):
            self.remove_worker(self._scheduler, address)
            if time.perf_counter() > deadline:
                await asyncio.sleep(0)
                deadline = time.perf_counter() + SLICE_SECS
        self.stop()
        return self.drain()

    def stop(self) -> None:
        """Stop for good: no task, no open row and no plugin is left."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()
            self._task = None
        for address in list(self._open):
            self.remove_worker(self._scheduler, address)
        self._span_is_ours.clear()
        scheduler = self._scheduler
        if scheduler is not None and scheduler.plugins.get(self.name) is self:
            scheduler.remove_plugin(name=self.name)
            _forget_topic(scheduler, self.name)

    def _note_error(self, error: BaseException) -> None:
        self._errors += 1
        if self._first_error is None:
            self._first_error = repr(error)

    # -- what the scheduler calls -------------------------------------------

    def transition(self, key: Any, start: str, finish: str, *_args: Any, **details: Any) -> None:
        """Note the intervals of a task that has just ended, and take its chunk row."""
        if start != "processing":
            return
        try:
            # A failure that will be retried arrives without details.
            startstops = details.get("startstops")
            if startstops and finish in ("memory", "erred"):
                self._record_task(key, finish, startstops, details)
            metadata = details.get("metadata")
            if metadata and self.name in metadata:
                # Taken out, or the task and Dask's other plugins would keep it, too.
                row = metadata.pop(self.name)
                self._scheduler.tasks[key].metadata.pop(self.name, None)
                self._keep_row(row)
        except Exception as error:
            self._note_error(error)

    def log_event(self, topic: str, msg: Any) -> None:
        """Take the chunk rows of tasks that fail; the topic bears the plugin's name."""
        if topic != self.name:
            return
        try:
            self._keep_row(msg["row"])
        except Exception as error:
            self._note_error(error)

    def _keep_row(self, row: bytes) -> None:
        if self._chunk_bytes >= MAX_BUFFERED_BYTES:
            raise BufferError("the client did not fetch its chunk rows; later ones are lost")
        self._chunk_rows.append(row)
        self._chunk_bytes += len(row)

    def remove_worker(self, scheduler: Any, worker: str, **_details: Any) -> None:
        """Close the row of a worker that has left."""
        del scheduler
        try:
            stretch = self._open.pop(worker, None)
            if stretch is not None:
                self._emit(stretch)
        except Exception as error:
            self._note_error(error)

    def remove_client(self, scheduler: Any, client: str) -> None:
        """Leave with the client that this sampler works for."""
        del scheduler
        if client == self._owner:
            self.stop()

    async def close(self) -> None:
        """Leave with the scheduler."""
        self.stop()

    # -- tasks --------------------------------------------------------------

    def _record_task(
        self,
        key: Any,
        outcome: str,
        startstops: Sequence[dict[str, Any]],
        details: dict[str, Any],
    ) -> None:
        task = self._scheduler.tasks.get(key)
        if task is None:
            return
        span_id = task.group.span_id
        ours = self._span_is_ours.get(span_id)
        if ours is None:
            ours = self._span_is_ours[span_id] = self._belongs_to_us(span_id)
        if not ours:
            return
        rows, nbytes = self._tasks, details.get("nbytes")
        worker_code = rows.code(0, details.get("worker"))
        prefix_code = rows.code(1, task.prefix.name)
        outcome_code = rows.code(3, outcome)
        for interval in startstops:
            action = interval["action"]
            rows.append(
                struct.pack(
                    TASK_ROW,
                    worker_code,
                    prefix_code,
                    rows.code(2, action),
                    outcome_code,
                    _nanoseconds(interval["start"]),
                    _nanoseconds(interval["stop"]),
                    nbytes if action == "compute" and nbytes is not None else MISSING,
                )
            )

    def _belongs_to_us(self, span_id: str | None) -> bool:
        spans = self._scheduler.extensions.get("spans")
        span = spans.spans.get(span_id) if spans is not None else None
        while span is not None:
            if span.id in self._span_ids:
                return True
            span = span.parent
        return False

    # -- workers ------------------------------------------------------------

    async def _sample_forever(self) -> None:
        now = asyncio.get_running_loop().time
        due = now()
        while not self._stopped:
            cost_secs = 0.0
            try:
                if self._owner not in self._scheduler.clients:
                    # The client vanished before its departure could be seen.
                    self.stop()
                    return
                cost_secs = await self._tick()
            except Exception as error:
                self._note_error(error)
            pause_secs = max(self._interval_secs or 0.0, MIN_INTERVAL_PER_COST * cost_secs)
            due = max(due + pause_secs, now())
            await asyncio.sleep(due - now())

    async def _tick(self) -> float:
        """Sample every worker once; return what that cost, in CPU seconds."""
        scheduler = self._scheduler
        # CPU seconds, not wall: a busy machine must not look like a dear sampler.
        clock = time.thread_time
        now = time.time_ns()
        started = clock()
        workers = list(scheduler.workers.values())
        waiting = len(scheduler.queued) + len(scheduler.unrunnable)
        threads = processing = visited = 0
        cost_secs = clock() - started
        while visited < len(workers):
            if visited:
                await asyncio.sleep(0)
                if self._stopped:
                    return cost_secs
            started = clock()
            visited, counted_threads, counted_tasks = self._visit(workers, visited, now)
            threads += counted_threads
            processing += counted_tasks
            cost_secs += clock() - started
        started = clock()
        if len(self._open) > len(scheduler.workers):
            for address in [a for a in self._open if a not in scheduler.workers]:
                self._emit(self._open.pop(address))
        cost_secs += clock() - started
        self._ticks.append(
            struct.pack(TICK_ROW, now, len(workers), threads, waiting, processing, cost_secs)
        )
        return cost_secs

    def _visit(self, workers: Sequence[Any], first: int, now: int) -> tuple[int, int, int]:
        """Extend or renew the rows of workers from the ``first`` on, for one slice of time.

        Returns how many were visited by then, and the threads and tasks of this slice.
        """
        clock = time.perf_counter
        deadline = clock() + SLICE_SECS
        threads_total = processing_total = 0
        for position in range(first, len(workers), WORKERS_PER_LOOK_AT_CLOCK):
            if position > first and clock() > deadline:
                return position, threads_total, processing_total
            few = workers[position : position + WORKERS_PER_LOOK_AT_CLOCK]
            counted_threads, counted_tasks = self._visit_few(few, now)
            threads_total += counted_threads
            processing_total += counted_tasks
        return len(workers), threads_total, processing_total

    def _visit_few(self, workers: Sequence[Any], now: int) -> tuple[int, int]:
        stretches = self._open
        threads_total = processing_total = 0
        for worker in workers:
            try:
                metrics = worker.metrics
                processing = len(worker.processing)
                stored_bytes = worker.nbytes
                threads = worker.nthreads
                threads_total += threads
                processing_total += processing
                address = worker.address
                stretch = stretches.get(address)
                if stretch is None:
                    stretch = stretches[address] = Stretch()
                    stretch.worker = worker
                    stretch.batch = -1
                    stretch.metrics = None
                    stretch.processing = -1
                else:
                    # Each heartbeat brings a new dict: identity tells of change.
                    if (
                        stretch.metrics is metrics
                        and stretch.processing == processing
                        and stretch.stored_bytes == stored_bytes
                        and stretch.threads == threads
                    ):
                        stretch.last = now
                        stretch.samples += 1
                        continue
                    self._emit(stretch)
                if stretch.metrics is not metrics:
                    stretch.heartbeat = _pack_heartbeat(worker, metrics)
                    stretch.last_seen = _nanoseconds(worker.last_seen)
                    stretch.occupancy_secs = worker.occupancy
                elif stretch.processing != processing:
                    # Three microseconds, so only where it can have changed.
                    stretch.occupancy_secs = worker.occupancy
                stretch.metrics = metrics
                stretch.processing = processing
                stretch.stored_bytes = stored_bytes
                stretch.threads = threads
                stretch.first = stretch.last = now
                stretch.samples = 1
            except Exception as error:
                stretches.pop(worker.address, None)
                self._note_error(error)
        return threads_total, processing_total

    def _emit(self, stretch: Stretch) -> None:
        rows = self._workers
        if stretch.batch != rows.batch:
            stretch.batch = rows.batch
            stretch.worker_code = rows.code(0, stretch.worker.address)
            stretch.host_code = rows.code(1, stretch.worker.host)
        state = struct.pack(
            WORKER_STATE,
            stretch.worker_code,
            stretch.host_code,
            stretch.first,
            stretch.last,
            stretch.last_seen,
            stretch.samples,
            stretch.threads,
            stretch.processing,
            stretch.stored_bytes,
            stretch.occupancy_secs,
        )
        rows.append(state + stretch.heartbeat)


def _forget_topic(scheduler: Any, topic: str) -> None:
    """Free the copies of chunk rows that Dask keeps in its event log."""
    broker = getattr(scheduler, "_broker", None)
    topics = getattr(broker, "_topics", None)
    if topics is not None:
        topics.pop(topic, None)


def _pack_heartbeat(worker: Any, metrics: dict[str, Any]) -> bytes:
    get = metrics.get
    tasks = get("task_counts")
    network = get("host_net_io") or {}
    disk = get("host_disk_io") or {}
    return struct.pack(
        WORKER_HEARTBEAT,
        get("memory", MISSING),
        # Dask writes 0 where the worker has no limit.
        worker.memory_limit or MISSING,
        get("cpu", MISSING),
        MISSING if tasks is None else tasks.get("executing", 0),
        (get("spilled_bytes") or {}).get("disk", MISSING),
        network.get("read_bps", MISSING),
        network.get("write_bps", MISSING),
        disk.get("read_bps", MISSING),
        disk.get("write_bps", MISSING),
        get("event_loop_interval", MISSING),
    )


# -- called through run_on_scheduler: the name is what the scheduler logs -------


def roastcoffea_install(
    name: str,
    owner: str,
    interval: float | None,
    span_ids: Sequence[str],
    dask_scheduler: Any = None,
) -> None:
    """Put a sampler on this scheduler and start it."""
    from distributed.diagnostics.plugin import SchedulerPlugin

    plugin_class = type("RoastcoffeaSampler", (SchedulerSampler, SchedulerPlugin), {})
    sampler = plugin_class(name=name, owner=owner, interval=interval, span_ids=span_ids)
    dask_scheduler.add_plugin(sampler, name=name)
    sampler.begin(dask_scheduler)


def roastcoffea_drain(name: str, dask_scheduler: Any = None) -> dict[str, Any] | None:
    """Fetch what the sampler has buffered; ``None`` if it is gone."""
    sampler = dask_scheduler.plugins.get(name)
    return None if sampler is None else sampler.drain()


async def roastcoffea_stop(name: str, dask_scheduler: Any = None) -> dict[str, Any] | None:
    """Stop the sampler and fetch the rest; ``None`` if it is gone."""
    sampler = dask_scheduler.plugins.get(name)
    return None if sampler is None else await sampler.finish()


def roastcoffea_add_span(name: str, span_id: str, dask_scheduler: Any = None) -> bool:
    """Let the sampler count one more span; false if it is gone."""
    sampler = dask_scheduler.plugins.get(name)
    if sampler is None:
        return False
    sampler.add_span(span_id)
    return True


async def roastcoffea_read_span(
    span_id: str,
    report_function: bytes,
    wait_secs: float,
    addresses: Sequence[str] | None,
    dask_scheduler: Any = None,
) -> dict[str, Any] | None:
    """Have the workers report, then read a span; ``None`` if it does not exist.

    Asks the workers at ``addresses`` (all if ``None``) and waits for them no
    longer than ``wait_secs``.
    """
    extension = dask_scheduler.extensions.get("spans")
    span = extension.spans.get(span_id) if extension is not None else None
    if span is None:
        return None
    answers = await roastcoffea_ask(
        report_function, wait_secs, addresses, dask_scheduler, args=(wait_secs,)
    )
    return {
        "metrics": dict(span.cumulative_worker_metrics),
        "reported": sorted(address for address, worked in answers.items() if worked),
        "workers": sorted(dask_scheduler.workers),
    }


async def roastcoffea_ask(
    function: bytes,
    wait_secs: float,
    addresses: Sequence[str] | None,
    dask_scheduler: Any = None,
    *,
    args: tuple[Any, ...] = (),
) -> dict[str, bool]:
    """Run a function on workers; tell of each that answered in time whether it worked."""
    packed = pickle.dumps(args)

    async def ask(address: str) -> bool:
        response = await dask_scheduler.rpc(address).run(function=function, args=packed, wait=True)
        return bool(response["status"] == "OK")

    wanted = dask_scheduler.workers if addresses is None else addresses
    asked: dict[asyncio.Task[bool], str] = {}
    for position, address in enumerate(list(wanted)):
        if address not in dask_scheduler.workers:
            continue
        asked[asyncio.create_task(ask(address))] = address
        if position % CALLS_PER_SLICE == CALLS_PER_SLICE - 1:
            await asyncio.sleep(0)
    if not asked:
        return {}
    done, pending = await asyncio.wait(asked, timeout=wait_secs)
    for task in pending:
        task.cancel()
    return {asked[task]: task.exception() is None and task.result() for task in done}
