"""roastcoffea shows where the time of a coffea run went.

Importing it imports neither coffea nor Dask nor matplotlib; each is loaded when
it is first needed.
"""

from __future__ import annotations

from roastcoffea._core import MeasurementError
from roastcoffea.aggregation import register_metric
from roastcoffea.backends import AbstractMetricsBackend, register_backend
from roastcoffea.collector import MetricsCollector
from roastcoffea.comparison import Comparison, Scaling, compare, scaling
from roastcoffea.decorator import track_metrics
from roastcoffea.export.measurements import load_measurement, save_measurement
from roastcoffea.instrumentation import (
    BaseInstrumentationContext,
    track_bytes,
    track_memory,
    track_section,
    track_time,
)
from roastcoffea.measurement import Measurement
from roastcoffea.metrics import Metrics
from roastcoffea.tracking import TrackingData

__all__ = [
    "AbstractMetricsBackend",
    "BaseInstrumentationContext",
    "Comparison",
    "Measurement",
    "MeasurementError",
    "Metrics",
    "MetricsCollector",
    "Scaling",
    "TrackingData",
    "compare",
    "load_measurement",
    "register_backend",
    "register_metric",
    "save_measurement",
    "scaling",
    "track_bytes",
    "track_memory",
    "track_metrics",
    "track_section",
    "track_time",
]
