"""Watching a Dask cluster: workers over time, task intervals and spans.

The sampling itself happens on the scheduler (see :mod:`.remote`). This module
puts it there, fetches what it gathers while the run goes on, marks the user's
work with a span, and asks the workers for the rest at the end. A cluster that
breaks never raises into the user's run; it leaves a sentence in ``notes``.
"""

from __future__ import annotations

import math
import pickle
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timezone
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from roastcoffea.backends import remote, remote_worker
from roastcoffea.backends.base import AbstractMetricsBackend
from roastcoffea.backends.by_value import ByValue

if TYPE_CHECKING:
    from distributed import Client

TABLES = ("ticks", "workers", "tasks")
MIN_DRAIN_INTERVAL_SECS = 2.0
CALL_TIMEOUT_SECS = 30.0
STOP_TIMEOUT_SECS = 10.0
# What a call may take beyond the time it spends waiting for workers.
CALL_MARGIN_SECS = 2.0


class RowSink(Protocol):
    """A table that takes rows as the scheduler packs them."""

    def append_rows(self, rows: bytes, columns: Sequence[tuple[str, list[str] | None]]) -> None:
        """Add the rows of one batch: cells of eight bytes, each column with its names if any."""


class SpanInfo:
    """Marks the Dask work submitted inside its ``with`` block.

    ``span_id`` and ``started`` are ``None`` until the block is entered.
    """

    def __init__(self, name: str, *, on_enter: Callable[[str], None]) -> None:
        self.name = name
        self.span_id: str | None = None
        self.started: datetime | None = None
        self._on_enter = on_enter
        self._context: AbstractContextManager[str] | None = None
        self._annotation: dict[str, Any] | None = None

    def __enter__(self) -> SpanInfo:
        from dask.base import get_annotations
        from distributed import span

        if self.span_id is not None:
            raise RuntimeError(
                f"span {self.name!r} was entered before: make a new one with create_span"
            )
        context = span(self.name)
        self.span_id = context.__enter__()
        self._context = context
        self._annotation = get_annotations()["span"]
        self.started = datetime.now(timezone.utc)
        self._on_enter(self.span_id)
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        context, self._context = self._context, None
        if context is not None:
            # Without the exception: the block only annotates, and must not see,
            # reword or swallow what the user's code raised.
            context.__exit__(None, None, None)

    def here(self) -> AbstractContextManager[Any]:
        """Mark work in this thread too: the mark does not follow into new threads.

        Does nothing where the thread is inside the span already, so that spans
        opened within it stay as they are.
        """
        from dask.base import annotate, get_annotations

        current = get_annotations().get("span")
        if self._annotation is None or (current and self.span_id in current["ids"]):
            return nullcontext()
        annotated: AbstractContextManager[Any] = annotate(span=self._annotation)
        return annotated

    def __repr__(self) -> str:
        return f"SpanInfo(name={self.name!r}, span_id={self.span_id!r})"


class DaskMetricsBackend(AbstractMetricsBackend):
    """Watches the cluster of a ``distributed.Client``.

    ``report_timeout`` bounds, in seconds, how long :meth:`get_span_metrics`
    may wait for workers that do not answer.
    """

    def __init__(self, client: Client, *, report_timeout: float = 5.0) -> None:
        from distributed import Client

        if not isinstance(client, Client):
            raise TypeError(
                f"the Dask backend watches a distributed.Client, not a {type(client).__name__}"
            )
        # The keyword is kept in a private attribute only; the property speaks of
        # the calling thread.
        if getattr(client, "_asynchronous", False) or client.asynchronous:
            raise TypeError(
                "this client is asynchronous, and its calls would have to be awaited: "
                "use a synchronous one, Client(address) without asynchronous=True"
            )
        self._client = client
        self._report_timeout_secs = _positive("report_timeout", report_timeout)
        self.notes: list[str] = []
        self.span_completeness: float | None = None
        self._span_ids: list[str] = []
        self._plugin_name: str | None = None
        self._builders: dict[str, Any] = {}
        self._lost_samples = 0
        self._first_loss: str | None = None
        self._drainer: threading.Thread | None = None
        self._stopping = threading.Event()
        self._lock = threading.Lock()

    # -- workers over time ---------------------------------------------------

    def start_tracking(self, interval: float) -> None:
        """Sample workers every ``interval`` seconds, and note the spans' tasks."""
        self.start_listening(_positive("interval", interval))

    def start_listening(
        self, interval: float | None, *, on_chunks: Callable[[list[bytes]], None] | None = None
    ) -> str:
        """Note the spans' tasks and hand over chunk rows as they arrive.

        Workers are sampled, too, if there is an ``interval``. Returns the topic
        under which workers are to send chunk rows.
        """
        if self._plugin_name is not None:
            raise RuntimeError("tracking is running already: call stop_tracking first")
        self._on_chunks = on_chunks
        self._builders = {table: self._new_builder(table) for table in TABLES}
        self._lost_samples, self._first_loss = 0, None
        name = f"roastcoffea-{uuid.uuid4()}"
        self._call(
            remote.roastcoffea_install,
            name,
            self._client.id,
            interval,
            list(self._span_ids),
        )
        self._plugin_name = name
        self._stopping = threading.Event()
        self._drainer = threading.Thread(
            target=self._drain_until_stopped,
            args=(name, max(MIN_DRAIN_INTERVAL_SECS, interval or 0.0), self._stopping),
            name=name,
            daemon=True,
        )
        self._drainer.start()
        return name

    def stop_tracking(self) -> Mapping[str, Any]:
        """Stop sampling and return what was seen."""
        name, drainer = self._plugin_name, self._drainer
        if name is None or drainer is None:
            raise RuntimeError("tracking is not running: call start_tracking first")
        self._plugin_name = self._drainer = None
        self._stopping.set()
        drainer.join(timeout=STOP_TIMEOUT_SECS)
        self._fetch(remote.roastcoffea_stop, name, timeout_secs=STOP_TIMEOUT_SECS)
        if self._lost_samples:
            self._note(
                f"{self._lost_samples} worker or task samples were lost on the scheduler; "
                f"the first because of {self._first_loss}."
            )
        return self._finish_tracking()

    def _drain_until_stopped(
        self, name: str, interval_secs: float, stopping: threading.Event
    ) -> None:
        while not stopping.wait(interval_secs):
            fetched = self._fetch(remote.roastcoffea_drain, name, timeout_secs=CALL_TIMEOUT_SECS)
            if not fetched and self._client.status == "closed":
                return

    def _fetch(self, function: Callable[..., Any], name: str, *, timeout_secs: float) -> bool:
        """Hand over what the sampler has; false, with a note, if it is out of reach."""
        try:
            batch = self._call(function, name, timeout_secs=timeout_secs)
        except Exception as error:  # noqa: BLE001
            self._note(
                "The scheduler could not be reached for worker and task samples; "
                f"those already fetched are kept ({_describe(error)})."
            )
            return False
        if batch is None:
            self._note(
                "The sampler on the scheduler was gone before the run ended "
                "(the client lost its connection, or the scheduler restarted); "
                "worker and task samples end there."
            )
            return False
        self._lost_samples += batch["errors"]
        self._first_loss = self._first_loss or batch["first_error"]
        try:
            self._sink(batch)
        except Exception as error:  # noqa: BLE001
            self._note(f"A batch of worker and task samples was lost ({_describe(error)}).")
        return True

    def _sink(self, batch: Mapping[str, Any]) -> None:
        with self._lock:
            for table, builder in self._builders.items():
                builder.append_rows(*batch[table])
        if self._on_chunks is not None and batch["chunks"]:
            self._on_chunks(batch["chunks"])

    def _new_builder(self, table: str) -> RowSink:
        from roastcoffea import _core

        builder: RowSink = _core.TableBuilder(table)
        return builder

    def _finish_tracking(self) -> Mapping[str, Any]:
        from roastcoffea.tracking import TrackingData

        return TrackingData(**self._builders)

    # -- spans -----------------------------------------------------------------

    def supports_fine_metrics(self) -> bool:
        """Tell whether the installed Dask has spans."""
        try:
            from distributed import span  # noqa: F401
        except ImportError:
            return False
        return True

    def create_span(self, name: str) -> SpanInfo | None:
        """Return a context manager that marks the work submitted inside it.

        The mark belongs to the calling thread: work submitted from another
        thread is not seen. Spans opened inside this one count as part of it.
        """
        if not self.supports_fine_metrics():
            return None
        return SpanInfo(name, on_enter=self._register_span)

    def _register_span(self, span_id: str) -> None:
        self._span_ids.append(span_id)
        if self._plugin_name is None:
            return
        try:
            self._call(remote.roastcoffea_add_span, self._plugin_name, span_id)
        except Exception as error:  # noqa: BLE001
            self._note(
                "The scheduler could not be told which tasks belong to this run, "
                f"so it has no task intervals ({_describe(error)})."
            )

    def get_span_metrics(
        self,
        span_info: SpanInfo | None,
        *,
        max_retries: int = 3,
        retry_delay: float = 0.5,
    ) -> dict[tuple[Any, ...], float]:
        """Return Dask's fine performance metrics of a span, its inner ones included.

        Every worker is asked to report first. Those where that failed are
        asked again up to ``max_retries`` times, after ``retry_delay`` seconds
        and twice as long each time, within the backend's ``report_timeout``.
        ``span_completeness`` then is the fraction of workers that answered.
        """
        self.span_completeness = None
        span_id = span_info.span_id if span_info is not None else None
        if span_id is None:
            return {}
        metrics: dict[tuple[Any, ...], float] = {}
        reported: set[str] = set()
        silent: list[str] | None = None
        deadline = time.monotonic() + self._report_timeout_secs
        max_retries = max(0, max_retries)
        for attempt in range(max_retries + 1):
            remaining_secs = deadline - time.monotonic()
            if attempt and remaining_secs <= 0:
                break
            try:
                # It returns when the last worker has answered. To give up earlier and ask
                # again would only add to the work of those that are slow.
                answer = self._read_span(span_id, max(remaining_secs, 0.1), silent)
            except Exception as error:  # noqa: BLE001
                self._note(
                    "The scheduler could not be asked for the run's fine metrics "
                    f"({_describe(error)})."
                )
                return metrics
            if answer is None:
                self._note(
                    "Dask knows no task of this run, so there are no fine metrics: "
                    "nothing was submitted inside it, it was submitted from another "
                    "thread, or tasks of the same name from an earlier run are still "
                    "held and Dask counts the new ones with them."
                )
                return {}
            metrics = answer["metrics"]
            workers = set(answer["workers"])
            reported.update(answer["reported"])
            silent = sorted(workers - reported)
            if workers:
                self.span_completeness = 1 - len(silent) / len(workers)
            if not silent:
                return metrics
            remaining_secs = max(0.0, deadline - time.monotonic())
            if attempt < max_retries:
                time.sleep(min(retry_delay * 2**attempt, remaining_secs))
        self._note(
            f"{len(silent or [])} of the workers did not report in time, so the run's "
            f"fine metrics lack their last seconds: {_some(silent or [])}."
        )
        return metrics

    def _read_span(
        self, span_id: str, wait_secs: float, addresses: list[str] | None
    ) -> dict[str, Any] | None:
        answer: dict[str, Any] | None = self._call(
            remote.roastcoffea_read_span,
            span_id,
            pickle.dumps(ByValue(remote_worker.roastcoffea_report)),
            wait_secs,
            addresses,
            timeout_secs=wait_secs + CALL_MARGIN_SECS,
        )
        return answer

    def workers_that_cannot_record(self, *, wait_secs: float = 5.0) -> list[str]:
        """Return the addresses of workers without a roastcoffea that can record chunks."""
        answers: dict[str, bool] = self._call(
            remote.roastcoffea_ask,
            pickle.dumps(ByValue(remote_worker.roastcoffea_probe)),
            wait_secs,
            None,
            timeout_secs=wait_secs + CALL_MARGIN_SECS,
        )
        return sorted(address for address, worked in answers.items() if not worked)

    # -- plumbing ----------------------------------------------------------------

    def _call(
        self,
        function: Callable[..., Any],
        *args: Any,
        timeout_secs: float = CALL_TIMEOUT_SECS,
    ) -> Any:
        if self._client.status != "running":
            # Otherwise the call would try to connect again for half a minute.
            raise ConnectionError(f"the client is {self._client.status}")
        return self._client.run_on_scheduler(
            ByValue(function), *args, callback_timeout=timeout_secs
        )

    def _note(self, sentence: str) -> None:
        with self._lock:
            if sentence not in self.notes:
                self.notes.append(sentence)


#: The shorter name, for those who write it often.
DaskBackend = DaskMetricsBackend


def processor_prefixes(processor: Any, *, compression: int | None = 1) -> list[str]:
    """Return the task prefixes that Dask shows for a coffea processor's chunks.

    ``compression`` is the executor's. Without compression coffea's chunks bear
    the name of its retry function, and so does its preprocessing.
    """
    if compression is None:
        return ["automatic_retries"]
    return [prefix_of(type(processor).__name__)]


def prefix_of(name: str) -> str:
    """Return the prefix of tasks whose function is called ``name``."""
    from dask.utils import funcname, key_split

    # Dask cuts long names and strips leading underscores: let it do so itself.
    function = type("", (), {"__name__": name})()
    prefix: str = key_split(f"{funcname(function)}-{uuid.UUID(int=0).hex}")
    return prefix


@contextmanager
def started_client(executors: Sequence[Any]) -> Iterator[DaskMetricsBackend]:
    """Start the cluster that coffea would start for executors without a client.

    The executors use it inside the block, so that it can be watched from the
    beginning; afterwards it is closed and they are as they were.
    """
    from distributed import Client

    without_client = [executor for executor in executors if executor.client is None]
    with Client(threads_per_worker=1) as client:
        for executor in without_client:
            executor.client = client
        try:
            yield DaskMetricsBackend(client)
        finally:
            for executor in without_client:
                executor.client = None


def _positive(name: str, value: float) -> float:
    number: object = value
    if not isinstance(number, (int, float)) or not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} is a number of seconds above 0, not {value!r}")
    return float(number)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
