"""Timing two things in turns, so that a busy machine is busy for both."""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

Clock = Callable[[], float]
T = TypeVar("T")

#: Student's t for so many values: standard errors within which their mean lies nineteen times of
#: twenty.
_STUDENT_T: Final = {3: 4.30, 4: 3.18, 5: 2.78}


@dataclass(frozen=True)
class Pair:
    """Medians of two things timed in turns; the ratio is the median of each turn's ratio."""

    measured: float
    reference: float
    ratio: float


def pair(
    measured: Callable[[], object],
    reference: Callable[[], object],
    *,
    repeats: int,
    clock: Clock = time.perf_counter,
) -> Pair:
    """Time both by turns, each first as often as the other, in seconds."""
    for warm in (measured, reference):
        warm()
    return pair_of(
        lambda: timed(measured, clock=clock),
        lambda: timed(reference, clock=clock),
        repeats=repeats,
    )


def pair_of(measured: Callable[[], float], reference: Callable[[], float], *, repeats: int) -> Pair:
    """Take both figures by turns; each function gives its own."""
    return medians(in_turns(measured, reference, repeats=repeats))


def in_turns(
    measured: Callable[[], T], reference: Callable[[], T], *, repeats: int
) -> list[tuple[T, T]]:
    """Do both, each first as often as the other, and return what they gave."""
    turns: list[tuple[T, T]] = []
    for turn in range(repeats):
        if turn % 2:
            below = reference()
            turns.append((measured(), below))
        else:
            above = measured()
            turns.append((above, reference()))
    return turns


def medians(turns: Sequence[tuple[float, float]]) -> Pair:
    """Return the middle of what was measured, of its reference, and of their ratios."""
    return Pair(
        measured=statistics.median(above for above, _ in turns),
        reference=statistics.median(below for _, below in turns),
        ratio=statistics.median(above / below for above, below in turns),
    )


def timed(work: Callable[[], object], *, clock: Clock = time.perf_counter) -> float:
    """Return how long a call took, in seconds."""
    began = clock()
    work()
    return clock() - began


def uncertainty(values: Sequence[float]) -> float | None:
    """Return how far the median of such values may be off, in nineteen of twenty cases.

    From the values themselves, counted from both ends, because now and then one is far off. Of so
    few that the ends tell nothing, from their spread.
    """
    count = len(values)
    if count in _STUDENT_T:
        return _STUDENT_T[count] * statistics.stdev(values) / math.sqrt(count)
    if count < min(_STUDENT_T):
        return None
    # How often at most so many of them lie on one side of what they are about.
    chances = itertools.accumulate(math.comb(count, below) / (1 << count) for below in range(count))
    beyond = sum(2 * chance <= 1 / 20 for chance in chances)
    ordered, middle = sorted(values), statistics.median(values)
    return max(middle - ordered[beyond - 1], ordered[-beyond] - middle)
