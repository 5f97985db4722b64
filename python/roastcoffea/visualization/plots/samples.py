"""Samples of workers as arrays, and the two ways to draw them: all together or one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from roastcoffea.tracking import TrackingData
from roastcoffea.visualization.plots.canvas import BLUE, PALETTE, Floats, count_axis, time_axis


@dataclass(frozen=True)
class Samples:
    """Series of workers laid out sample by sample, by worker and then by time."""

    workers: list[str]
    worker: npt.NDArray[np.int32]
    #: Since the first sample of all.
    seconds: Floats
    #: One array per series; ``None`` for one that was never sampled.
    series: list[Floats | None]

    @classmethod
    def of(cls, tracking: TrackingData, *keys: str) -> Samples:
        """Lay out some series."""
        names, worker, times, series = tracking.samples.samples(keys)
        seconds = np.frombuffer(times)
        return cls(
            workers=names,
            worker=np.frombuffer(worker, dtype=np.int32),
            seconds=seconds - start_of(tracking) if seconds.size else seconds,
            series=[None if values is None else np.frombuffer(values) for values in series],
        )

    def of_each(self, values: Floats) -> list[tuple[str, Floats, Floats]]:
        """Return name, seconds and known values of each worker that has any."""
        bounds = np.searchsorted(self.worker, np.arange(len(self.workers) + 1))
        each = []
        for name, first, last in zip(self.workers, bounds[:-1], bounds[1:], strict=True):
            known = ~np.isnan(values[first:last])
            if known.any():
                each.append((name, self.seconds[first:last][known], values[first:last][known]))
        return each

    def by_time(
        self, values: Floats, *reductions: Callable[[list[Floats]], list[float]]
    ) -> tuple[Floats, list[Floats]]:
        """Reduce the known values of each moment; return the moments and what came out."""
        known = ~np.isnan(values)
        seconds, values = self.seconds[known], values[known]
        order = np.argsort(seconds, kind="stable")
        moments, firsts = np.unique(seconds[order], return_index=True)
        groups = np.split(values[order], firsts[1:]) if moments.size else []
        return moments, [np.array(reduce(groups)) for reduce in reductions]


def start_of(tracking: TrackingData) -> float:
    """Return when the first sample was taken, in seconds since the epoch."""
    times = [np.frombuffer(tracking.samples.samples([])[2])]
    if tracking.samples.ticks is not None:
        times.append(np.frombuffer(tracking.samples.ticks.floats("time")))
    return float(min((series.min() for series in times if series.size), default=0.0))


def counts_of(tracking: TrackingData) -> tuple[Floats, Floats] | None:
    """Return seconds since the first sample and the number of workers."""
    ticks = tracking.samples.ticks
    if ticks is None or not ticks.num_rows:
        return None
    seconds, counts = (
        np.frombuffer(ticks.floats("time")),
        np.frombuffer(ticks.floats("worker_count")),
    )
    known = ~np.isnan(counts)
    return (seconds[known] - start_of(tracking), counts[known]) if known.any() else None


def mean(groups: Sequence[Floats]) -> list[float]:
    """Mean of each group."""
    return [float(group.mean()) for group in groups]


def lowest(groups: Sequence[Floats]) -> list[float]:
    """Smallest of each group."""
    return [float(group.min()) for group in groups]


def highest(groups: Sequence[Floats]) -> list[float]:
    """Largest of each group."""
    return [float(group.max()) for group in groups]


def total(groups: Sequence[Floats]) -> list[float]:
    """Sum of each group."""
    return [float(group.sum()) for group in groups]


def marker_of(seconds: Floats) -> str:
    """A single sample makes no line and needs a point."""
    return "o" if seconds.size == 1 else ""


def draw_mean(axes: Axes, samples: Samples, values: Floats) -> None:
    """Draw the mean over the workers, and the band from the lowest to the highest."""
    seconds, (means, lows, highs) = samples.by_time(values, mean, lowest, highest)
    unit = time_axis(axes, seconds)
    count = len(samples.of_each(values))
    axes.fill_between(
        seconds / unit, lows, highs, color=BLUE, alpha=0.18, lw=0, label="lowest to highest"
    )
    axes.plot(
        seconds / unit,
        means,
        color=BLUE,
        marker=marker_of(seconds),
        label=f"mean of {count:,} workers" if count > 1 else "the one worker",
    )
    axes.legend(loc="best")


def draw_each(axes: Axes, samples: Samples, values: Floats, *, steps: bool) -> None:
    """Draw a line per worker, each named."""
    each = samples.of_each(values)
    unit = time_axis(axes, samples.seconds[~np.isnan(values)])
    for index, (name, seconds, series) in enumerate(each):
        axes.plot(
            seconds / unit,
            series,
            color=PALETTE[index % len(PALETTE)],
            linestyle=("-", "--", ":")[index // len(PALETTE) % 3],
            drawstyle="steps-post" if steps else "default",
            # Lines often lie on each other: those below are wider, so all can be seen.
            linewidth=1.4 + 2.2 * (1 - (index + 1) / len(each)),
            marker=marker_of(seconds),
            label=_short(name),
        )
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)


def draw_map(axes: Axes, samples: Samples, values: Floats, *, label: str, most: float) -> None:
    """Draw a row per worker, with its values as colours; the workers with most are on top."""
    known = ~np.isnan(values)
    seconds, column = np.unique(samples.seconds[known], return_inverse=True)
    unit = time_axis(axes, seconds)
    cells = np.full((len(samples.workers), seconds.size), np.nan)
    cells[samples.worker[known], column] = values[known]
    cells = cells[~np.isnan(cells).all(axis=1)]
    cells = cells[np.argsort(np.nanmean(cells, axis=1), kind="stable")]
    # A sample holds until the next one.
    last = seconds[-1] + (float(np.median(np.diff(seconds))) if seconds.size > 1 else unit)
    mesh = axes.pcolormesh(
        np.append(seconds, last) / unit,
        np.arange(len(cells) + 1),
        np.ma.masked_invalid(cells),
        cmap="viridis",
        vmin=0,
        vmax=most,
        rasterized=True,
    )
    axes.set_xlim(0, last / unit)
    axes.set_ylabel(f"{len(cells):,} workers, by their mean")
    axes.grid(visible=False)
    count_axis(axes.yaxis)
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.colorbar(mesh, ax=axes, label=label, pad=0.02)


def _short(worker: str) -> str:
    address = worker.split("://", 1)[-1]
    return address if len(address) <= 28 else f"…{address[-27:]}"
