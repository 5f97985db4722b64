"""Runs the benchmarks and prints one table, or JSON with ``--json``."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import time
from typing import Final

from bench import table
from bench.row import Row, Verdict

TOPICS: Final = (
    "startup",
    "sections",
    "chunk_recording",
    "payload",
    "sampler",
    "task_intervals",
    "finishing",
    "analysis",
    "store",
    "report",
    "growth",
    "end_to_end",
)


def main() -> int:
    """Measure; exit with 1 if a ratio is half again its budget or more."""
    arguments = _arguments()
    from roastcoffea import _core

    build = _core.build_profile()
    if build != "release" and not arguments.any_build:
        print(
            f"this is a {build} build, which says nothing about speed: use make bench, or "
            "--any-build to measure it all the same",
            file=sys.stderr,
        )
        return 2
    began = time.monotonic()
    rows: list[Row] = []
    for topic in arguments.topics or TOPICS:
        topic_began = time.monotonic()
        module = importlib.import_module(f"bench.{topic}")
        rows.extend(module.rows(quick=arguments.quick))
        print(f"{topic}: {time.monotonic() - topic_began:.0f} s", file=sys.stderr, flush=True)
    secs = time.monotonic() - began
    about = f"{build} build, Python {platform.python_version()}, {platform.machine()}"
    if arguments.json:
        document = {"build": about, "secs": secs, "rows": [row.as_json() for row in rows]}
        print(json.dumps(document, indent=1))
    else:
        print(table.text(rows))
        print(f"\n{about}; {secs:.0f} s")
    failed = [row for row in rows if row.verdict is Verdict.FAILED]
    for row in failed:
        print(
            f"{row.topic}: {row.what}: {table.number(row.ratio)} is more than half again "
            f"the budget of {table.number(row.budget or 0.0)}",
            file=sys.stderr,
        )
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("topics", nargs="*", choices=[[], *TOPICS], metavar="TOPIC")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and smaller sizes")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--any-build", action="store_true", help="measure a debug build, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
