"""Data and events per second over time, from the chunks that were being worked on."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import (
    BLUE,
    GREY,
    ORANGE,
    FigureSize,
    Floats,
    OutputPath,
    Plot,
    canvas,
    count_axis,
    from_zero,
    say,
    time_axis,
)
from roastcoffea.visualization.plots.chunk_data import Chunks
from roastcoffea.visualization.plots.inputs import (
    NO_CHUNKS,
    ChunkSource,
    TrackingSource,
    measurement_of,
    tracking_of,
)
from roastcoffea.visualization.plots.samples import counts_of, start_of

# The original tool kept these two here.
from roastcoffea.visualization.plots.tasks import (
    plot_total_active_tasks_timeline,
    plot_worker_activity_timeline,
)

__all__ = [
    "plot_throughput_timeline",
    "plot_total_active_tasks_timeline",
    "plot_worker_activity_timeline",
]

_MOST_BINS = 200
_NO_TIMES = "The chunks carry no times: rows need 't_start' and 't_end' to be put on a time axis."


def plot_throughput_timeline(
    chunk_metrics: ChunkSource = None,
    tracking_data: TrackingSource = None,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
    quantity: str = "data",
    bin_secs: float | None = None,
    coffea_report: ChunkSource = None,
) -> Plot:
    """Draw the rate of data (Gbit/s) or events (kHz), with the workers behind it.

    What a chunk read is spread evenly over the time it took, so the area under
    the line is what all successful chunks read. ``quantity`` is ``"data"`` or
    ``"events"``; ``bin_secs`` is the time over which the rate is averaged.
    Workers come from ``tracking_data``, or from the run itself.
    """
    if quantity not in ("data", "events"):
        raise ValueError(f"quantity is 'data' or 'events', not {quantity!r}")
    if bin_secs is not None and not bin_secs > 0:
        raise ValueError(f"bin_secs is a positive number of seconds, not {bin_secs!r}")
    source = coffea_report if chunk_metrics is None else chunk_metrics
    chunks = Chunks.of(source)
    run = measurement_of(source)
    tracking = tracking_of(run if run is not None and tracking_data is None else tracking_data)
    with canvas(output_path, ax=ax, figsize=figsize or (9, 4.5), title=title or "Throughput") as (
        figure,
        axes,
    ):
        if chunks is None:
            say(axes, NO_CHUNKS)
            return figure, axes
        amounts = chunks.bytes_read * 8e-9 if quantity == "data" else chunks.num_events * 1e-3
        timed = ~(np.isnan(chunks.start) | np.isnan(chunks.stop))
        known = timed & ~np.isnan(amounts)
        if not timed.any():
            say(axes, _NO_TIMES)
            return figure, axes
        if not known.any():
            field = "bytes_read" if quantity == "data" else "num_events"
            say(axes, f"The chunks do not say how much they read: rows need {field!r}.")
            return figure, axes
        origin = float(chunks.start[known].min())
        if tracking is not None and counts_of(tracking) is not None:
            origin = min(origin, start_of(tracking))
        edges, rates = binned_rate(
            chunks.start[known] - origin, chunks.stop[known] - origin, amounts[known], bin_secs
        )
        unit = time_axis(axes, edges)
        axes.stairs(rates, edges / unit, color=BLUE, lw=1.6, zorder=3)
        axes.stairs(rates, edges / unit, color=BLUE, alpha=0.15, fill=True, lw=0, zorder=2)
        axes.set_ylabel("Data rate (Gbit/s)" if quantity == "data" else "Event rate (kHz)")
        axes.yaxis.label.set_color(BLUE)
        from_zero(axes, float(rates.max()))
        mean = float(amounts[known].sum() / edges[-1])
        axes.axhline(mean, color=GREY, ls="--", lw=1.2, zorder=1)
        axes.annotate(
            f"mean {mean:.3g}",
            (1, mean),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 3),
            textcoords="offset points",
            ha="right",
            color="#333333",
            fontsize=9,
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.0},
            zorder=5,
        )
        counts = counts_of(tracking) if tracking is not None else None
        if tracking is not None and counts is not None:
            seconds = counts[0] + start_of(tracking) - origin
            _draw_workers(axes, seconds / unit, counts[1])
            axes.set_xlim(0, max(edges[-1], seconds.max()) / unit)
    return figure, axes


def binned_rate(
    starts: Floats, stops: Floats, amounts: Floats, bin_secs: float | None = None
) -> tuple[Floats, Floats]:
    """Return bin edges from zero on, and the rate in each; amounts flow evenly from start to stop.

    The sum over all amounts that have flowed by some time is a line with
    corners at starts and stops, so the corners say all.
    """
    # What takes no time at all still has to flow in some.
    stops = np.maximum(stops, starts + 1e-6)
    last = float(stops.max())
    if bin_secs is None:
        typical = float(np.median(stops - starts))
        bin_secs = max(last / _MOST_BINS, min(typical, last / 20))
    edges = np.append(np.arange(0, last, bin_secs), last)
    if len(edges) > 2 and edges[-1] - edges[-2] < bin_secs * 0.5:
        edges = np.delete(edges, -2)
    flows = amounts / (stops - starts)
    corners = np.concatenate([starts, stops])
    changes = np.concatenate([flows, -flows])
    order = np.argsort(corners, kind="stable")
    corners = corners[order]
    flow = np.cumsum(changes[order])
    flowed = np.concatenate([[0.0], np.cumsum(flow[:-1] * np.diff(corners))])
    rates = np.diff(np.interp(edges, corners, flowed)) / np.diff(edges)
    return edges, np.maximum(rates, 0.0)


def _draw_workers(axes: Axes, times: Floats, workers: Floats) -> None:
    right = axes.twinx()
    right.step(times, workers, where="post", color=ORANGE, lw=1.4, alpha=0.9)
    right.set_ylabel("Workers", color=ORANGE)
    right.tick_params(labelsize=10, colors="#333333")
    right.grid(visible=False)
    right.spines["right"].set_visible(True)
    count_axis(right.yaxis)
    from_zero(right, float(workers.max()) * 1.15)
