"""``MetricsCollector``: everything that is measured of one run.

It starts the backend, listens to the executor, and at the end puts what all of
them saw into one measurement. What goes wrong in here while the user's run is
on is noted for the summary and never raised into the run.
"""

from __future__ import annotations

import html
import math
import os
import sys
import time
import uuid
import warnings
from collections.abc import Iterable, Mapping, MutableMapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO, cast

from roastcoffea import _core, aggregation, carriers
from roastcoffea.attach import (
    Session,
    attached,
    executors_of,
    recorded_here,
    recorded_on_dask,
    runs_here,
)
from roastcoffea.backends import AbstractMetricsBackend, backend_names, choose_backend, make_backend
from roastcoffea.chunk_collection import ChunkCollection
from roastcoffea.decorator import OUTPUT_KEY, collecting
from roastcoffea.measurement import Measurement, core_metrics
from roastcoffea.metrics import Metrics
from roastcoffea.provenance import provenance
from roastcoffea.tracking import TrackingData

if TYPE_CHECKING:
    from roastcoffea.backends.dask import DaskMetricsBackend

#: What coffea's report holds (``bytesread`` for ROOT input only).
REPORT_KEYS = ("bytesread", "columns", "entries", "processtime", "chunks")
SPAN_NAME = "coffea-processing"


class MetricsCollector:
    """Measures the coffea run inside its ``with`` block.

    >>> with MetricsCollector(runner) as roast:
    ...     out = runner(fileset, processor)
    >>> roast.print_summary()

    Parameters
    ----------
    target
        A coffea ``Runner`` or executor (the report is then gathered without
        another line), or a Dask client.
    output_dir
        Where to save the measurement when the block ends.
    backend
        ``"dask"``, ``"local"`` or a registered name; chosen from the target
        if not given.
    track_workers
        Whether to sample the workers.
    worker_tracking_interval
        Seconds between two samples.
    processor_instance
        The processor, to tell its tasks from Dask's when the target is a
        client.
    measurement_name
        The name under which it is saved; the time of the start if not given.
    """

    def __init__(
        self,
        target: Any,
        output_dir: str | os.PathLike[str] | None = None,
        *,
        backend: str | None = None,
        track_workers: bool = True,
        worker_tracking_interval: float = 1.0,
        processor_instance: Any = None,
        measurement_name: str | None = None,
    ) -> None:
        if backend is None and isinstance(output_dir, str) and output_dir in backend_names():
            raise ValueError(
                f"the second argument is the output directory; to choose the backend write "
                f"backend={output_dir!r}, to save there write output_dir='./{output_dir}'"
            )
        self._target = target
        self._backend_name = backend if backend is not None else choose_backend(target)
        self._backend = self._make_backend()
        self._interval = _interval(worker_tracking_interval)
        self._track_workers = _boolean(track_workers)
        self._processor = processor_instance
        self._output_dir = _directory(output_dir)
        self._name = _name(measurement_name)
        self._session = Session()
        self._stack = ExitStack()
        self._span: Any = None
        self._tracking: TrackingData | None = None
        self._span_metrics: dict[Any, Any] = {}
        self._started_ns: int | None = None
        self._perf_start = 0.0
        self._wall_secs: float | None = None
        self._error: str | None = None
        self._id = str(uuid.uuid4())
        self._custom_metrics: dict[str, Any] | None = None
        self._chunks = ChunkCollection()
        self._tables: list[_core.TableBuilder] = []
        self._notes: list[str] = []
        self._measurement: Measurement | None = None
        self._saved_to: Path | None = None

    # -- the run ---------------------------------------------------------------

    def __enter__(self) -> MetricsCollector:
        if self._started_ns is not None:
            raise RuntimeError("a MetricsCollector measures one run: make a new one for the next")
        if self._name is None:
            self._name = f"run-{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{self._id[:6]}"
        if self._output_dir is not None:
            _core.check_writable(self._output_dir, self._name)
            self._open_spool(self._output_dir / f".{self._name}.spool")
        try:
            with ExitStack() as stack:
                self._start(stack)
                self._stack = stack.pop_all()
        except BaseException:
            self._chunks.remove_spool()
            raise
        self._started_ns = time.time_ns()
        self._perf_start = time.perf_counter()
        return self

    def _start(self, stack: ExitStack) -> None:
        backend = self._backend or stack.enter_context(_own_client(self._target))
        self._backend = backend
        interval = self._interval if self._track_workers else None
        dask = _as_dask(backend)
        if dask is not None:
            topic = dask.start_listening(interval, on_chunks=self._chunks.take)
            stack.callback(self._stop_tracking)
            self._session.wrap = recorded_on_dask(topic)
        elif interval is not None:
            backend.start_tracking(interval)
            stack.callback(self._stop_tracking)
        self._span = backend.create_span(SPAN_NAME)
        if self._span is not None:
            stack.callback(self._read_span)
        if isinstance(self._span, AbstractContextManager):
            stack.enter_context(self._span)
            self._session.around_call = getattr(self._span, "here", nullcontext)
        if self._backend_name == "local" and not runs_here(executors_of(self._target)[0]):
            # Its workers may be anywhere, and need not have roastcoffea.
            self._note(
                f"Chunks of a {type(executors_of(self._target)[0]).__name__} are not recorded by "
                "themselves: decorate process() with @track_metrics and pass processor_instance."
            )
        elif self._backend_name == "local":
            carriers.collect_here(self._id, lambda row: self._chunks.take([row]))
            stack.callback(carriers.stop_collecting, self._id)
            stack.callback(self._chunks.gather)
            self._session.wrap = recorded_here((self._id, self._chunks.directories()))
        if not _is_client(self._target) and self._backend_name in ("dask", "local"):
            stack.enter_context(attached(executors_of(self._target), self._session))
        if self._processor is not None:
            stack.enter_context(collecting(self._processor))
        if dask is not None:
            self._check_workers(dask)

    def _open_spool(self, path: Path) -> None:
        if path.exists():
            raise FileExistsError(
                "a run of this name was killed and left its chunks behind: make a measurement of "
                f"them with 'roastcoffea recover {path}', or choose another name"
            )
        header = {
            "id": self._id,
            "name": self._name,
            "started_ns": time.time_ns(),
            "backend": self._backend_name,
            "provenance": provenance(),
        }
        try:
            self._chunks.open_spool(path, header)
        except OSError as error:
            self._note(
                "Chunk rows cannot be spooled to disk, so they would be lost if this process "
                f"were killed ({_describe(error)})."
            )

    def _check_workers(self, backend: DaskMetricsBackend) -> None:
        try:
            lacking = backend.workers_that_cannot_record()
        except Exception as error:  # noqa: BLE001
            self._note(f"Workers could not be asked for roastcoffea: {_describe(error)}.")
            return
        if lacking:
            some = ", ".join(lacking[:3]) + (", ..." if len(lacking) > 3 else "")
            sentence = (
                f"roastcoffea cannot be imported on {len(lacking)} of the workers ({some}): their "
                "chunks run unrecorded, while the metrics of the workflow, of the workers and of "
                "the spans are still there. Install roastcoffea on them for the rest."
            )
            self._note(sentence)
            warnings.warn(sentence, stacklevel=4)

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._wall_secs = time.perf_counter() - self._perf_start
        if exception is not None:
            text = str(exception).strip()
            self._error = (
                f"{type(exception).__name__}: {text}" if text else type(exception).__name__
            )
        try:
            self._stack.close()
        except Exception as error:  # noqa: BLE001
            self._note(f"Measuring could not be ended in order: {_describe(error)}.")
        if self._output_dir is not None:
            self._save_at_exit()

    def _make_backend(self) -> AbstractMetricsBackend | None:
        """Build the backend; ``None`` if coffea would start the cluster itself."""
        if self._backend_name == "dask" and not _is_client(self._target):
            executor = executors_of(self._target)[0]
            if getattr(executor, "client", self) is None:
                return None
        return make_backend(self._backend_name, self._target)

    def _stop_tracking(self) -> None:
        assert self._backend is not None
        try:
            data = self._backend.stop_tracking()
            if data is None:
                return
            tracking = TrackingData.from_layout(data)
            self._tables = tracking.tables
            if self._track_workers and tracking:
                self._tracking = tracking
        except Exception as error:  # noqa: BLE001
            self._note(f"Worker tracking was lost: {_describe(error)}.")

    def _read_span(self) -> None:
        assert self._backend is not None
        if not self._backend.supports_fine_metrics():
            return
        try:
            self._span_metrics = self._backend.get_span_metrics(self._span)
        except Exception as error:  # noqa: BLE001
            self._note(f"Fine metrics could not be read: {_describe(error)}.")

    # -- what the user hands over ------------------------------------------------

    def set_coffea_report(
        self, report: Mapping[str, Any], custom_metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Take coffea's report, the second value of a run with ``savemetrics=True``.

        ``custom_metrics`` are the user's own by dataset, with the keys of a
        report where they are known (``{"ttbar": {"entries": ..., ...}}``); what
        the report itself lacks is summed up from them.
        """
        if not isinstance(report, Mapping):
            raise TypeError(
                f"the report is a mapping, not a {type(report).__name__}: with "
                "Runner(savemetrics=True) it is the second value, out, report = runner(...)"
            )
        merged = {**_summed(custom_metrics or {}), **report}
        if not any(key in merged for key in REPORT_KEYS):
            raise ValueError(
                f"this is not a report of coffea: it has none of {', '.join(REPORT_KEYS)}; "
                "did you pass the processor's output?"
            )
        self._session.report = dict(merged)
        self._custom_metrics = None if custom_metrics is None else dict(custom_metrics)
        self._changed()

    def extract_metrics_from_output(self, output: Any) -> list[dict[str, Any]]:
        """Take the chunk rows of ``@track_metrics`` out of an output and return them."""
        rows = output.pop(OUTPUT_KEY, None) if isinstance(output, MutableMapping) else None
        if rows is None:
            return []
        self._chunks.add(rows)
        self._changed()
        return list(rows)

    def set_chunk_metrics(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add chunk rows; those that are here already count once."""
        self._chunks.add(rows)
        self._changed()

    def record_chunk_metrics(self, row: Mapping[str, Any]) -> None:
        """Add one chunk row."""
        self._chunks.add([row])
        self._changed()

    def record_section_metrics(self, section: Mapping[str, Any]) -> None:
        """Add a section (``section_name``, ``time_delta``) to the newest chunk row."""
        self._chunks.add_section(section)
        self._changed()

    # -- what the user gets back ---------------------------------------------------

    @property
    def measurement(self) -> Measurement:
        """Everything, as one object."""
        if self._started_ns is None or self._wall_secs is None:
            raise RuntimeError(
                "nothing has been measured yet: run inside "
                "'with MetricsCollector(...) as collector:' and ask after the block has ended"
            )
        if self._measurement is None:
            self._measurement = self._put_together()
        return self._measurement

    def get_metrics(self) -> Metrics:
        """Return the metrics; a missing one is ``None``."""
        return self.measurement.metrics

    @property
    def metrics(self) -> Metrics | None:
        """The metrics; ``None`` until the block has ended."""
        return None if self._wall_secs is None else self.measurement.metrics

    @property
    def tracking_data(self) -> TrackingData | None:
        """Workers over time; ``None`` without tracking or until the block has ended."""
        return self._tracking

    @property
    def span_metrics(self) -> dict[tuple[Any, ...], float] | None:
        """Dask's activity by span key; ``None`` without."""
        return self._span_metrics or None

    @property
    def chunk_metrics(self) -> list[dict[str, Any]]:
        """One dict per chunk."""
        return self._chunks.rows() if self._wall_secs is None else self.measurement.chunk_metrics

    @property
    def notes(self) -> list[str]:
        """Plain sentences on what is missing or limited, and why."""
        backend = getattr(self._backend, "notes", [])
        everyone = [*self._notes, *self._session.notes, *backend, *self._chunks.notes]
        return list(dict.fromkeys(everyone))

    def print_summary(self, file: TextIO | None = None) -> None:
        """Print the summary."""
        self.measurement.print_summary(file)

    def report(
        self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False
    ) -> Path:
        """Write everything as one HTML page and return its path.

        The page needs no network and no other file. Without ``path`` it is
        named after the measurement and written to the current directory. What
        is there already is kept unless ``overwrite`` is true.
        """
        return self.measurement.report(path, overwrite=overwrite)

    def save_measurement(
        self,
        output_dir: str | os.PathLike[str] | None = None,
        measurement_name: str | None = None,
        *,
        overwrite: bool = False,
    ) -> Path:
        """Save to ``output_dir/measurement_name`` and return that path.

        Both default to what the collector was made with. An existing
        measurement is kept unless ``overwrite`` is true.
        """
        directory = self._output_dir if output_dir is None else output_dir
        if directory is None:
            raise ValueError("say where to save it: save_measurement(output_dir)")
        return self.measurement.save(directory, measurement_name, overwrite=overwrite)

    def _repr_html_(self) -> str:
        if self._wall_secs is not None:
            return self.measurement._repr_html_()
        return (
            f"<p><b>MetricsCollector</b> ({html.escape(self._backend_name)}): {self._state()}</p>"
        )

    def __repr__(self) -> str:
        return f"<MetricsCollector backend={self._backend_name!r}, {self._state()}>"

    def _state(self) -> str:
        if self._started_ns is None:
            return "not started"
        if self._wall_secs is None:
            return f"running for {time.perf_counter() - self._perf_start:.1f} s"
        return f"finished after {self._wall_secs:.1f} s"

    # -- putting it together ---------------------------------------------------------

    def _put_together(self) -> Measurement:
        prefixes = self._processor_prefixes()
        header: dict[str, Any] = {
            "id": self._id,
            "name": self._name,
            "started_ns": self._started_ns,
            "wall_secs": self._wall_secs,
            "backend": self._backend_name,
            "error": self._error,
            "provenance": provenance(),
            "report": self._session.report,
            "custom_metrics": self._custom_metrics,
            "spans": self._span_metrics or None,
            "span_completeness": getattr(self._backend, "span_completeness", None),
            "processor_prefixes": prefixes,
            "phases": self._session.phases,
            "tracking_extra": self._tracking.extra if self._tracking is not None else None,
        }
        log = self._chunks.log()
        tables = [*self._tables, *(log.tables() if len(log) else [])]
        if log.dropped_sections:
            self._note(
                f"{log.dropped_sections:,} sections were more than a chunk may have and were "
                "summed up by name or left out: put track_time around larger stretches."
            )
        core = _core.Measurement.make(header, tables)
        for sentence in core.limits():
            self._note(sentence)
        metrics = core_metrics(core, core.compute_metrics())
        if self._tracking is not None:
            extra, notes = aggregation.backends.parse(self._backend_name, self._tracking)
            metrics.update(extra)
            self._notes.extend(note for note in notes if note not in self._notes)
        derived, notes = aggregation.registry.derive(metrics)
        metrics.update(derived)
        self._notes.extend(note for note in notes if note not in self._notes)
        return Measurement(core.with_metrics(metrics, self.notes))

    def _processor_prefixes(self) -> list[str]:
        if self._backend_name != "dask" or not self._span_metrics:
            return []
        from roastcoffea.backends.dask import prefix_of

        names = list(self._session.processor_names)
        if self._processor is not None:
            names.append(type(self._processor).__name__)
        present = {key[1] for key in self._span_metrics if len(key) == 4}
        known = [prefix for prefix in map(prefix_of, names) if prefix in present]
        if known:
            return list(dict.fromkeys(known))
        if names and "automatic_retries" in present:
            self._note(
                "The executor runs without compression, so Dask gives coffea's preprocessing "
                "and the processor one name: both are counted as the processor's. Pass the "
                "Runner or the executor to the collector to tell them apart."
            )
            return ["automatic_retries"]
        if names:
            self._note(
                f"No task of {', '.join(names)} was seen, so the processor's times are those of "
                "all tasks."
            )
        else:
            self._note(
                "No processor was given, so its tasks are not told apart from Dask's own: the "
                "processor's times are those of all tasks. Pass processor_instance=... to "
                "separate them."
            )
        return []

    def _changed(self) -> None:
        """Forget what was put together; bring a measurement saved at exit up to date."""
        self._measurement = None
        if self._saved_to is not None:
            self.measurement.save(self._saved_to.parent, self._saved_to.name, overwrite=True)

    def _save_at_exit(self) -> None:
        try:
            self._saved_to = self.save_measurement()
            self._chunks.remove_spool()
        except Exception as error:  # noqa: BLE001
            sentence = (
                f"The measurement could not be saved ({_describe(error)}); it is still here: "
                "call save_measurement(another_directory)."
            )
            self._note(sentence)
            warnings.warn(sentence, stacklevel=3)

    def _note(self, sentence: str) -> None:
        if sentence not in self._notes:
            self._notes.append(sentence)


def _as_dask(backend: AbstractMetricsBackend) -> DaskMetricsBackend | None:
    """Return the backend if it is Dask's; nothing is imported to find out that it is not."""
    module = sys.modules.get("roastcoffea.backends.dask")
    if module is None or not isinstance(backend, module.DaskMetricsBackend):
        return None
    return cast("DaskMetricsBackend", backend)


def _own_client(target: Any) -> Any:
    from roastcoffea.backends.dask import started_client

    return started_client(executors_of(target))


def _is_client(target: Any) -> bool:
    return not hasattr(target, "executor") and hasattr(target, "scheduler")


def _summed(by_dataset: Mapping[str, Any]) -> dict[str, Any]:
    """Sum the report keys that every dataset has."""
    if not isinstance(by_dataset, Mapping) or not all(
        isinstance(metrics, Mapping) for metrics in by_dataset.values()
    ):
        raise TypeError("custom_metrics is a mapping of datasets to mappings of metrics")
    sums: dict[str, Any] = {}
    for key in ("bytesread", "entries", "processtime", "chunks"):
        values = [metrics.get(key) for metrics in by_dataset.values()]
        if values and all(isinstance(value, (int, float)) for value in values):
            sums[key] = sum(values)
    return sums


def _interval(seconds: float) -> float:
    number: object = seconds
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise TypeError(
            f"worker_tracking_interval is a number of seconds, not a {type(number).__name__}"
        )
    if not math.isfinite(number) or number <= 0:
        raise ValueError(f"worker_tracking_interval must be above 0 seconds, not {number!r}")
    return float(number)


def _boolean(track_workers: object) -> bool:
    if not isinstance(track_workers, bool):
        raise TypeError(f"track_workers is True or False, not {track_workers!r}")
    return track_workers


def _directory(path: str | os.PathLike[str] | None) -> Path | None:
    if path is not None and not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"output_dir is a path, not a {type(path).__name__}")
    return None if path is None else Path(path)


def _name(name: str | None) -> str | None:
    if name is not None:
        _core.check_name(name)
    return name


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
