"""Makes the simulated runs that the pages show, always the same ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("roastcoffea")

#: Name of the run, and what `roastcoffea simulate` is told.
RUNS = {
    "run": "--workers 24 --threads 2 --chunks 1500 --datasets 4 --sections 5 --failures 1% "
    "--stragglers 2%",
    "before": "--workers 8 --chunks 200 --datasets 2 --seed 1",
    "after": "--workers 8 --chunks 200 --datasets 2 --seed 2",
    "workers-4": "--workers 4 --chunks 200 --seed 3",
    "workers-8": "--workers 8 --chunks 200 --seed 3",
    "workers-16": "--workers 16 --chunks 200 --seed 3",
}


def simulate(directory: Path, *names: str) -> list[Path]:
    """Simulate the runs of these names, or all of them, and return their directories."""
    made = []
    for name in names or RUNS:
        options = ["-o", str(directory), "--name", name, "--force", *RUNS[name].split()]
        subprocess.run([PROGRAM, "simulate", *options], check=True, stdout=subprocess.DEVNULL)
        made.append(directory / name)
    return made
