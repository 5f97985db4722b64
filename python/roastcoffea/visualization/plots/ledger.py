"""Where the core-seconds went."""

from __future__ import annotations

from matplotlib.axes import Axes

from roastcoffea import _core
from roastcoffea.visualization.plots.bars import bars_height, draw_bars
from roastcoffea.visualization.plots.canvas import FigureSize, OutputPath, Plot, canvas, say
from roastcoffea.visualization.plots.inputs import MetricsSource, metrics_of

_NO_LEDGER = (
    "No ledger. It needs chunks and samples of the workers: give the Runner to "
    "MetricsCollector and keep track_workers=True."
)
#: The colours of the summary in a notebook.
_COLORS = {
    "user": "#2e7d32",
    "reading": "#1565c0",
    "handling": "#7b1fa2",
    "failed": "#c62828",
    "idle": "#9e9e9e",
    "unexplained": "#f9a825",
}
#: Rows below this share stand in one bar; ``unexplained`` always has its own.
_SMALL_PERCENT = 0.5


def _shown(secs: float) -> str:
    return f"{secs:,.0f}" if secs >= 100 else f"{secs:.3g}"


def plot_ledger(
    metrics: MetricsSource,
    output_path: OutputPath = None,
    figsize: FigureSize = None,
    title: str | None = None,
    *,
    ax: Axes | None = None,
) -> Plot:
    """Draw where every core-second of the run went, the largest part first."""
    known = metrics_of(metrics) or {}
    ledger = known.get("ledger") or {}
    rows = [
        (label, float(ledger[key]), family)
        for key, label, family in _core.ledger_rows()
        if ledger.get(key) is not None
    ]
    available = sum(secs for _, secs, _ in rows)
    shown = [
        row
        for row in rows
        if row[2] == "unexplained" or (available and 100 * row[1] / available >= _SMALL_PERCENT)
    ]
    shown.sort(key=lambda row: -row[1])
    rest = [row for row in rows if row not in shown and row[1] > 0]
    if rest:
        shown.append((f"{len(rest)} smaller parts", sum(row[1] for row in rest), "idle"))
    heading = title or (f"Where {_shown(available)} core-seconds went" if available else "Ledger")
    size = figsize or (9, bars_height(len(shown)))
    with canvas(output_path, ax=ax, figsize=size, title=heading) as (figure, axes):
        if not available:
            say(axes, _NO_LEDGER)
        else:
            draw_bars(
                axes,
                [
                    (
                        label,
                        100 * secs / available,
                        f"{100 * secs / available:.1f} %  ({_shown(secs)} s)",
                    )
                    for label, secs, _ in shown
                ],
                colors=[_COLORS[family] for _, _, family in shown],
            )
            axes.set_xlabel("Share of the core time (%)")
    return figure, axes
