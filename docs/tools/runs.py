"""Makes the simulated runs that the pages show, always the same ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("roastcoffea")

#: Name of the run, and what `roastcoffea simulate` is told.
RUNS = {
    "run": "--preset setup-dominated --workers 12 --threads 2 --chunks 1500 --datasets 4 "
    "--sections 5 --stragglers 1%",
    "before": "--preset setup-dominated --workers 8 --events 1000000 --chunksize 2000 --seed 1",
    "after": "--preset setup-dominated --workers 8 --events 1000000 --chunksize 20000 --seed 2",
    "workers-4": "--workers 4 --chunks 200 --seed 4",
    "workers-8": "--workers 8 --chunks 200 --seed 8",
    "workers-16": "--workers 16 --chunks 200 --seed 16",
}


def simulate(directory: Path, *names: str) -> list[Path]:
    """Simulate the runs of these names, or all of them, and return their directories."""
    made = []
    for name in names or RUNS:
        options = ["-o", str(directory), "--name", name, "--force", *RUNS[name].split()]
        subprocess.run([PROGRAM, "simulate", *options], check=True, stdout=subprocess.DEVNULL)
        made.append(directory / name)
    return made
