"""How long chunks took, and what that had to do with their size."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import (
    GREY,
    PALETTE,
    FigureSize,
    Floats,
    OutputPath,
    Plot,
    canvas,
    count_axis,
    from_zero,
    number_axis,
    say,
    seconds_text,
)
from roastcoffea.visualization.plots.chunk_data import Chunks
from roastcoffea.visualization.plots.inputs import NO_CHUNKS, ChunkSource

NO_DURATIONS = "The chunks carry no durations: rows need 'duration', and here also 'num_events'."
#: Of which three next to each other are drawn.
_RATES_KHZ = tuple(digit * 10.0**power for power in range(-4, 6) for digit in (1.0, 2.5, 5.0))


def plot_runtime_distribution(
    chunk_metrics: ChunkSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    bins: int | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw a histogram of how long ``process()`` took per chunk, by dataset."""
    chunks = Chunks.of(chunk_metrics)
    with canvas(
        output_path, ax=ax, figsize=figsize or (8, 4.5), title=title or "Runtime of chunks"
    ) as (figure, axes):
        known = ~np.isnan(chunks.duration_secs) if chunks is not None else np.empty(0, dtype=bool)
        if chunks is None:
            say(axes, NO_CHUNKS)
        elif not known.any():
            say(axes, NO_DURATIONS)
        else:
            durations = chunks.duration_secs
            groups = [(name, members & known) for name, members in chunks.datasets()]
            edges = np.histogram_bin_edges(durations[known], bins or _bin_count(int(known.sum())))
            heights, _, _ = axes.hist(
                [durations[members] for _, members in groups],
                bins=[float(edge) for edge in edges],
                stacked=True,
                color=[PALETTE[index] for index in range(len(groups))],
                edgecolor="white",
                linewidth=0.4,
                label=[name for name, _ in groups],
            )
            from_zero(axes, float(np.max(heights)))
            for value, name, style in (
                (float(np.median(durations[known])), "median", "--"),
                (float(np.mean(durations[known])), "mean", ":"),
            ):
                axes.axvline(
                    value, color="#222222", ls=style, lw=1.4, label=f"{name} {seconds_text(value)}"
                )
            axes.set_xlabel("Runtime of process() (seconds)")
            axes.set_ylabel("Chunks")
            number_axis(axes.xaxis)
            count_axis(axes.yaxis)
            axes.legend(loc="best")
    return figure, axes


def plot_runtime_vs_events(
    chunk_metrics: ChunkSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw runtime against events of each chunk, with lines of equal event rate."""
    chunks = Chunks.of(chunk_metrics)
    with canvas(
        output_path, ax=ax, figsize=figsize or (8, 5), title=title or "Runtime and size of chunks"
    ) as (figure, axes):
        if chunks is None:
            say(axes, NO_CHUNKS)
            return figure, axes
        known = ~(np.isnan(chunks.duration_secs) | np.isnan(chunks.num_events))
        if not known.any():
            say(axes, NO_DURATIONS)
            return figure, axes
        opacity = float(np.clip(300 / known.sum(), 0.15, 0.8))
        for index, (name, members) in enumerate(chunks.datasets()):
            shown = members & known
            axes.scatter(
                chunks.num_events[shown],
                chunks.duration_secs[shown],
                s=22,
                color=PALETTE[index],
                alpha=opacity,
                linewidths=0,
                label=name,
                rasterized=bool(known.sum() > 5000),
            )
        events, secs = chunks.num_events[known], chunks.duration_secs[known]
        axes.set_xlim(0, float(events.max()) * 1.08 or 1)
        from_zero(axes, float(secs.max()))
        _draw_rates(axes, events, secs)
        axes.set_xlabel("Events in the chunk")
        axes.set_ylabel("Runtime of process() (seconds)")
        number_axis(axes.xaxis)
        number_axis(axes.yaxis)
        legend = axes.legend(loc="upper left")
        for handle in legend.legend_handles:
            if handle is not None:
                handle.set_alpha(1.0)
    return figure, axes


def _draw_rates(axes: Axes, events: Floats, durations: Floats) -> None:
    """Draw the rates nearest to the chunks' own, each named at its end."""
    usable = (durations > 0) & (events > 0)
    if not usable.any():
        return
    typical = float(np.median(events[usable] / durations[usable])) / 1000
    nearest = int(np.argmin(np.abs(np.log(np.array(_RATES_KHZ) / typical))))
    right, top = axes.get_xlim()[1], axes.get_ylim()[1]
    for rate in _RATES_KHZ[max(nearest - 1, 0) : nearest + 2]:
        end = min(right, top * rate * 1000)
        axes.plot([0, end], [0, end / (rate * 1000)], color=GREY, lw=0.9, ls="--", zorder=1)
        at_top = end < right
        axes.annotate(
            f"{rate:,.4g} kHz",
            (end, end / (rate * 1000)),
            xytext=(0, 3) if at_top else (3, 0),
            textcoords="offset points",
            ha="center" if at_top else "left",
            va="bottom" if at_top else "center",
            color=GREY,
            fontsize=9,
            annotation_clip=False,
        )


def _bin_count(number: int) -> int:
    return int(np.clip(np.sqrt(number) * 2, 10, 60))
