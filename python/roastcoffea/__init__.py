"""roastcoffea shows where the time of a coffea run went.

Importing it imports neither coffea nor Dask nor matplotlib; each is loaded when
it is first needed.
"""

from __future__ import annotations

from roastcoffea._core import MeasurementError
from roastcoffea.aggregation import register_metric
from roastcoffea.backends import AbstractMetricsBackend, register_backend
from roastcoffea.collector import MetricsCollector
from roastcoffea.export.measurements import load_measurement, save_measurement
from roastcoffea.measurement import Measurement
from roastcoffea.metrics import Metrics
from roastcoffea.tracking import TrackingData

__all__ = [
    "AbstractMetricsBackend",
    "Measurement",
    "MeasurementError",
    "Metrics",
    "MetricsCollector",
    "TrackingData",
    "load_measurement",
    "register_backend",
    "register_metric",
    "save_measurement",
]
