"""Makes the page on performance from the numbers of a benchmark run.

`make docs-performance` writes the numbers, `docs/performance.json`. Every build of the pages
makes the tables in `docs/_generated/performance` and the plots in `docs/_pictures/performance`
from them, so that a page never shows a number that was not measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parents[1]
NUMBERS = DOCS / "performance.json"

#: What a plot is drawn against.
VARIED = ("chunks", "workers", "hours")
STEPS = ("simulate", "load", "analyse", "report", "save")
COLORS = ("#888888", "#0072b2", "#d55e00", "#009e73", "#cc79a7")

Row = dict[str, Any]


def make() -> None:
    """Write the tables and draw the plots."""
    document = json.loads(NUMBERS.read_text())
    generated = DOCS / "_generated" / "performance"
    generated.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = document["rows"]
    (generated / "budgets.md").write_text(budgets(document))
    (generated / "growth.md").write_text(growth(rows))
    pictures = DOCS / "_pictures" / "performance"
    pictures.mkdir(parents=True, exist_ok=True)
    for varied in VARIED:
        draw(rows, varied).savefig(pictures / f"{varied}.png", dpi=110)


def budgets(document: dict[str, Any]) -> str:
    """Return every figure but those of growth as a table."""
    lines = [
        f"Measured on {document['build']}, in {document['secs']:.0f} seconds.",
        "",
        "| what | measured | over | ratio | budget | |",
        "|---|--:|---|--:|--:|---|",
    ]
    topic = None
    for row in document["rows"]:
        if "at" in row:
            continue
        if row["topic"] != topic:
            topic = row["topic"]
            lines.append(f"| **{topic}** | | | | | |")
        unit = row["unit"]
        reference = f"{number(row['reference_measured'])} {unit}: {row['reference']}"
        cells = (
            row["what"],
            f"{number(row['measured'])} {unit}",
            reference,
            number(row["ratio"])
            + (f" ± {number(row['uncertainty'])}" if "uncertainty" in row else ""),
            "" if row["budget"] is None else number(row["budget"]),
            row["verdict"],
        )
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def growth(rows: Iterable[Row]) -> str:
    """Return CPU time and memory of every step at every size as a table."""
    sizes: dict[tuple[float, float, float], dict[str, Row]] = {}
    for row in rows:
        if "at" in row:
            at = row["at"]
            size = (at["chunks"], at["workers"], at["hours"])
            sizes.setdefault(size, {})[at["step"]] = row
    steps = " | ".join(STEPS)
    lines = [
        f"| chunks | workers | hours | {steps} | memory | on disk |",
        f"|{'--:|' * (len(STEPS) + 5)}",
    ]
    for (chunks, workers, hours), of_step in sorted(sizes.items()):
        secs = " | ".join(f"{number(of_step[step]['measured'])} s" for step in STEPS)
        peak = max(row["at"]["peak_mb"] for step, row in of_step.items() if step != "simulate")
        stored = of_step["load"]["at"]["stored_mb"]
        lines.append(
            f"| {chunks:,.0f} | {workers:,.0f} | {hours:g} | {secs} | {number(peak)} MB | "
            f"{number(stored)} MB |"
        )
    return "\n".join(lines) + "\n"


def draw(rows: Iterable[Row], varied: str) -> Figure:
    """Draw CPU time and memory of every step against one size, where the others stay the same."""
    others = [name for name in VARIED if name != varied]
    series: dict[tuple[float, ...], list[Row]] = {}
    for row in rows:
        if "at" in row:
            series.setdefault(tuple(row["at"][name] for name in others), []).append(row)
    stays, chosen = max(series.items(), key=lambda found: len(found[1]))
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    for step, color in zip(STEPS, COLORS, strict=True):
        of_step = sorted(
            (row for row in chosen if row["at"]["step"] == step),
            key=lambda row: float(row["at"][varied]),
        )
        sizes = [float(row["at"][varied]) for row in of_step]
        curves: tuple[tuple[Axes, Callable[[Row], float]], ...] = (
            (time_axes, lambda row: float(row["measured"])),
            (memory_axes, lambda row: float(row["at"]["peak_mb"])),
        )
        for axes, value in curves:
            axes.plot(sizes, [value(row) for row in of_step], "o-", color=color, label=step)
    for axes, what in ((time_axes, "CPU time (s)"), (memory_axes, "Peak memory (MB)")):
        axes.set(xscale="log", yscale="log", xlabel=varied.capitalize(), ylabel=what)
        axes.grid(visible=True, which="both", alpha=0.25)
    time_axes.legend(fontsize="small")
    fixed = ", ".join(f"{value:,.0f} {name}" for name, value in zip(others, stays, strict=True))
    figure.suptitle(f"At {fixed}", fontsize="medium")
    return figure


def number(value: float) -> str:
    """Write a number with three digits that mean something."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 0.001 or value == 0 else f"{value:.1e}"


if __name__ == "__main__":
    make()
