"""What goes wrong on a worker: a warning there, and a note in the chunk's row."""

from __future__ import annotations

import warnings

from roastcoffea import _core

#: The row's key under which the collector finds the sentence for its notes.
WARNING_KEY = "roastcoffea_warning"

_said: set[str] = set()


def warn_once(sentence: str) -> None:
    """Tell of something that costs columns: once per process, and in the current row."""
    chunk = _core.current_chunk()
    if chunk is not None:
        chunk.set_extra(WARNING_KEY, sentence)
    if sentence not in _said:
        _said.add(sentence)
        warnings.warn(f"roastcoffea: {sentence}", RuntimeWarning, stacklevel=3)
