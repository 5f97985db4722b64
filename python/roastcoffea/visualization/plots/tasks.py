"""The tasks that workers have been given: of each, and of all together."""

from __future__ import annotations

from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import (
    BLUE,
    FigureSize,
    Floats,
    OutputPath,
    Plot,
    from_zero,
    time_axis,
)
from roastcoffea.visualization.plots.inputs import TrackingSource
from roastcoffea.visualization.plots.samples import Samples, marker_of, total
from roastcoffea.visualization.plots.timeline import MAX_LEGEND_ENTRIES, draw_timeline, only


def plot_worker_activity_timeline(
    tracking_data: TrackingSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    max_legend_entries: int = MAX_LEGEND_ENTRIES,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the tasks that each worker has been given and not finished."""
    return draw_timeline(
        tracking_data,
        ("worker_active_tasks",),
        only,
        what="tasks",
        ylabel="Tasks assigned",
        title=title or "Active tasks of each worker",
        output_path=output_path,
        ax=ax,
        figsize=figsize,
        max_legend_entries=max_legend_entries,
        at_least=1,
        counts=True,
    )


def plot_total_active_tasks_timeline(
    tracking_data: TrackingSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the tasks that all workers together have been given and not finished."""
    return draw_timeline(
        tracking_data,
        ("worker_active_tasks",),
        only,
        what="tasks",
        ylabel="Tasks assigned to all workers",
        title=title or "Active tasks",
        output_path=output_path,
        ax=ax,
        figsize=figsize,
        counts=True,
        draw=_draw_total,
    )


def _draw_total(axes: Axes, samples: Samples, values: Floats) -> None:
    seconds, (tasks,) = samples.by_time(values, total)
    unit = time_axis(axes, seconds)
    axes.step(seconds / unit, tasks, where="post", color=BLUE, marker=marker_of(seconds))
    axes.fill_between(seconds / unit, tasks, step="post", color=BLUE, alpha=0.15, lw=0)
    from_zero(axes, float(tasks.max()))
