"""The demo, as `make demo` runs it: every core-second of it is accounted for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import data
from roastcoffea import load_measurement


def test_the_demo(tmp_path: Path) -> None:
    demo = data.PROJECT_ROOT / "examples" / "demo.py"
    done = subprocess.run(
        [sys.executable, demo, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "the Z boson: 91.2 GeV" in done.stdout
    (path,) = tmp_path.iterdir()
    assert f"roastcoffea show {path}" in done.stdout

    measurement = load_measurement(path)
    metrics = measurement.metrics
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] >= 40
    assert metrics["total_events"] == metrics["total_events_from_chunks"]
    ledger, available = metrics["ledger"], metrics["ledger_available_core_seconds"]
    assert abs(sum(ledger.values()) - available) < 1e-6 * available
    assert ledger["unexplained"] < 0.05 * available
    assert metrics["monitoring_overhead_percent"] < 1
    assert not measurement.notes
