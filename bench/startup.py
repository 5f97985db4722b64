"""Importing roastcoffea, and the program's help, against a bare interpreter."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence

from bench.row import Row
from bench.timing import pair_of

# What a small typed package of the standard library's kind costs to import.
REFERENCE = "import dataclasses, json, pathlib, typing, uuid, warnings"


def rows(*, quick: bool) -> Iterator[Row]:
    """Take the CPU time of whole processes, started by turns."""
    repeats = 7 if quick else 25
    bare = _cpu_secs(["-c", "pass"])
    del bare  # the first start reads files from disk
    for what, arguments, design, budget in (
        ("import roastcoffea", ["-c", "import roastcoffea"], "≤ 50 ms", 1.0),
        ("roastcoffea --help", ["-m", "roastcoffea._program", "--help"], None, 1.0),
    ):
        both = pair_of(
            lambda arguments=arguments: _cpu_secs(arguments),  # type: ignore[misc]
            lambda: _cpu_secs(["-c", REFERENCE]),
            repeats=repeats,
        )
        yield Row(
            topic="startup",
            what=what,
            measured=both.measured * 1e3,
            unit="ms",
            reference=f"python -c '{REFERENCE}'",
            reference_measured=both.reference * 1e3,
            ratio=both.ratio,
            budget=budget,
            design=design,
        )


def _cpu_secs(arguments: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
