"""One row of the benchmark table, and whether it is within its budget.

Absolute times do not hold between machines, so a budget bounds a ratio: what was measured over a
reference measured in the same run. Where the design names an absolute figure, it stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

# So many times its budget fails the run, on a noisy machine too.
TOLERANCE: Final = 1.5


class Verdict(Enum):
    """How a ratio stands to its budget."""

    MET = "met"
    UNCLEAR = "unclear"
    OVER = "over"
    FAILED = "FAILED"
    SHOWN = "-"


def _limit(budget: float) -> float:
    """Return the ratio that fails the run."""
    # Of something without monitoring, what comes on top of it is what may be half again as much.
    return 1 + TOLERANCE * (budget - 1) if 1 < budget < 2 else TOLERANCE * budget


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure: what was measured, over what, and what it may be."""

    topic: str
    what: str
    measured: float
    unit: str
    reference: str
    reference_measured: float
    ratio: float
    #: The largest ratio that is within budget; None where none is set.
    budget: float | None = None
    #: The design's absolute figure, in words.
    design: str | None = None
    #: By how much the ratio may be off; unclear is what lies on both sides of the budget.
    uncertainty: float | None = None
    #: Whether other rows tell what noise hides here. This one then fails only where it is over
    #: for sure.
    is_told_elsewhere: bool = False
    #: What the figure grows with, for plots: the step, and the size of the run.
    at: Mapping[str, float | str] | None = None

    @property
    def verdict(self) -> Verdict:
        """Judge the ratio."""
        if self.budget is None:
            return Verdict.SHOWN
        uncertainty = self.uncertainty or 0.0
        if self.ratio + uncertainty <= self.budget:
            return Verdict.MET
        at_least = self.ratio - uncertainty
        if at_least <= self.budget:
            return Verdict.SHOWN if self.is_told_elsewhere else Verdict.UNCLEAR
        return Verdict.OVER if at_least <= _limit(self.budget) else Verdict.FAILED

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return {
            "topic": self.topic,
            "what": self.what,
            "measured": self.measured,
            "unit": self.unit,
            "reference": self.reference,
            "reference_measured": self.reference_measured,
            "ratio": self.ratio,
            **({} if self.uncertainty is None else {"uncertainty": self.uncertainty}),
            "budget": self.budget,
            "design": self.design,
            "verdict": self.verdict.value,
            **({} if self.at is None else {"at": dict(self.at)}),
        }
