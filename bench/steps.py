"""What is done with a saved measurement, step by step, in a process of its own.

Prints CPU and wall seconds of each step and the peak of the process's memory after it, and what
gzip takes for the same files: one core, in proportion to what is stored, with no memory to speak
of, so that a step which grows faster than its input shows.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.memory import peak_bytes
from roastcoffea import load_measurement
from roastcoffea._core import Measurement as CoreMeasurement

#: Packed for the reference; the rest is in proportion.
_PACKED_BYTES = 16_000_000


def take(path: Path) -> dict[str, Any]:
    """Load, analyse, report and save a measurement."""
    steps: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        steps["header"] = _timed(lambda: load_measurement(path).metrics)
        one_read = _bytes_read()
        load_measurement(path).table("ticks")
        one_read = _bytes_read() - one_read
        core = CoreMeasurement.load(str(path))
        steps["load"] = _timed(lambda: [core.table(table) for table in core.table_names()])
        steps["analyse"] = _timed(core.compute_metrics)
        page = directory / "report.html"
        steps["report"] = _timed(lambda: core.write_report(str(page)))
        steps["save"] = _timed(lambda: core.save(str(directory), "again"))
        page_bytes = page.stat().st_size
    return {
        "steps": steps,
        "page_bytes": page_bytes,
        "one_table_bytes_read": one_read,
        "packed_secs": packed_secs(path),
    }


def packed_secs(path: Path) -> float:
    """Return the CPU seconds of packing a measurement's files with gzip's algorithm."""
    files = sorted(path.iterdir(), key=lambda file: file.stat().st_size)
    size = sum(file.stat().st_size for file in files)
    data = files[-1].read_bytes()[:_PACKED_BYTES]
    return _timed(lambda: zlib.compress(data, 6))["cpu_secs"] * size / len(data)


def _timed(work: Callable[[], object]) -> dict[str, float]:
    began, cpu_began = time.perf_counter(), time.process_time()
    work()
    return {
        "wall_secs": time.perf_counter() - began,
        "cpu_secs": time.process_time() - cpu_began,
        "peak_mb": peak_bytes() / 1e6,
    }


def _bytes_read() -> int:
    text = Path("/proc/self/io").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("rchar")).split()[1])


if __name__ == "__main__":
    print(json.dumps(take(Path(sys.argv[1]))))
