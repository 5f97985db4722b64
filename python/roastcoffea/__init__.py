"""roastcoffea shows where the time of a coffea run went.

Importing it costs next to nothing: each name below is loaded when it is first
used, and coffea, Dask and matplotlib when they are first needed.
"""

from __future__ import annotations

# Type checkers know it by its name; importing it would be most of what this import costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from roastcoffea._core import MeasurementError
    from roastcoffea.aggregation import register_metric
    from roastcoffea.backends import AbstractMetricsBackend, register_backend
    from roastcoffea.collector import MetricsCollector
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
    "Measurement",
    "MeasurementError",
    "Metrics",
    "MetricsCollector",
    "TrackingData",
    "load_measurement",
    "register_backend",
    "register_metric",
    "save_measurement",
    "track_bytes",
    "track_memory",
    "track_metrics",
    "track_section",
    "track_time",
]

#: Where each name is.
_HOMES = {
    "AbstractMetricsBackend": "backends",
    "BaseInstrumentationContext": "instrumentation",
    "Measurement": "measurement",
    "MeasurementError": "_core",
    "Metrics": "metrics",
    "MetricsCollector": "collector",
    "TrackingData": "tracking",
    "load_measurement": "export.measurements",
    "register_backend": "backends",
    "register_metric": "aggregation",
    "save_measurement": "export.measurements",
    "track_bytes": "instrumentation",
    "track_memory": "instrumentation",
    "track_metrics": "decorator",
    "track_section": "instrumentation",
    "track_time": "instrumentation",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is not None:
        value = getattr(import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value
    if not name.startswith("_"):
        # A module of the package: reading roastcoffea.collector loads it.
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
