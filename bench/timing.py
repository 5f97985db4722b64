"""Timing two things in turns, so that a busy machine is busy for both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]


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
    turns: list[tuple[float, float]] = []
    for turn in range(repeats):
        if turn % 2:
            below = reference()
            turns.append((measured(), below))
        else:
            above = measured()
            turns.append((above, reference()))
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
