"""What was read of the files: sizes, branches and shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from roastcoffea.visualization.plots.canvas import (
    BLUE,
    ORANGE,
    PALETTE,
    FigureSize,
    Floats,
    OutputPath,
    Plot,
    byte_unit,
    canvas,
    count_axis,
    from_zero,
    number_axis,
    say,
)
from roastcoffea.visualization.plots.chunk_data import Chunks
from roastcoffea.visualization.plots.inputs import (
    NO_CHUNKS,
    ChunkSource,
    MetricsSource,
    metrics_of,
)

_NO_FILES = (
    "Nothing is known of the files. It is learnt from ROOT files when chunks are recorded: "
    "give the Runner to MetricsCollector, or use @track_metrics."
)


def plot_compression_ratio_distribution(
    metrics: MetricsSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    bins: int = 20,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw a histogram of the files' compression ratios (compressed / uncompressed size)."""
    known = metrics_of(metrics) or {}
    with canvas(
        output_path, ax=ax, figsize=figsize or (8, 4.5), title=title or "Compression of the files"
    ) as (figure, axes):
        ratios = _of_files(known, "file_metadata", "compression_ratio", "compression_ratios")
        if not ratios.size:
            say(axes, _NO_FILES)
        else:
            _draw_histogram(axes, ratios, bins=bins, ylabel="Files", what="", digits=3)
            axes.set_xlabel("Compressed / uncompressed size")
    return figure, axes


def plot_data_access_percentage(
    metrics: MetricsSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    bins: int = 20,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw a histogram of the share of each file that was read, in bytes and in branches."""
    known = metrics_of(metrics) or {}
    with canvas(
        output_path, ax=ax, figsize=figsize or (8, 4.5), title=title or "Share of each file read"
    ) as (figure, axes):
        shares = {
            "of its bytes": _of_files(
                known, "file_read_metrics", "bytes_read_percent", "bytes_read_percent_per_file"
            ),
            "of its branches": _of_files(known, "file_read_metrics", "branches_read_percent", ""),
        }
        shares = {name: values for name, values in shares.items() if values.size}
        if not shares:
            say(axes, _NO_FILES)
            return figure, axes
        together = np.concatenate(list(shares.values()))
        top = min(100.0, max(float(together.max()) * 1.1, 1.0))
        edges = np.linspace(0, max(top, float(together.max())), bins + 1)
        highest = 0.0
        for (name, values), color in zip(shares.items(), (BLUE, ORANGE), strict=False):
            heights, _, _ = axes.hist(
                values,
                bins=[float(edge) for edge in edges],
                color=color,
                alpha=0.65,
                label=f"{name}: mean {values.mean():.3g} %",
            )
            highest = max(highest, float(np.max(heights)))
        axes.set_xlabel("Share of the file that was read (%)")
        axes.set_ylabel("Files")
        count_axis(axes.yaxis)
        from_zero(axes, highest)
        axes.legend(loc="best")
    return figure, axes


def plot_bytes_accessed_per_chunk(
    chunk_metrics: ChunkSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw the bytes that each chunk requested, in the order in which they started."""
    chunks = Chunks.of(chunk_metrics)
    with canvas(
        output_path, ax=ax, figsize=figsize or (9, 4.5), title=title or "Bytes read per chunk"
    ) as (figure, axes):
        if chunks is None:
            say(axes, NO_CHUNKS)
        elif np.isnan(chunks.bytes_read).all():
            say(axes, "The chunks do not say what they read: rows need 'bytes_read'.")
        else:
            size, name = byte_unit(float(np.nanmax(chunks.bytes_read)))
            _draw_by_chunk(axes, chunks, chunks.bytes_read / size, unit=f" {name}")
            axes.set_ylabel(f"Bytes requested ({name})")
            number_axis(axes.yaxis)
    return figure, axes


def plot_branch_access_per_chunk(
    chunk_metrics: ChunkSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw how many branches each chunk read, in the order in which they started."""
    chunks = Chunks.of(chunk_metrics)
    with canvas(
        output_path, ax=ax, figsize=figsize or (9, 4.5), title=title or "Branches read per chunk"
    ) as (figure, axes):
        if chunks is None:
            say(axes, NO_CHUNKS)
        elif np.isnan(chunks.num_branches).all():
            say(
                axes,
                "The chunks do not name the branches they read: rows need 'accessed_branches'.",
            )
        else:
            _draw_by_chunk(axes, chunks, chunks.num_branches, unit="")
            axes.set_ylabel("Branches read")
            count_axis(axes.yaxis)
    return figure, axes


def _of_files(metrics: Mapping[str, Any], table: str, field: str, series: str) -> Floats:
    """Return a field of every file, or the list that the original tool kept of it."""
    rows = metrics.get(table)
    values = [row.get(field) for row in rows.values()] if isinstance(rows, Mapping) else []
    if not values and series:
        values = list(metrics.get(series) or [])
    return np.array([float(value) for value in values if value is not None], dtype=np.float64)


def _draw_histogram(
    axes: Axes, values: Floats, *, bins: int, ylabel: str, what: str, digits: int
) -> None:
    low, high = float(values.min()), float(values.max())
    span = (low, high) if high > low else (low - 0.05, low + 0.05)
    heights, _, _ = axes.hist(
        values, bins=bins, range=span, color=BLUE, edgecolor="white", linewidth=0.4
    )
    for value, name, style in (
        (float(np.median(values)), "median", "--"),
        (float(values.mean()), "mean", ":"),
    ):
        label = f"{name} {value:.{digits}g}{what}"
        axes.axvline(value, color="#222222", ls=style, lw=1.4, label=label)
    axes.set_ylabel(ylabel)
    count_axis(axes.yaxis)
    from_zero(axes, float(np.max(heights)))
    axes.legend(loc="best")


def _draw_by_chunk(axes: Axes, chunks: Chunks, values: Floats, *, unit: str) -> None:
    order = np.argsort(chunks.start, kind="stable")
    place = np.empty(len(order))
    place[order] = np.arange(1, len(order) + 1)
    known = ~np.isnan(values)
    for index, (name, members) in enumerate(chunks.datasets()):
        shown = members & known
        axes.plot(
            place[shown],
            values[shown],
            ls="",
            marker="o",
            markersize=4 if known.sum() < 1000 else 2,
            alpha=0.8 if known.sum() < 1000 else 0.4,
            markeredgewidth=0,
            color=PALETTE[index],
            label=name,
        )
    mean = float(values[known].mean())
    axes.axhline(mean, color="#222222", ls=":", lw=1.4, label=f"mean {mean:,.4g}{unit}")
    axes.set_xlabel("Chunk, by time of start")
    axes.set_xlim(0, len(order) + 1)
    count_axis(axes.xaxis)
    from_zero(axes, float(values[known].max()))
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
