"""roastcoffea shows where the time of a coffea run went.

Importing it imports neither coffea nor Dask nor matplotlib; each is loaded when
it is first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
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
    "Measurement",
    "MeasurementError",
    "Metrics",
    "MetricsCollector",
    "TrackingData",
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
    "track_bytes",
    "track_memory",
    "track_metrics",
    "track_section",
    "track_time",
]


def __getattr__(name: str) -> Any:
    """Import a plot, and matplotlib with it, when it is first asked for."""
    if name.startswith("plot_") and name in __all__:
        from roastcoffea.visualization import plots

        return getattr(plots, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
