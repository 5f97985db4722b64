"""Where a plot is drawn: its style, its axes and its file.

The style holds for one plot only; matplotlib's own settings stay as they are.
What cannot be drawn for want of data is a figure that says so, and how to get it.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

Plot: TypeAlias = tuple[Figure, Axes]
OutputPath: TypeAlias = str | os.PathLike[str] | None
FigureSize: TypeAlias = tuple[float, float] | None
Floats: TypeAlias = npt.NDArray[np.float64]

#: Okabe and Ito's colours, which people with any colour vision tell apart.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442")
BLUE, ORANGE, GREEN, PINK, AMBER, SKY, YELLOW = PALETTE
GREY = "#7f7f7f"

DOTS_PER_INCH = 220
_STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#444444",
    "axes.grid": True,
    "axes.labelsize": 11,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "font.size": 10,
    "grid.alpha": 0.6,
    "grid.color": "#d5d5d5",
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "svg.fonttype": "none",
}


@contextmanager
def canvas(
    output_path: OutputPath,
    *,
    ax: Axes | None,
    figsize: FigureSize,
    title: str,
) -> Iterator[Plot]:
    """Give the axes to draw on; afterwards set the title and write the file.

    Without ``ax`` the figure is pyplot's, so a notebook shows it once. Where no
    one could look at it any more (written, and no screen), pyplot forgets it.
    """
    target = _target(output_path)
    # Made before the style is set: a notebook's backend, when first used, changes settings
    # that have to outlast it.
    made = plt.figure(figsize=figsize, layout="constrained") if ax is None else None
    with plt.rc_context(_STYLE):  # type: ignore[arg-type]  # one of many hundred literal names
        axes = made.add_subplot() if made is not None else ax
        assert axes is not None
        figure = axes.get_figure(root=True)
        assert figure is not None
        # Ticks are made when they are drawn, which is after the style's time.
        axes.tick_params(labelsize=10, colors="#333333")
        try:
            yield figure, axes
            axes.set_title(title)
            if target is not None:
                _write(figure, target)
        except BaseException:
            if made is not None:
                plt.close(made)
            raise
        if made is not None and target is not None and not _has_screen():
            plt.close(made)


def say(axes: Axes, sentence: str) -> None:
    """Write into empty axes what is missing and how to get it."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.text(
        0.5,
        0.5,
        textwrap.fill(sentence, 60),
        transform=axes.transAxes,
        ha="center",
        va="center",
        color="#555555",
        fontsize=11,
    )


def time_axis(axes: Axes, seconds: Floats) -> float:
    """Label the time axis, from the start of the run, and return the seconds in its unit."""
    longest = float(np.nanmax(seconds)) if seconds.size else 0.0
    unit, name = next(
        (
            (size, name)
            for size, name in ((3600.0, "hours"), (60.0, "minutes"))
            if longest > 2 * size
        ),
        (1.0, "seconds"),
    )
    axes.set_xlabel(f"Time since the start ({name})")
    axes.set_xlim(0, longest / unit if longest > 0 else 1)
    return unit


def count_axis(axis: Axis) -> None:
    """Show whole numbers with thousands separators."""
    axis.set_major_locator(MaxNLocator(integer=True, nbins="auto"))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def number_axis(axis: Axis) -> None:
    """Show numbers with thousands separators."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def from_zero(axes: Axes, highest: float, *, at_least: float = 0.0) -> None:
    """Let the y axis begin at zero and leave some air above the highest value."""
    top = max(highest * 1.08, at_least)
    axes.set_ylim(0, top if top > 0 else 1)


def byte_unit(highest: float) -> tuple[float, str]:
    """Return the unit in which so many bytes are read best: its bytes and its name."""
    for size, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if highest >= size:
            return size, name
    return 1.0, "bytes"


def seconds_text(seconds: float) -> str:
    """Say a duration with three digits, in the unit that suits it."""
    for size, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:,.3g} {name}" if seconds < 1000 else f"{seconds:,.0f} s"
    return f"{seconds:.3g} s"


def _target(output_path: OutputPath) -> Path | None:
    if output_path is None:
        return None
    target = Path(output_path)
    if not target.suffix:
        target = target.with_name(f"{target.name}.{mpl.rcParams['savefig.format']}")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"no such directory: make it first, or choose another output_path: {target.parent}"
        )
    if target.is_dir():
        raise IsADirectoryError(f"output_path is a directory; name a file in it: {target}")
    known = FigureCanvasBase.get_supported_filetypes()
    if target.suffix[1:].lower() not in known:
        raise ValueError(
            f"matplotlib cannot write {target.suffix!r} files; it knows {', '.join(sorted(known))}"
        )
    return target


def _write(figure: Figure, target: Path) -> None:
    half_written = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        figure.savefig(
            half_written,
            format=target.suffix[1:].lower(),
            dpi=DOTS_PER_INCH,
            bbox_inches="tight",
        )
        half_written.replace(target)
    finally:
        half_written.unlink(missing_ok=True)


def _has_screen() -> bool:
    """Whether pyplot may still show a figure: on a screen, or in a notebook."""
    return plt.isinteractive() or plt.get_backend().lower() not in {
        "agg", "cairo", "pdf", "pgf", "ps", "svg", "template",
    }  # fmt: skip
