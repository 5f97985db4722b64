"""How busy the CPUs of the workers were, and how much work waited for them."""

from __future__ import annotations

from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import FigureSize, OutputPath, Plot
from roastcoffea.visualization.plots.inputs import TrackingSource
from roastcoffea.visualization.plots.timeline import MAX_LEGEND_ENTRIES, draw_timeline, only


def plot_cpu_utilization_mean_timeline(
    tracking_data: TrackingSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the CPU use of the worker processes: mean, and lowest to highest.

    100 % is one full core, so a worker with several threads can have more.
    """
    return draw_timeline(
        tracking_data,
        ("worker_cpu",),
        only,
        what="CPU use",
        ylabel="CPU use per worker (% of a core)",
        title=title or "CPU utilization",
        output_path=output_path,
        ax=ax,
        figsize=figsize,
        at_least=100,
    )


def plot_cpu_utilization_per_worker_timeline(
    tracking_data: TrackingSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    max_legend_entries: int = MAX_LEGEND_ENTRIES,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the CPU use of each worker process; 100 % is one full core."""
    return draw_timeline(
        tracking_data,
        ("worker_cpu",),
        only,
        what="CPU use",
        ylabel="CPU use (% of a core)",
        title=title or "CPU utilization of each worker",
        output_path=output_path,
        ax=ax,
        figsize=figsize,
        max_legend_entries=max_legend_entries,
        at_least=100,
    )


def plot_occupancy_timeline(
    tracking_data: TrackingSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    max_legend_entries: int = MAX_LEGEND_ENTRIES,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the work that waits at each worker: the seconds that Dask expects it to take."""
    return draw_timeline(
        tracking_data,
        ("worker_occupancy",),
        only,
        what="occupancy",
        ylabel="Expected work assigned (seconds)",
        title=title or "Occupancy of each worker",
        output_path=output_path,
        ax=ax,
        figsize=figsize,
        max_legend_entries=max_legend_entries,
    )


def plot_executing_tasks_timeline(
    tracking_data: TrackingSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    max_legend_entries: int = MAX_LEGEND_ENTRIES,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw how many tasks each worker executes, as of its last heartbeat."""
    return draw_timeline(
        tracking_data,
        ("worker_executing",),
        only,
        what="executing tasks",
        ylabel="Tasks executing",
        title=title or "Executing tasks of each worker",
        output_path=output_path,
        ax=ax,
        figsize=figsize,
        max_legend_entries=max_legend_entries,
        at_least=1,
        counts=True,
    )
