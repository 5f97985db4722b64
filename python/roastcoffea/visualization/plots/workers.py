"""How many workers there were."""

from __future__ import annotations

from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import (
    BLUE,
    FigureSize,
    OutputPath,
    Plot,
    canvas,
    count_axis,
    from_zero,
    say,
    time_axis,
)
from roastcoffea.visualization.plots.inputs import NO_TRACKING, TrackingSource, tracking_of
from roastcoffea.visualization.plots.samples import counts_of, marker_of


def plot_worker_count_timeline(
    tracking_data: TrackingSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the number of connected workers over time."""
    tracking = tracking_of(tracking_data)
    with canvas(
        output_path, ax=ax, figsize=figsize or (9, 4), title=title or "Workers over time"
    ) as (figure, axes):
        counts = counts_of(tracking) if tracking is not None else None
        if counts is None:
            say(axes, NO_TRACKING)
        else:
            seconds, workers = counts
            unit = time_axis(axes, seconds)
            axes.step(seconds / unit, workers, where="post", color=BLUE, marker=marker_of(seconds))
            axes.fill_between(seconds / unit, workers, step="post", color=BLUE, alpha=0.15, lw=0)
            axes.set_ylabel("Workers")
            count_axis(axes.yaxis)
            from_zero(axes, float(workers.max()))
    return figure, axes
