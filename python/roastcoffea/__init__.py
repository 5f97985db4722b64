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
    from roastcoffea.visualization.plots import (
        plot_branch_access_per_chunk,
        plot_bytes_accessed_per_chunk,
        plot_compression_ratio_distribution,
        plot_cpu_utilization_mean_timeline,
        plot_cpu_utilization_per_worker_timeline,
        plot_data_access_percentage,
        plot_efficiency_summary,
        plot_executing_tasks_timeline,
        plot_ledger,
        plot_memory_utilization_mean_timeline,
        plot_memory_utilization_per_worker_timeline,
        plot_occupancy_timeline,
        plot_per_task_bytes_read,
        plot_per_task_cpu_io,
        plot_per_task_overhead,
        plot_resource_utilization,
        plot_runtime_distribution,
        plot_runtime_vs_events,
        plot_scaling,
        plot_throughput_timeline,
        plot_total_active_tasks_timeline,
        plot_worker_activity_timeline,
        plot_worker_count_timeline,
    )

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
    "plot_branch_access_per_chunk",
    "plot_bytes_accessed_per_chunk",
    "plot_compression_ratio_distribution",
    "plot_cpu_utilization_mean_timeline",
    "plot_cpu_utilization_per_worker_timeline",
    "plot_data_access_percentage",
    "plot_efficiency_summary",
    "plot_executing_tasks_timeline",
    "plot_ledger",
    "plot_memory_utilization_mean_timeline",
    "plot_memory_utilization_per_worker_timeline",
    "plot_occupancy_timeline",
    "plot_per_task_bytes_read",
    "plot_per_task_cpu_io",
    "plot_per_task_overhead",
    "plot_resource_utilization",
    "plot_runtime_distribution",
    "plot_runtime_vs_events",
    "plot_scaling",
    "plot_throughput_timeline",
    "plot_total_active_tasks_timeline",
    "plot_worker_activity_timeline",
    "plot_worker_count_timeline",
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

#: Where each name is; the plots are all in one place.
_HOMES = {
    "AbstractMetricsBackend": "backends",
    "BaseInstrumentationContext": "instrumentation",
    "Comparison": "comparison",
    "Measurement": "measurement",
    "MeasurementError": "_core",
    "Metrics": "metrics",
    "MetricsCollector": "collector",
    "Scaling": "comparison",
    "TrackingData": "tracking",
    "compare": "comparison",
    "load_measurement": "export.measurements",
    "register_backend": "backends",
    "register_metric": "aggregation",
    "save_measurement": "export.measurements",
    "scaling": "comparison",
    "track_bytes": "instrumentation",
    "track_memory": "instrumentation",
    "track_metrics": "decorator",
    "track_section": "instrumentation",
    "track_time": "instrumentation",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    home = _HOMES.get(name) or ("visualization.plots" if name in __all__ else None)
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
