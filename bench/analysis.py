"""Analysis of 10⁴, 10⁵ and 10⁶ chunk rows: merged, laid out in tables, metrics and ledger.

Each size runs in a process of its own, whose peak memory is then that of the analysis.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from bench.material import WORKERS, cluster_tables, recorded_log
from bench.memory import forget_peak, peak_bytes
from bench.row import Row
from bench.timing import timed

ROWS_PER_LOG = 2_000
SIZES = (10_000, 100_000, 1_000_000)


def rows(*, quick: bool) -> Iterator[Row]:
    """Record rows, analyse them elsewhere, and see how the cost grows."""
    sizes = SIZES[:2] if quick else SIZES
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "logs"
        began_ns = time.time_ns()
        _record(path, rows=sizes[-1])
        secs = (time.time_ns() - began_ns) / 1e9
        figures = {size: _typical(path, size, began_ns, secs, repeats=3) for size in sizes}
    smallest = figures[sizes[0]]
    for size, figure in figures.items():
        yield Row(
            topic="analysis",
            what=f"{size:,} rows to metrics and ledger",
            measured=figure["secs"],
            unit="s",
            reference="json of as many rows",
            reference_measured=figure["json_secs"],
            ratio=figure["secs"] / figure["json_secs"],
            # Of few rows, most is what any run takes: growth tells of those.
            budget=0.06 if size == sizes[-1] else None,
            design="≤ 2 s" if size == SIZES[-1] else None,
        )
        yield Row(
            topic="analysis",
            what=f"{size:,} rows, peak memory beyond the interpreter's",
            measured=figure["peak_mb"],
            unit="MB",
            reference="json of as many rows",
            reference_measured=figure["json_mb"],
            ratio=figure["peak_mb"] / figure["json_mb"],
            budget=500 / (figure["json_mb"] / size * SIZES[-1]) if size == sizes[-1] else None,
            design="≤ 500 MB" if size == SIZES[-1] else None,
        )
        if size == sizes[-1]:
            yield from _profile(figure)
        if size != sizes[0]:
            per_row, reference = figure["secs"] / size, smallest["secs"] / sizes[0]
            yield Row(
                topic="analysis",
                what=f"growth: a row among {size:,}",
                measured=per_row * 1e6,
                unit="µs",
                reference=f"among {sizes[0]:,}",
                reference_measured=reference * 1e6,
                ratio=per_row / reference,
                budget=1.3,
                design="linear",
            )


def _profile(figure: dict[str, float]) -> Iterator[Row]:
    """Say what the time went into."""
    for what, step in (
        ("merging logs", "merge"),
        ("laying out tables", "tables"),
        ("handing them over", "make"),
        ("metrics, ledger and advice", "metrics"),
        ("CPU time of all of it", "cpu"),
    ):
        secs = figure[f"{step}_secs"]
        yield Row(
            topic="analysis",
            what=f"of which {what}",
            measured=secs,
            unit="s",
            reference="the whole",
            reference_measured=figure["secs"],
            ratio=secs / figure["secs"],
        )


def _record(path: Path, *, rows: int) -> None:
    """Write logs of so many rows, recorded on two cores."""
    context = multiprocessing.get_context("spawn")
    with path.open("wb") as file, ProcessPoolExecutor(2, mp_context=context) as pool:
        for log in pool.map(_recorded, range(0, rows, ROWS_PER_LOG), chunksize=10):
            file.write(struct.pack("<I", len(log)))
            file.write(log)


def _recorded(first: int) -> bytes:
    return recorded_log(ROWS_PER_LOG, branches=10, sections=3, first=first).to_bytes()


def _typical(
    path: Path, size: int, began_ns: int, secs: float, *, repeats: int
) -> dict[str, float]:
    """Run a few times and keep the one in the middle."""
    command = [sys.executable, "-m", "bench.analysis", str(path), str(size)]
    command += [str(began_ns), str(secs)]
    found = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(repeats)
    ]
    found.sort(key=lambda figure: figure["secs"] / figure["json_secs"])
    typical: dict[str, float] = found[repeats // 2]
    return typical


def _analyse(path: Path, size: int, began_ns: int, window_secs: float) -> dict[str, float]:
    import numpy as np

    from roastcoffea._core import ChunkLog, Measurement

    logs = _read(path, size)
    window_ns = int(window_secs * 1e9)
    starts = began_ns + np.linspace(0, window_ns, size, dtype=np.int64)
    tables = cluster_tables(
        started_ns=began_ns,
        secs=max(2, int(window_secs)),
        workers=WORKERS,
        task_starts_ns=starts,
    )
    few = ChunkLog(logs[0]).rows()
    json_secs = _json_secs(few)
    before_bytes = forget_peak()
    began, cpu_began = time.perf_counter(), time.process_time()
    log = ChunkLog()
    assert log.merge_all(logs) == []
    merged_at = time.perf_counter()
    header = {"id": "1", "name": "bench", "started_ns": began_ns, "wall_secs": window_secs}
    chunk_tables = log.tables()
    laid_out_at = time.perf_counter()
    measurement = Measurement.make({**header, "backend": "dask"}, [*tables, *chunk_tables])
    made_at = time.perf_counter()
    metrics = measurement.compute_metrics()
    secs, cpu_secs = time.perf_counter() - began, time.process_time() - cpu_began
    assert metrics["num_successful_chunks"] == size, metrics["num_successful_chunks"]
    assert metrics["ledger"] is not None
    peak_mb = (peak_bytes() - before_bytes) / 1e6
    # Before and after: the machine may have changed its speed.
    json_secs += _json_secs(few)
    return {
        "secs": secs,
        "cpu_secs": cpu_secs,
        "merge_secs": merged_at - began,
        "tables_secs": laid_out_at - merged_at,
        "make_secs": made_at - laid_out_at,
        "metrics_secs": secs - (made_at - began),
        "peak_mb": peak_mb,
        "json_secs": statistics.median(json_secs) * size / len(few),
        "json_mb": len(json.dumps(few)) * size / len(few) / 1e6,
    }


def _json_secs(rows: list[dict[str, Any]]) -> list[float]:
    return [timed(lambda: json.loads(json.dumps(rows))) for _ in range(5)]


def _read(path: Path, size: int) -> list[bytes]:
    data = path.read_bytes()
    logs: list[bytes] = []
    position = 0
    while len(logs) * ROWS_PER_LOG < size:
        (length,) = struct.unpack_from("<I", data, position)
        logs.append(data[position + 4 : position + 4 + length])
        position += 4 + length
    return logs


def _main(words: list[str]) -> dict[str, Any]:
    path, size, began_ns, secs = words
    return {**_analyse(Path(path), int(size), int(began_ns), float(secs))}


if __name__ == "__main__":
    print(json.dumps(_main(sys.argv[1:])))
