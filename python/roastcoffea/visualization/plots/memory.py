"""How much of their memory the workers used."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import FigureSize, Floats, OutputPath, Plot
from roastcoffea.visualization.plots.inputs import TrackingSource
from roastcoffea.visualization.plots.timeline import MAX_LEGEND_ENTRIES, draw_timeline

_SERIES = ("worker_memory", "worker_memory_limit")


def _percent(series: list[Floats]) -> Floats:
    memory, limit = series
    return 100 * memory / np.where(limit > 0, limit, np.nan)


def plot_memory_utilization_mean_timeline(
    tracking_data: TrackingSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the memory of the workers as a share of their limit: mean, and lowest to highest."""
    return draw_timeline(
        tracking_data,
        _SERIES,
        _percent,
        what="memory limit",
        ylabel="Memory in use (% of the limit)",
        title=title or "Memory utilization",
        output_path=output_path,
        ax=ax,
        figsize=figsize,
    )


def plot_memory_utilization_per_worker_timeline(
    tracking_data: TrackingSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    max_legend_entries: int = MAX_LEGEND_ENTRIES,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the memory of each worker as a share of its limit."""
    return draw_timeline(
        tracking_data,
        _SERIES,
        _percent,
        what="memory limit",
        ylabel="Memory in use (% of the limit)",
        title=title or "Memory utilization of each worker",
        output_path=output_path,
        ax=ax,
        figsize=figsize,
        max_legend_entries=max_legend_entries,
    )
