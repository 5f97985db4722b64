"""Worker metrics from a backend's tracking data.

The built-in backends share one layout, which Rust reads. A backend with a
layout of its own registers a parser for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from roastcoffea import _core
from roastcoffea.metrics import Metrics
from roastcoffea.tracking import TrackingData


class MetricsParser(Protocol):
    """Turns a backend's tracking data into metrics."""

    def parse_tracking_data(self, tracking_data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return metrics by name."""
        ...


class DaskMetricsParser:
    """Reads the layout of :class:`roastcoffea.tracking.TrackingData`."""

    def parse_tracking_data(self, tracking_data: Mapping[str, Any]) -> Metrics:
        """Return the worker metrics of the catalog."""
        data = TrackingData.from_layout(tracking_data)
        header = {"id": "", "name": "", "started_ns": 0, "wall_secs": 0.0, "backend": "dask"}
        metrics = _core.Measurement.make(header, data.tables).compute_metrics()
        return Metrics({key: metrics[key] for key, _ in _core.metric_keys("Workers")})


_parsers: dict[str, MetricsParser] = {}


def register_parser(backend: str, parser: MetricsParser, *, replace: bool = False) -> None:
    """Use ``parser`` for the tracking data of the backend of that name."""
    if not hasattr(parser, "parse_tracking_data"):
        raise TypeError("a parser has a method parse_tracking_data(tracking_data)")
    if not replace and (backend in _parsers or backend in ("dask", "local")):
        raise ValueError(f"backend {backend!r} has a parser: pass replace=True to replace it")
    _parsers[backend] = parser


def get_parser(backend: str) -> MetricsParser:
    """Return the parser for a backend's tracking data."""
    if backend in _parsers:
        return _parsers[backend]
    if backend in ("dask", "local"):
        return DaskMetricsParser()
    known = ", ".join(sorted({"dask", "local", *_parsers}))
    raise ValueError(
        f"no parser for backend {backend!r}: known are {known}; "
        "add one with roastcoffea.aggregation.register_parser(backend, parser)"
    )


def parse(backend: str, tracking_data: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Apply a registered parser; the second value says what failed."""
    if backend not in _parsers:
        return {}, []
    try:
        return dict(_parsers[backend].parse_tracking_data(tracking_data)), []
    except Exception as error:  # noqa: BLE001
        note = (
            f"The parser of backend {backend} failed, so its metrics are missing: "
            f"{type(error).__name__}: {error}."
        )
        return {}, [note]
