"""Horizontal bars whose names and values are read without a legend."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import number_axis


def draw_bars(
    axes: Axes,
    bars: Sequence[tuple[str, float, str]],
    *,
    colors: Sequence[str],
    at_least: float = 0.0,
) -> None:
    """Draw bars from top to bottom: name, length and what is written at the end."""
    places = range(len(bars))
    lengths = [length for _, length, _ in bars]
    axes.barh(places, lengths, color=list(colors), height=0.68)
    axes.set_yticks(places, [name for name, _, _ in bars])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    longest = max([*lengths, at_least], default=0.0)
    axes.set_xlim(0, longest * 1.25 if longest > 0 else 1)
    number_axis(axes.xaxis)
    for place, (_, length, text) in zip(places, bars, strict=True):
        axes.annotate(
            text,
            (length, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )


def bars_height(count: int) -> float:
    """Return the height of a figure with so many bars, in inches."""
    return max(2.4, 1.3 + 0.34 * count)
