"""Saving, loading and printing measurements."""

from __future__ import annotations

from roastcoffea.export.measurements import load_measurement, save_measurement

__all__ = ["load_measurement", "save_measurement"]
