"""What the timelines of workers have in common: find the samples, draw them, label the axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import (
    FigureSize,
    Floats,
    OutputPath,
    Plot,
    canvas,
    count_axis,
    from_zero,
    say,
)
from roastcoffea.visualization.plots.inputs import NO_TRACKING, TrackingSource, tracking_of
from roastcoffea.visualization.plots.samples import Samples, draw_each, draw_map, draw_mean

#: More names than this are no help.
MAX_LEGEND_ENTRIES = 10


def draw_timeline(
    data: TrackingSource,
    keys: tuple[str, ...],
    values_of: Callable[[list[Floats]], Floats],
    *,
    what: str,
    ylabel: str,
    title: str,
    output_path: OutputPath,
    ax: Axes | None,
    figsize: FigureSize,
    max_legend_entries: int | None = None,
    at_least: float = 0.0,
    counts: bool = False,
    draw: Callable[[Axes, Samples, Floats], None] | None = None,
) -> Plot:
    """Draw what comes of some series: of all workers together, or of each.

    With ``max_legend_entries`` each worker has a line, or a row of a map if there are more.
    """
    tracking = tracking_of(data)
    with canvas(output_path, ax=ax, figsize=figsize or (9, 4.5), title=title) as (figure, axes):
        samples = Samples.of(tracking, *keys) if tracking is not None else None
        if samples is None or not samples.workers:
            say(axes, NO_TRACKING)
            return figure, axes
        series = [values for values in samples.series if values is not None]
        values = values_of(series) if len(series) == len(keys) else np.empty(0)
        if not values.size or np.isnan(values).all():
            say(
                axes,
                f"The workers were sampled, but not their {what}: the backend did not give it.",
            )
            return figure, axes
        most = float(np.nanmax(values))
        if max_legend_entries is not None and len(samples.workers) > max_legend_entries:
            draw_map(axes, samples, values, label=ylabel, most=max(most, at_least) or 1.0)
            return figure, axes
        if draw is not None:
            draw(axes, samples, values)
        elif max_legend_entries is None:
            draw_mean(axes, samples, values)
        else:
            draw_each(axes, samples, values, steps=counts)
        axes.set_ylabel(ylabel)
        if draw is None:
            from_zero(axes, most, at_least=at_least)
        if counts:
            count_axis(axes.yaxis)
    return figure, axes


def only(series: list[Floats]) -> Floats:
    """Take the one series as it is."""
    return series[0]
