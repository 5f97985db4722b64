"""Throughput against workers or cores, over several measurements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import (
    BLUE,
    GREY,
    FigureSize,
    OutputPath,
    Plot,
    canvas,
    from_zero,
    number_axis,
    say,
)

# The original tool kept these two here.
from roastcoffea.visualization.plots.efficiency import (
    plot_efficiency_summary,
    plot_resource_utilization,
)
from roastcoffea.visualization.plots.inputs import MetricsSource, metrics_of

__all__ = ["plot_efficiency_summary", "plot_resource_utilization", "plot_scaling"]

_RATES = {
    "events": ("event_rate_wall_khz", "Event rate (kHz)"),
    "data": ("data_rate_gbps", "Data rate (Gbit/s)"),
}
_SIZES = {"workers": ("avg_workers", "Workers"), "cores": ("total_cores", "Cores")}
_NOTHING = (
    "Nothing to compare. Give several measurements of the same analysis on different numbers of "
    "workers, each with coffea's report and samples of the workers."
)


def plot_scaling(
    measurements: Iterable[MetricsSource],
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
    quantity: str = "events",
    against: str = "cores",
) -> Plot:
    """Draw the throughput of several runs against their size, with the ideal line.

    The ideal line carries on the rate per core of the smallest run (the mean of
    them, if there are several); beside each point stands what fraction of it was
    reached. ``quantity`` is ``"events"`` or ``"data"``, ``against`` is
    ``"cores"`` or ``"workers"``. Measurements that lack either are left out.
    """
    if quantity not in _RATES:
        raise ValueError(f"quantity is 'events' or 'data', not {quantity!r}")
    if against not in _SIZES:
        raise ValueError(f"against is 'cores' or 'workers', not {against!r}")
    if isinstance(measurements, str | bytes | Mapping) or not isinstance(measurements, Iterable):
        raise TypeError(
            "plot_scaling takes a list of measurements, collectors, metrics dicts or paths; "
            f"not one {type(measurements).__name__}"
        )
    (rate_key, rate_label), (size_key, size_label) = _RATES[quantity], _SIZES[against]
    points = []
    for run in measurements:
        known = metrics_of(run) or {}
        rate, size = known.get(rate_key), known.get(size_key)
        if rate is not None and size:
            points.append((float(size), float(rate)))
    points.sort()
    heading = title or f"Scaling with {size_label.lower()}"
    with canvas(output_path, ax=ax, figsize=figsize or (8, 5), title=heading) as (figure, axes):
        if not points:
            say(axes, _NOTHING)
            return figure, axes
        sizes, rates = np.array(points).T
        per_one = float(np.mean(rates[sizes == sizes[0]])) / sizes[0]
        right = float(sizes[-1]) * 1.12
        axes.plot([0, right], [0, per_one * right], color=GREY, ls="--", lw=1.3, label="ideal")
        axes.plot(sizes, rates, color=BLUE, marker="o", markersize=6, label="measured")
        for size, rate in zip(sizes, rates, strict=True):
            axes.annotate(
                f"{100 * rate / (per_one * size):.0f} %" if per_one else "",
                (size, rate),
                xytext=(6, -12),
                textcoords="offset points",
                color=BLUE,
                fontsize=9,
            )
        axes.set_xlabel(size_label)
        axes.set_ylabel(rate_label)
        axes.set_xlim(0, right)
        from_zero(axes, max(float(rates.max()), per_one * right) / 1.05)
        number_axis(axes.xaxis)
        number_axis(axes.yaxis)
        axes.legend(loc="upper left")
    return figure, axes
