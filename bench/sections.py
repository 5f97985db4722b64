"""A section: entering and leaving, in a chunk and outside of one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bench.row import Row
from bench.timing import pair_of, timed
from roastcoffea import track_time
from roastcoffea._core import ChunkRecorder

SECTIONS = 900  # a chunk keeps a thousand one by one

_seconds: dict[str, float] = {}


@contextmanager
def two_clock_readings(processor: object, name: str) -> Iterator[None]:
    """Time a block the way one would by hand."""
    del processor
    began = time.perf_counter()
    try:
        yield
    finally:
        _seconds[name] = time.perf_counter() - began


def rows(*, quick: bool) -> Iterator[Row]:
    """Time many sections in one chunk, and as many outside of any."""
    repeats = 60 if quick else 200
    for what, work in (("a section in a chunk", _in_chunk), ("a section outside", _outside)):
        both = pair_of(work, lambda: _secs_of(_by_hand), repeats=repeats)
        yield Row(
            topic="sections",
            what=what,
            measured=both.measured / SECTIONS * 1e6,
            unit="µs",
            reference="a @contextmanager reading the clock twice",
            reference_measured=both.reference / SECTIONS * 1e6,
            ratio=both.ratio,
            budget=0.25,
            design="≤ 1/4",
        )


def _in_chunk() -> float:
    """Return the seconds of entering and leaving; the chunk around it is another topic."""
    recorder = ChunkRecorder(dataset="bench")
    recorder.start_phase("process")
    secs = _secs_of(_enter_and_leave)
    recorder.finish()
    return secs


def _outside() -> float:
    return _secs_of(_enter_and_leave)


def _secs_of(loop: Callable[[], None]) -> float:
    """Return what a loop takes beyond going round."""
    return timed(loop, clock=time.thread_time) - timed(_go_round, clock=time.thread_time)


def _go_round() -> None:
    for _ in range(SECTIONS):
        pass


def _enter_and_leave() -> None:
    for _ in range(SECTIONS):
        with track_time(None, "selection"):
            pass


def _by_hand() -> None:
    for _ in range(SECTIONS):
        with two_clock_readings(None, "selection"):
            pass
