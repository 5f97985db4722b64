"""How chunk rows travel from where they are made to the collector.

On Dask a row rides with the task's completion to the plugin on the scheduler,
so that it costs no message of its own; that of a task which fails, or is not
wanted any more, goes ahead of it as an event. Local executors
append rows to a spool file of their process, so that neither an exception nor
a killed process takes finished rows away; in the collector's own process they
are handed over directly.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

#: Suffix of a process's spool file.
SPOOL_SUFFIX = ".rows"
_FRAME = "<I"

#: Takes the rows of a run that is collected in this very process.
_here: dict[str, Callable[[bytes], None]] = {}
if hasattr(os, "register_at_fork"):
    # A forked child would hand its rows to a copy of the collector that nobody asks.
    os.register_at_fork(after_in_child=_here.clear)


class Carrier(Protocol):
    """Takes rows away."""

    def send(self, row: bytes, *, task_ends_well: bool) -> None:
        """Send one row, in the bytes of a chunk log."""


class DaskCarrier:
    """Sends rows of this thread's task through the Dask worker that runs it."""

    def __init__(self, topic: str) -> None:
        distributed = sys.modules["distributed.worker"]
        self._topic = topic
        self._worker = distributed.get_worker()
        self._key = distributed.thread_state.key

    def send(self, row: bytes, *, task_ends_well: bool) -> None:
        """Send one row with the task's completion, or ahead of it if that would not take it."""
        task = self._running_task() if task_ends_well else None
        if task is None:
            self._worker.log_event(self._topic, {"row": row})
        else:
            task.metadata[self._topic] = row

    def _running_task(self) -> Any:
        """Return the task, if Dask is going to tell the scheduler that it has ended."""
        try:
            task = self._worker.state.tasks.get(self._key)
            # Whoever cancels a task does not want to hear of its end.
            return task if task.state in ("executing", "long-running") else None
        except AttributeError:
            return None


class SpoolCarrier:
    """Hands rows over in this process, or appends them to a file that it owns."""

    def __init__(self, run_id: str, directories: Iterable[str]) -> None:
        self._run_id = run_id
        self._directories = tuple(directories)

    def send(self, row: bytes, *, task_ends_well: bool) -> None:
        """Hand one row over, or append it to the first spool that takes it."""
        del task_ends_well
        take = _here.get(self._run_id)
        if take is not None:
            take(row)
            return
        failure: OSError | None = None
        for directory in self._directories:
            try:
                append_rows(Path(directory) / f"{os.getpid()}{SPOOL_SUFFIX}", [row])
            except OSError as error:
                failure = error
            else:
                return
        if failure is not None:
            raise failure


def collect_here(run_id: str, take: Callable[[bytes], None]) -> None:
    """Let chunks of this process hand their rows to ``take``."""
    _here[run_id] = take


def stop_collecting(run_id: str) -> None:
    """No longer take rows of this run."""
    _here.pop(run_id, None)


def append_rows(path: Path, rows: Iterable[bytes]) -> None:
    """Append rows to a spool file in one write, so that a row is there whole or not at all."""
    frames = b"".join(struct.pack(_FRAME, len(row)) + row for row in rows)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        written = os.write(descriptor, frames)
        if written != len(frames):
            # A full disk takes a part: cut it off again, or later rows could not be read.
            os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_END) - written)
            raise OSError(f"only {written} of {len(frames)} bytes could be written: {path}")
    finally:
        os.close(descriptor)


def spooled_rows(directory: Path) -> list[bytes]:
    """Read every whole row of a spool; one that was cut short is left out."""
    rows: list[bytes] = []
    for path in sorted(directory.glob(f"*{SPOOL_SUFFIX}")):
        data = path.read_bytes()
        position = 0
        while position + 4 <= len(data):
            (length,) = struct.unpack_from(_FRAME, data, position)
            position += 4
            if position + length > len(data):
                break
            rows.append(data[position : position + length])
            position += length
    return rows


def make_carrier(kind: str, place: Any) -> Carrier:
    """Build a carrier from what a work function brings along."""
    if kind == "dask":
        return DaskCarrier(place)
    run_id, directories = place
    return SpoolCarrier(run_id, directories)
