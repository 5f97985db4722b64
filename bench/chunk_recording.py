"""Recording one chunk of a 1600-branch tree of which 60 branches are read.

The columns come out of memory, through the executors that uproot would use, so that nothing but
the recording differs between the two; what reading them from the file costs is the reference.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from coffea.nanoevents import BaseSchema, NanoEventsFactory

from bench.material import READ_BRANCHES, WIDE_BRANCHES, wide_root_file
from bench.row import Row
from bench.timing import medians, timed, uncertainty
from roastcoffea.recording import record_process

CHUNKS_PER_TURN = 10
TURNS = 30
TURNS_QUICK = 10


class WideChunk:
    """A chunk of real events whose columns can be read again and again."""

    def __init__(self, path: Path) -> None:
        factory = NanoEventsFactory.from_root({str(path): "Events"}, schemaclass=BaseSchema)
        self.events = factory.events()
        mapping = self.events.attrs["@events_factory"]._mapping
        tree = next(value for value in mapping._cache.values() if hasattr(value, "num_entries"))
        self._handles = [tree[f"branch_{index * 20:04d}"] for index in range(READ_BRANCHES)]
        self._array = self._handles[0].array()
        self._mapping = mapping
        self._as_it_was = dict(vars(mapping))

    def from_file(self) -> None:
        """Read the columns as coffea does."""
        for handle in self._handles:
            self._mapping.extract_column(handle, 0, len(self._array), allow_missing=False)

    def from_memory(self) -> None:
        """Hand out a column that is there already, passing where its baskets would."""
        self._mapping.extract_column = self._extract
        try:
            self._read_all()
        finally:
            self.restore()

    def recorded(self, process: Callable[[], object]) -> None:
        """Record one chunk, down to the bytes that travel."""
        self._mapping.extract_column = self._extract
        try:
            _, log = record_process(process, self, self.events)
            assert log is not None
            log.to_bytes()
        finally:
            self.restore()

    def _read_all(self) -> None:
        for handle in self._handles:
            self._mapping.extract_column(handle, 0, 100, allow_missing=False)

    def _extract(self, handle: Any, start: int, stop: int, allow_missing: object) -> Any:
        del handle, start, stop, allow_missing
        self._mapping.decompression_executor.submit(_nothing)
        self._mapping.interpretation_executor.submit(_nothing)
        return self._array

    def restore(self) -> None:
        """Take everything away that recording has put on the mapping."""
        vars(self._mapping).clear()
        vars(self._mapping).update(self._as_it_was)


def _nothing() -> None:
    pass


def rows(*, quick: bool) -> Iterator[Row]:
    """Record chunks that read 60 columns, and chunks that read none."""
    with tempfile.TemporaryDirectory() as directory:
        chunk = WideChunk(wide_root_file(Path(directory)))
        jobs: tuple[Callable[[], None], ...] = (
            chunk.from_file,
            chunk.from_memory,
            lambda: chunk.recorded(chunk._read_all),
            lambda: chunk.recorded(_nothing),
        )
        for warm in jobs:
            warm()
        turns = [[_secs(job) for job in jobs] for _ in range(TURNS_QUICK if quick else TURNS)]
    # A chunk that reads nothing and is not recorded costs nothing.
    full = [(recorded - bare, reads) for reads, bare, recorded, _ in turns]
    empty = [(recorded, reads) for reads, _, _, recorded in turns]
    for what, costs, design_secs, design in (
        (
            f"a chunk that reads {READ_BRANCHES} of {WIDE_BRANCHES} branches",
            full,
            400e-6,
            "≤ 100 µs + 5 µs per branch",
        ),
        ("a chunk that reads nothing", empty, 100e-6, "≤ 100 µs"),
    ):
        both = medians(costs)
        yield Row(
            topic="chunk recording",
            what=what,
            measured=both.measured * 1e6,
            unit="µs",
            reference=f"reading {READ_BRANCHES} branches",
            reference_measured=both.reference * 1e6,
            ratio=both.ratio,
            uncertainty=uncertainty([cost / reads for cost, reads in costs]),
            # Reading sixty small columns takes uproot 3 ms on the machine that the design's
            # microseconds are meant for, when it is quiet.
            budget=design_secs / 3.0e-3,
            design=design,
        )


def _secs(job: Callable[[], None]) -> float:
    """Time a job, a few times in a row."""

    def run() -> None:
        for _ in range(CHUNKS_PER_TURN):
            job()

    return timed(run, clock=time.thread_time) / CHUNKS_PER_TURN
