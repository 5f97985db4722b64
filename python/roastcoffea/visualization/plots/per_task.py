"""What Dask's spans tell of each kind of task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from roastcoffea.visualization.plots.bars import bars_height
from roastcoffea.visualization.plots.canvas import (
    PALETTE,
    FigureSize,
    OutputPath,
    Plot,
    byte_unit,
    canvas,
    number_axis,
    say,
    seconds_text,
)
from roastcoffea.visualization.plots.inputs import NO_SPANS, SpanSource, spans_of

#: Kinds of tasks shown; those after them did least.
_MOST_TASKS = 15


def plot_per_task_cpu_io(
    span_metrics: SpanSource,
    output_path: OutputPath = None,
    title: str | None = None,
    figsize: FigureSize = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the time of each kind of task on a CPU and off it (I/O, waiting for a core, GIL)."""
    return _draw(
        span_metrics,
        {"on a CPU": "thread-cpu", "not on a CPU (I/O, waiting)": "thread-noncpu"},
        unit="seconds",
        xlabel="Time of all threads (seconds)",
        nothing="No task ran long enough to be seen in the spans.",
        title=title or "CPU and waiting by kind of task",
        output_path=output_path,
        figsize=figsize,
        ax=ax,
    )


def plot_per_task_bytes_read(
    span_metrics: SpanSource,
    output_path: OutputPath = None,
    title: str | None = None,
    figsize: FigureSize = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the bytes that each kind of task took from the worker's memory and disk.

    These are results of other tasks that Dask handed over, not input files.
    """
    return _draw(
        span_metrics,
        {"from memory": "memory-read", "from disk (spilled)": "disk-read"},
        unit="bytes",
        xlabel="Results of other tasks read",
        nothing="No task read results of another one, from memory or from disk.",
        title=title or "Bytes read by kind of task",
        output_path=output_path,
        figsize=figsize,
        ax=ax,
    )


def plot_per_task_overhead(
    span_metrics: SpanSource,
    output_path: OutputPath = None,
    title: str | None = None,
    figsize: FigureSize = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the time that each kind of task spent on packing, spilling and Dask's own handling."""
    return _draw(
        span_metrics,
        {
            "serialize": "serialize",
            "deserialize": "deserialize",
            "compress": "compress",
            "decompress": "decompress",
            "disk": ("disk-read", "disk-write"),
            "thread pool": "executor",
            "other": "other",
        },
        unit="seconds",
        xlabel="Time (seconds)",
        nothing="No overhead was seen in the spans.",
        title=title or "Overhead by kind of task",
        output_path=output_path,
        figsize=figsize,
        ax=ax,
    )


def _by_task(
    spans: Mapping[tuple[Any, ...], float],
    activities: Mapping[str, str | tuple[str, ...]],
    unit: str,
) -> dict[str, list[float]]:
    """Sum up activities by task prefix; tasks that have none are left out."""
    column = {
        activity: index
        for index, names in enumerate(activities.values())
        for activity in ((names,) if isinstance(names, str) else names)
    }
    tasks: dict[str, list[float]] = {}
    for key, value in spans.items():
        # The synthetic prefix N/A stands for idle time, which is no task.
        if len(key) == 4 and key[0] == "execute" and key[3] == unit and key[1] != "N/A":
            index = column.get(str(key[2]))
            if index is not None and value:
                tasks.setdefault(str(key[1]), [0.0] * len(activities))[index] += float(value)
    return dict(sorted(tasks.items(), key=lambda task: (-sum(task[1]), task[0])))


def _draw(
    data: SpanSource,
    activities: Mapping[str, str | tuple[str, ...]],
    *,
    unit: str,
    xlabel: str,
    nothing: str,
    title: str,
    output_path: OutputPath,
    figsize: FigureSize,
    ax: Axes | None,
) -> Plot:
    spans = spans_of(data)
    tasks = _by_task(spans, activities, unit) if spans is not None else {}
    shown = dict(list(tasks.items())[:_MOST_TASKS])
    size = figsize or (9, bars_height(len(shown)) + 0.4)
    with canvas(output_path, ax=ax, figsize=size, title=title) as (figure, axes):
        if spans is None:
            say(axes, NO_SPANS)
        elif not shown:
            say(axes, nothing)
        else:
            scale, label = 1.0, xlabel
            if unit == "bytes":
                scale, name = byte_unit(max(sum(values) for values in shown.values()))
                label = f"{xlabel} ({name})"
                texts = [f"{sum(values) / scale:,.3g} {name}" for values in shown.values()]
            else:
                texts = [seconds_text(sum(values)) for values in shown.values()]
            _draw_stacks(axes, shown, list(activities), scale, texts)
            left_out = len(tasks) - len(shown)
            axes.set_xlabel(label + (f"; {left_out:,} smaller kinds left out" if left_out else ""))
    return figure, axes


def _draw_stacks(
    axes: Axes,
    tasks: Mapping[str, list[float]],
    names: Sequence[str],
    scale: float,
    texts: Sequence[str],
) -> None:
    places = range(len(tasks))
    left = [0.0] * len(tasks)
    for index, name in enumerate(names):
        lengths = [values[index] / scale for values in tasks.values()]
        if any(lengths):
            axes.barh(places, lengths, left=left, color=PALETTE[index], height=0.68, label=name)
            left = [start + length for start, length in zip(left, lengths, strict=True)]
    for place, length, text in zip(places, left, texts, strict=True):
        axes.annotate(
            text,
            (length, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axes.set_yticks(places, [_short(task) for task in tasks])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, max(left) * 1.15)
    number_axis(axes.xaxis)
    axes.legend(loc="lower right")


def _short(task: str) -> str:
    return task if len(task) <= 40 else f"{task[:39]}…"
