"""How cost grows with chunks, with workers and with hours, on simulated runs.

One of the three varies, the other two stay. Each size has a process of its own; the CPU time of a
step is compared with gzip of the measurement's files, which grows with what there is to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bench.row import Row
from bench.simulated import Size, simulated, stepped

SIZES: Final = (
    Size(chunks=10_000, workers=1000, hours=1),
    Size(chunks=100_000, workers=1000, hours=1),
    Size(chunks=1_000_000, workers=1000, hours=1),
    Size(chunks=100_000, workers=100, hours=1),
    Size(chunks=100_000, workers=5000, hours=1),
    Size(chunks=100_000, workers=1000, hours=4),
    Size(chunks=1_000_000, workers=2000, hours=4),
)
QUICK: Final = SIZES[:2]
STEPS: Final = ("load", "analyse", "report", "save")
#: Steps together, in gzips of the files.
BUDGET: Final = 3.0


def rows(*, quick: bool) -> Iterator[Row]:
    """Take every step at every size."""
    for size in QUICK if quick else SIZES:
        path, making = simulated(size)
        figures = stepped(size)
        stored_mb = sum(file.stat().st_size for file in path.iterdir()) / 1e6
        at = {"chunks": size.chunks, "workers": size.workers, "hours": size.hours}
        yield Row(
            topic="growth",
            what=f"{size}: simulate",
            measured=making.cpu_secs,
            unit="s",
            reference="CPU time of gzip of the files",
            reference_measured=figures["packed_secs"],
            ratio=making.cpu_secs / figures["packed_secs"],
            at={**at, "step": "simulate", "peak_mb": making.peak_mb, "stored_mb": stored_mb},
        )
        for step in STEPS:
            cost = figures["steps"][step]
            yield Row(
                topic="growth",
                what=f"{size}: {step}",
                measured=cost["cpu_secs"],
                unit="s",
                reference="CPU time of gzip of the files",
                reference_measured=figures["packed_secs"],
                ratio=cost["cpu_secs"] / figures["packed_secs"],
                budget=BUDGET,
                at={**at, "step": step, "peak_mb": cost["peak_mb"], "stored_mb": stored_mb},
            )
