"""The highest resident memory of this process.

Not from getrusage: that begins with what the process had that started this one.
"""

from __future__ import annotations

from pathlib import Path


def peak_bytes() -> int:
    """Return the highest since the process began, or since it was told to forget."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak) * 1024


def forget_peak() -> int:
    """Return what the process has now, and let its peak begin there."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()
