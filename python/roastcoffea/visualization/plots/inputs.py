"""What users hand to a plot, turned into what it draws.

Every plot takes what the original tool's users hold (a metrics dict, tracking
data, span metrics, chunk rows), a collector, a measurement, or the path of a
saved one. Another kind of thing is a ``TypeError``; ``None`` and what is empty
are not, they give a figure that says what is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any, TypeAlias

from roastcoffea import _core
from roastcoffea.collector import MetricsCollector
from roastcoffea.measurement import Measurement
from roastcoffea.tracking import TrackingData

Run: TypeAlias = MetricsCollector | Measurement | str | os.PathLike[str]
TrackingSource: TypeAlias = Run | Mapping[str, Any] | None
ChunkSource: TypeAlias = (
    Run | _core.ChunkLog | Iterable[Mapping[str, Any]] | Mapping[str, Any] | None
)
SpanSource: TypeAlias = Run | Mapping[tuple[Any, ...], Any] | Mapping[str, Any] | None
MetricsSource: TypeAlias = Run | Mapping[str, Any] | None

NO_TRACKING = (
    "No samples of the workers. They are taken while a run is measured by "
    "MetricsCollector(..., track_workers=True), which is the default."
)
NO_CHUNKS = (
    "No chunks were recorded. Give the Runner to MetricsCollector, or decorate process() "
    "with @track_metrics and call extract_metrics_from_output."
)
NO_SPANS = (
    "No Dask spans. They are read when a run on Dask is measured, with the Runner, "
    "its DaskExecutor or the client given to MetricsCollector."
)
NO_METRICS = "No metrics. They are there once the block of a MetricsCollector has ended."

_RUN = "a MetricsCollector, a Measurement or the path of a saved one"


def measurement_of(data: object) -> Measurement | None:
    """Return the measurement in a run; ``None`` if this is no run."""
    if isinstance(data, MetricsCollector):
        return data.measurement
    if isinstance(data, Measurement):
        return data
    if isinstance(data, str | os.PathLike):
        return Measurement(_core.Measurement.load(data))
    return None


def metrics_of(data: MetricsSource) -> Mapping[str, Any] | None:
    """Return the metrics; ``None`` if there are none."""
    run = measurement_of(data)
    if run is not None:
        return run.metrics or None
    if not data:
        return None
    if isinstance(data, Mapping) and _are_metrics(data):
        return {_core.canonical_key(key) or key: value for key, value in data.items()}
    raise _unfit(data, "a metrics dict (collector.get_metrics())")


def tracking_of(data: TrackingSource) -> TrackingData | None:
    """Return the samples of the workers; ``None`` if there are none."""
    run = measurement_of(data)
    if run is not None:
        return run.tracking_data
    if isinstance(data, TrackingData):
        return data
    if not data:
        return None
    if isinstance(data, Mapping):
        if any(isinstance(key, str) and key.startswith("worker_") for key in data):
            return _from_layout(data)
        if "tracking_data" in data:
            return tracking_of(data["tracking_data"])
        if _are_metrics(data):
            return None
    raise _unfit(data, "tracking data (collector.tracking_data)")


def spans_of(data: Any) -> Mapping[tuple[Any, ...], float] | None:
    """Return Dask's activity by span key; ``None`` if there is none."""
    run = measurement_of(data)
    if run is not None:
        return run.span_metrics or None
    if not data:
        return None
    if isinstance(data, Mapping):
        if all(isinstance(key, tuple) for key in data):
            return dict(data)
        if "raw_span_metrics" in data:
            return spans_of(data["raw_span_metrics"])
        if _are_metrics(data):
            return None
    raise _unfit(data, "span metrics (collector.span_metrics)")


def chunk_table_of(data: ChunkSource) -> _core.ArrowTable | None:
    """Return the table of chunks; ``None`` if there are none."""
    run = measurement_of(data)
    if run is not None:
        table = run.table("chunks")
        if run.table("branch_sets").num_rows or not table.num_rows:
            return table if table.num_rows else None
        # Rows of the original tool name their branches in a field of their own.
        return _table_of_rows(run.chunk_metrics)
    if data is None:
        return None
    if isinstance(data, Mapping):
        if "raw_chunk_metrics" in data:
            return chunk_table_of(data["raw_chunk_metrics"])
        if "chunk_info" in data:
            return _table_of_rows(_timed_rows(data["chunk_info"]))
        if _are_metrics(data) or not data:
            return None
    elif isinstance(data, _core.ChunkLog):
        return _table_of_log(data)
    elif isinstance(data, Iterable):
        rows = list(data)
        if all(isinstance(row, Mapping) for row in rows):
            return _table_of_rows(rows)
    raise _unfit(data, "chunk rows (collector.chunk_metrics)")


def _are_metrics(data: Mapping[Any, Any]) -> bool:
    return any(isinstance(key, str) and _core.canonical_key(key) is not None for key in data)


def _unfit(data: object, wanted: str) -> TypeError:
    held = f"a {type(data).__name__}"
    if isinstance(data, Mapping):
        keys = ", ".join(repr(key) for key in list(data)[:3])
        held = f"a {type(data).__name__} with the keys {keys}" + (", ..." if len(data) > 3 else "")
    return TypeError(f"this plot takes {wanted}, {_RUN}; not {held[:200]}")


def _table_of_log(log: _core.ChunkLog) -> _core.ArrowTable | None:
    tables = [table for table in log.tables() if table.table == "chunks"]
    return tables[0].build() if tables and len(tables[0]) else None


def _table_of_rows(rows: Iterable[Mapping[str, Any]]) -> _core.ArrowTable | None:
    log = _core.ChunkLog()
    for row in rows:
        log.add_row(row)
    return _table_of_log(log)


def _timed_rows(chunk_info: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Rows of the original tool's ``{(file, start, stop): (from, to, bytes)}``."""
    return [
        {
            "file": file,
            "entry_start": start,
            "entry_stop": stop,
            "num_events": stop - start,
            "t_start": begun,
            "t_end": ended,
            "duration": ended - begun,
            "bytes_read": size,
        }
        for (file, start, stop), (begun, ended, size) in chunk_info.items()
    ]


def _from_layout(data: Mapping[str, Any]) -> TrackingData:
    """Take plain series; of times without a zone only the differences matter here."""
    known: dict[str, Any] = {}
    for key, series in data.items():
        if key == "worker_counts" and isinstance(series, Mapping):
            known[key] = {_aware(time): count for time, count in series.items()}
        elif key.startswith("worker_") and isinstance(series, Mapping):
            known[key] = {
                worker: [(_aware(time), value) for time, value in samples]
                for worker, samples in series.items()
            }
    return TrackingData.from_layout(known)


def _aware(time: Any) -> datetime:
    if isinstance(time, int | float):
        return datetime.fromtimestamp(time, timezone.utc)
    if isinstance(time, str):
        time = datetime.fromisoformat(time)
    if not isinstance(time, datetime):
        raise TypeError(f"times of samples are datetimes, not {type(time).__name__}")
    return time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc)
