"""The chunk rows of one run, from every side they come from.

Rows arrive while the run is on and are kept in Rust. With an output directory
they are also written to a spool beside the measurement to be, from which
``roastcoffea recover`` makes a measurement if this process is killed.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections.abc import Iterable, Mapping
from copy import copy
from pathlib import Path
from typing import Any

from roastcoffea import _core, carriers

#: The spool's description of its run.
SPOOL_HEADER = "spool.json"


class ChunkCollection:
    """Collects chunk rows, each once."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._log = _core.ChunkLog()
        self._given: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._spool: Path | None = None
        self._scratch: Path | None = None

    # -- while the run is on -------------------------------------------------

    def open_spool(self, path: Path, header: Mapping[str, Any]) -> None:
        """Write rows to this directory, too, as they arrive."""
        path.mkdir(parents=True)
        (path / SPOOL_HEADER).write_text(json.dumps(header, indent=1))
        self._spool = path

    def directories(self) -> list[str]:
        """Return where processes of this machine may leave rows, best first."""
        self._scratch = Path(tempfile.mkdtemp(prefix="roastcoffea-"))
        return [str(path) for path in (self._spool, self._scratch) if path is not None]

    def take(self, rows: Iterable[bytes]) -> None:
        """Take rows in as they arrive, and spool them."""
        arrived = list(rows)
        with self._lock:
            self._merge(arrived)
        if self._spool is not None:
            try:
                carriers.append_rows(self._spool / f"client{carriers.SPOOL_SUFFIX}", arrived)
            except OSError as error:
                self._note(
                    "Chunk rows could not be spooled to disk, so they would be lost if this "
                    f"process were killed ({error}); the measurement itself has them."
                )

    def gather(self) -> None:
        """Read what processes of this machine left behind."""
        for directory in (self._spool, self._scratch):
            if directory is None:
                continue
            try:
                rows = carriers.spooled_rows(directory)
            except OSError as error:
                self._note(f"Chunk rows in {directory} could not be read ({error}).")
                continue
            with self._lock:
                self._merge(rows)
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = None

    def remove_spool(self) -> None:
        """Remove the spool once its rows are in a saved measurement."""
        if self._spool is not None:
            shutil.rmtree(self._spool, ignore_errors=True)
            self._spool = None

    def _merge(self, rows: list[bytes]) -> None:
        for error in self._log.merge_all(rows):
            self._note(f"A chunk row arrived damaged and was left out ({error}).")

    # -- what users hand over ----------------------------------------------------

    def add(self, rows: Any) -> None:
        """Add a log, or rows as mappings; rows that are here already count once."""
        if isinstance(rows, _core.ChunkLog):
            with self._lock:
                self._log.merge(rows)
            return
        if isinstance(rows, Mapping):
            raise TypeError("chunk rows are a list of mappings, not one mapping")
        taken = list(rows)
        for row in taken:
            if not isinstance(row, Mapping):
                raise TypeError(f"a chunk row is a mapping, not a {type(row).__name__}")
        known = {_identity(row) for row in self.rows()} - {None}
        self._given.extend(dict(row) for row in taken if _identity(row) not in known)

    def add_section(self, section: Mapping[str, Any]) -> None:
        """Add a section to the newest row that was handed over."""
        if not isinstance(section, Mapping):
            raise TypeError(f"a section is a mapping, not a {type(section).__name__}")
        if not self._given:
            raise RuntimeError("there is no chunk yet: call record_chunk_metrics first")
        self._given[-1].setdefault("sections", []).append(dict(section))

    # -- what comes out ----------------------------------------------------------

    def log(self) -> _core.ChunkLog:
        """Return all rows as one log, which is not to be changed."""
        if not self._given:
            return self._log
        with self._lock:
            log = copy(self._log)
        for row in self._given:
            log.add_row(row)
        return log

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows as dicts."""
        return self.log().rows()

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


def _identity(row: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Identify an attempt by its chunk and start; ``None`` if the row does not say."""
    if row.get("t_start") is None:
        return None
    keys = ("dataset", "file", "entry_start", "entry_stop", "t_start")
    return tuple(row.get(key) for key in keys)
