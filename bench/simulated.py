"""Large measurements to work on, made by ``roastcoffea simulate``, each once in a run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_PROGRAM = "import sys; from roastcoffea._program import main; sys.exit(main())"

#: Kept until the benchmarks end.
_directory = tempfile.TemporaryDirectory(prefix="roastcoffea-bench-")


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large a run is."""

    chunks: int
    workers: int
    hours: float

    def __str__(self) -> str:
        return f"{self.chunks:,} chunks, {self.workers:,} workers, {self.hours:g} h"


@dataclass(frozen=True)
class Cost:
    """What a process took."""

    wall_secs: float
    cpu_secs: float
    peak_mb: float


@cache
def simulated(size: Size) -> tuple[Path, Cost]:
    """Simulate a run of this size; return its directory, and what that took."""
    name = f"{size.chunks}-{size.workers}-{size.hours:g}"
    options = {"chunks": size.chunks, "workers": size.workers, "hours": size.hours, "name": name}
    words = [f"--{option}={value}" for option, value in options.items()]
    cost = program("simulate", "-o", _directory.name, *words)
    return Path(_directory.name) / name, cost


def program(*arguments: str) -> Cost:
    """Run the program in a process of its own."""
    return Cost(**_measured([sys.executable, "-c", _PROGRAM, *arguments])[0])


@cache
def stepped(size: Size) -> dict[str, Any]:
    """Take the steps of :mod:`bench.steps` with a simulated run; return what they took."""
    command = [sys.executable, "-m", "bench.steps", str(simulated(size)[0])]
    found: dict[str, Any] = json.loads(_measured(command)[1])
    return found


# A child's child: the peak of RUSAGE_CHILDREN is that of the largest child so far.
_WATCH = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
wall = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cost = {
    "wall_secs": wall,
    "cpu_secs": used.ru_utime + used.ru_stime,
    "peak_mb": used.ru_maxrss * 1024 / 1e6,
}
sys.stdout.write(json.dumps(cost) + "\\n" + done.stdout.decode())
sys.exit(done.returncode)
"""


def _measured(command: list[str]) -> tuple[dict[str, float], str]:
    watched = [sys.executable, "-c", _WATCH, *command]
    done = subprocess.run(watched, check=True, stdout=subprocess.PIPE, text=True)
    cost, _, output = done.stdout.partition("\n")
    return json.loads(cost), output
