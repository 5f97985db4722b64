"""Warnings from workers: one per sentence and process."""

from __future__ import annotations

import warnings

_said: set[str] = set()


def warn_once(sentence: str) -> None:
    """Warn of something that costs columns, once per process."""
    if sentence not in _said:
        _said.add(sentence)
        warnings.warn(f"roastcoffea: {sentence}", RuntimeWarning, stacklevel=3)
