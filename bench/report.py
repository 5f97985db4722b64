"""The report of a large run: time, size, and what a browser takes to show and to zoom it.

The time of the whole command is compared with gzip of the measurement's files, which grows with
them and keeps one core busy. What the browser takes is compared with the report of a small run:
the page holds what a screen can show, so it must not grow with the run.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.row import Row
from bench.simulated import Size, program, simulated
from bench.steps import packed_secs
from bench.timing import pair_of

LARGE = Size(chunks=100_000, workers=1000, hours=1)
SMALL = Size(chunks=1_000, workers=10, hours=0.1)
WEB = Path(__file__).resolve().parents[1] / "web"
#: What 2 s on a quiet machine are in gzips of these files.
TIME_BUDGET = 2.0
#: The page of a large run has more bytes to parse, though no more to draw.
BROWSER_BUDGET = 5.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def rows(*, quick: bool) -> Iterator[Row]:
    """Write the page by turns with gzip, weigh it, and open it."""
    path, _ = simulated(LARGE)
    stored_mb = sum(file.stat().st_size for file in path.iterdir()) / 1e6
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "large.html"
        both = pair_of(
            lambda: program("report", str(path), "-o", str(page), "--force").cpu_secs,
            lambda: packed_secs(path),
            repeats=1 if quick else 3,
        )
        yield Row(
            topic="report",
            what=f"report of {LARGE}: CPU time of the command",
            measured=both.measured,
            unit="s",
            reference="gzip of the measurement's files",
            reference_measured=both.reference,
            ratio=both.ratio,
            budget=TIME_BUDGET,
            design="≤ 2 s",
        )
        page_mb = page.stat().st_size / 1e6
        yield Row(
            topic="report",
            what="size of the page",
            measured=page_mb,
            unit="MB",
            reference="the measurement's files",
            reference_measured=stored_mb,
            ratio=page_mb / stored_mb,
            budget=5 / stored_mb,
            design="≤ 5 MB",
        )
        small = Path(name) / "small.html"
        program("report", str(simulated(SMALL)[0]), "-o", str(small))
        yield from _in_browser(page, small, repeats=2 if quick else 3)


def _in_browser(large: Path, small: Path, *, repeats: int) -> Iterator[Row]:
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    node = shutil.which("node")
    if node is None or chromium is None or not (WEB / "node_modules").is_dir():
        lacking = "web/node_modules" if node and chromium else "Chromium" if node else "Node"
        print(
            f"report: {lacking} was not found, so first paint and zoom are not measured; "
            "run make web, and install Chromium or set CHROMIUM to its path",
            file=sys.stderr,
        )
        return
    done = subprocess.run(
        ["npm", "run", "--silent", "speed", "--", str(repeats), str(large), str(small)],
        cwd=WEB,
        env=os.environ | {"CHROMIUM": chromium},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    for what, turns in json.loads(done.stdout).items():
        yield Row(
            topic="report",
            what=f"in Chromium: {what}",
            measured=statistics.median(turn[0] for turn in turns),
            unit="ms",
            reference=f"the report of {SMALL.chunks:,} chunks",
            reference_measured=statistics.median(turn[1] for turn in turns),
            ratio=statistics.median(turn[0] / turn[1] for turn in turns),
            budget=BROWSER_BUDGET,
        )
