"""Measurements on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from roastcoffea import _core
from roastcoffea.measurement import Measurement


def load_measurement(path: str | os.PathLike[str]) -> Measurement:
    """Load a measurement directory, also one that the original tool wrote.

    The header is read now, each table when it is first used.

    >>> metrics, start, end = load_measurement("measurements/ttbar")
    """
    return Measurement(_core.Measurement.load(path))


def save_measurement(
    measurement: Any,
    output_dir: str | os.PathLike[str],
    measurement_name: str | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Save a measurement or a finished collector, and return the path."""
    finished = measurement if isinstance(measurement, Measurement) else measurement.measurement
    saved: Path = finished.save(output_dir, measurement_name, overwrite=overwrite)
    return saved
