"""How well the run used what it had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from roastcoffea.visualization.plots.bars import bars_height, draw_bars
from roastcoffea.visualization.plots.canvas import (
    AMBER,
    BLUE,
    GREEN,
    SKY,
    FigureSize,
    OutputPath,
    Plot,
    canvas,
    say,
)
from roastcoffea.visualization.plots.inputs import NO_METRICS, MetricsSource, metrics_of

#: Name, metric and the factor that makes it a percentage.
_EFFICIENCY = (
    ("In process()\n(of all core time)", "cpu_efficiency", 100.0, BLUE),
    ("On a CPU\n(of all core time)", "cpu_efficiency_fine", 100.0, BLUE),
    ("On a CPU\n(of the processor's time)", "processor_cpu_percentage", 1.0, GREEN),
    ("Not on a CPU\n(of the processor's time)", "processor_noncpu_percentage", 1.0, AMBER),
)
_NO_EFFICIENCY = (
    "No efficiency can be told: that takes coffea's report (give the Runner to MetricsCollector, "
    "or call set_coffea_report) and samples of the workers."
)


def plot_efficiency_summary(
    metrics: MetricsSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the efficiencies of the run, each a share of 100 %; what is missing is left out."""
    known = metrics_of(metrics)
    rows = [
        (name, float(known[key]) * factor, color)
        for name, key, factor, color in _EFFICIENCY
        if known is not None and known.get(key) is not None
    ]
    size = figsize or (9, bars_height(len(rows)) + 0.6)
    heading = title or f"Efficiency{_speedup(known)}"
    with canvas(output_path, ax=ax, figsize=size, title=heading) as (figure, axes):
        if not rows:
            say(axes, NO_METRICS if known is None else _NO_EFFICIENCY)
        else:
            draw_bars(
                axes,
                [(name, percent, f"{percent:.1f} %") for name, percent, _ in rows],
                colors=[color for _, _, color in rows],
            )
            axes.set_xlim(0, max(100.0, *(percent * 1.15 for _, percent, _ in rows)))
            axes.set_xlabel("Share (%)")
    return figure, axes


def plot_resource_utilization(
    metrics: MetricsSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the mean use of workers, CPU and memory; a thin line runs from lowest to highest."""
    known = metrics_of(metrics) or {}
    rows = [row for row in (_workers(known), _cpu(known), _memory(known)) if row is not None]
    size = figsize or (9, bars_height(len(rows)) + 0.4)
    heading = title or "Use of the workers"
    with canvas(output_path, ax=ax, figsize=size, title=heading) as (figure, axes):
        if not rows:
            say(axes, NO_METRICS if not known else _NO_SAMPLES)
        else:
            draw_bars(
                axes,
                [(name, mean, "") for name, mean, *_ in rows],
                colors=[BLUE, SKY, GREEN][: len(rows)],
            )
            highest = 100.0
            for place, (_, mean, low, high, text) in enumerate(rows):
                if low is not None and high is not None:
                    axes.plot([low, high], [place, place], color="#222222", lw=1.2, marker="|")
                end = max(mean, high or 0.0)
                highest = max(highest, end)
                axes.annotate(
                    text, (end, place), xytext=(6, 0), textcoords="offset points", va="center",
                    fontsize=9,
                )  # fmt: skip
            axes.set_xlim(0, highest * 1.4)
            axes.set_xlabel("Mean use (%)")
    return figure, axes


_NO_SAMPLES = "No use can be told without samples of the workers: keep track_workers=True."
_Row = tuple[str, float, float | None, float | None, str]


def _speedup(known: Mapping[str, Any] | None) -> str:
    if known is None or known.get("speedup_factor") is None:
        return ""
    cores = known.get("total_cores")
    over = f" on {cores:,.3g} cores" if cores is not None else ""
    return f": speed-up {known['speedup_factor']:,.3g}{over}"


def _workers(known: Mapping[str, Any]) -> _Row | None:
    average, peak = known.get("avg_workers"), known.get("peak_workers")
    if average is None or not peak:
        return None
    text = f"{average:,.4g} of {peak:,} workers on average"
    return "Workers\n(of the most there were)", 100 * average / peak, None, None, text


def _cpu(known: Mapping[str, Any]) -> _Row | None:
    mean = known.get("cpu_utilization_mean_percent")
    if mean is None:
        return None
    low, high = (known.get(f"cpu_utilization_{end}_percent") for end in ("min", "max"))
    # A worker has as many cores to use as it has threads.
    cores = float(known.get("cores_per_worker") or 1.0)
    low, high = (None if end is None else end / cores for end in (low, high))
    text = f"{mean / cores:.1f} %"
    return "CPU\n(of the workers' cores)", mean / cores, low, high, text


def _memory(known: Mapping[str, Any]) -> _Row | None:
    mean = known.get("memory_utilization_mean_percent")
    if mean is None:
        return None
    low, high = (known.get(f"memory_utilization_{end}_percent") for end in ("min", "max"))
    peak = known.get("peak_memory_bytes")
    most = f", at most {peak / 1e9:,.3g} GB in one worker" if peak is not None else ""
    return "Memory\n(of the workers' limits)", mean, low, high, f"{mean:.1f} %{most}"
