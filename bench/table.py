"""The benchmark table as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.row import Row

_HEADINGS = ("what", "measured", "over", "ratio", "budget", "design", "verdict")
_RIGHT = frozenset({"measured", "ratio", "budget"})


def text(rows: Sequence[Row]) -> str:
    """Lay the rows out in columns, topic by topic."""
    cells = [_HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADINGS))]
    lines = [_line(_HEADINGS, widths), _line(["-" * width for width in widths], widths)]
    topic = None
    for row, line in zip(rows, cells[1:], strict=True):
        if row.topic != topic:
            topic = row.topic
            lines.append(f"\n{topic}")
        lines.append(_line(line, widths))
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.what,
        f"{number(row.measured)} {row.unit}",
        f"{number(row.reference_measured)} {row.unit} {row.reference}",
        number(row.ratio) + ("" if row.uncertainty is None else f" ± {number(row.uncertainty)}"),
        "" if row.budget is None else number(row.budget),
        row.design or "",
        row.verdict.value,
    )


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    padded = (
        cell.rjust(width) if heading in _RIGHT else cell.ljust(width)
        for cell, width, heading in zip(cells, widths, _HEADINGS, strict=True)
    )
    return "  ".join(padded).rstrip()


def number(value: float) -> str:
    """Write a number with three digits that mean something."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) >= 0.001:
        return f"{value:.3g}"
    return f"{value:.1e}"
