"""``_roastcoffea_current_chunk``: where users add keys of their own to a row."""

from __future__ import annotations

import threading
from collections.abc import Iterator, MutableMapping
from typing import Any

from roastcoffea import _core
from roastcoffea.warn import warn_once

#: The attribute of the processor.
CURRENT = "_roastcoffea_current_chunk"

_thread = threading.local()
_lock = threading.Lock()


class CurrentChunk(MutableMapping[str, Any]):
    """The row of whichever chunk the calling thread works on.

    One object serves all threads, because threads may share a processor; it
    goes with the last of them.
    """

    def __init__(self) -> None:
        self.users = 0

    def __getitem__(self, key: str) -> Any:
        return _row()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        _row()[key] = value
        chunk = _core.current_chunk()
        if chunk is not None:
            chunk.set_extra(str(key), value)

    def __delitem__(self, key: str) -> None:
        del _row()[key]
        chunk = _core.current_chunk()
        if chunk is not None:
            chunk.set_extra(str(key), None)

    def __iter__(self) -> Iterator[str]:
        return iter(_row())

    def __len__(self) -> int:
        return len(_row())

    def __reduce__(self) -> tuple[type[CurrentChunk], tuple[()]]:
        return CurrentChunk, ()


def _row() -> dict[str, Any]:
    row: dict[str, Any] | None = getattr(_thread, "row", None)
    return {} if row is None else row


class current_chunk_on:  # noqa: N801
    """Gives a processor its current chunk while it works on one."""

    __slots__ = ("_before", "_current", "_processor")

    def __init__(self, processor: Any) -> None:
        self._processor = processor

    def __enter__(self) -> None:
        self._before = getattr(_thread, "row", None)
        if self._before is None:
            _thread.row = {}
        self._current = _give(self._processor)

    def __exit__(self, *_exception: object) -> None:
        _thread.row = self._before
        if self._current is not None:
            _take_back(self._processor, self._current)


def _give(processor: Any) -> CurrentChunk | None:
    with _lock:
        current = getattr(processor, CURRENT, None)
        if not isinstance(current, CurrentChunk):
            current = CurrentChunk()
            try:
                setattr(processor, CURRENT, current)
            except Exception:  # noqa: BLE001
                warn_once(
                    f"a {type(processor).__name__} takes no attributes, so it has no {CURRENT}"
                )
                return None
        current.users += 1
        return current


def _take_back(processor: Any, current: CurrentChunk) -> None:
    with _lock:
        current.users -= 1
        if current.users == 0 and getattr(processor, CURRENT, None) is current:
            delattr(processor, CURRENT)
