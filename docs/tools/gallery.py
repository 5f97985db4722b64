"""Draws every plot of the package, and writes the page part that shows them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from roastcoffea.visualization import plots

#: What most people look for; the others follow by name.
FIRST = (
    "plot_ledger",
    "plot_throughput_timeline",
    "plot_runtime_vs_events",
    "plot_runtime_distribution",
    "plot_scaling",
)


def summary(function: Callable[..., Any]) -> str:
    """Return the first sentence of what a function says of itself."""
    return (inspect.getdoc(function) or "").split("\n\n", 1)[0].replace("\n", " ")


def draw(run: Path, sizes: Sequence[Path], pictures: Path) -> str:
    """Draw each plot into `pictures`; return the Markdown that shows them."""
    plt.switch_backend("agg")
    pictures.mkdir(parents=True, exist_ok=True)
    parts = []
    for name in (*FIRST, *sorted(set(plots.__all__) - set(FIRST))):
        function = getattr(plots, name)
        path = pictures / f"{name}.png"
        figure, _ = function(list(sizes) if name == "plot_scaling" else run)
        figure.savefig(path, dpi=100)
        plt.close(figure)
        parts.append(
            f"## {name}\n\n{summary(function)}\n\n"
            f"```{{image}} _pictures/plots/{path.name}\n:alt: {name}\n```\n"
        )
    return "\n".join(parts)
