"""The summary in a terminal."""

from __future__ import annotations

from typing import Any, TextIO


def print_summary(measurement: Any, *, file: TextIO | None = None) -> None:
    """Print the summary of a measurement or of a finished collector."""
    measurement.print_summary(file=file)
