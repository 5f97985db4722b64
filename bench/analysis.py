"""Analysis of 10⁴, 10⁵ and 10⁶ chunk rows: merged, laid out in tables, metrics and ledger.

Each analysis runs in a process of its own, whose peak memory is then that of the analysis, and by
turns with `json`, which writes and reads as many rows in another. A few thousand rows would not do
for it: they stay in the caches and in memory that is used over again, which those of an analysis
do not.
"""

from __future__ import annotations

import gc
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

from bench.material import WORKERS, cluster_tables, recorded_log
from bench.memory import forget_peak, peak_bytes
from bench.row import Row
from bench.timing import in_turns, uncertainty

ROWS_PER_LOG = 2_000
SIZES = (10_000, 100_000, 1_000_000)
#: What `json` takes for more rows is in proportion: a million of them need 16 GB as objects.
MOST_JSON_ROWS = 50_000
REPEATS = 5


def rows(*, quick: bool) -> Iterator[Row]:
    """Record rows, analyse them elsewhere, and see how the cost grows."""
    sizes = SIZES[:2] if quick else SIZES
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "logs"
        began_ns = time.time_ns()
        _record(path, rows=sizes[-1])
        secs = (time.time_ns() - began_ns) / 1e9
        figures = {size: _typical(path, size, began_ns, secs) for size in sizes}
    before: tuple[int, float] | None = None
    for size, figure in figures.items():
        yield Row(
            topic="analysis",
            what=f"{size:,} rows to metrics and ledger",
            measured=figure["secs"],
            unit="s",
            reference="json of as many rows",
            reference_measured=figure["json_secs"],
            ratio=figure["secs"] / figure["json_secs"],
            uncertainty=figure.get("uncertainty"),
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
        per_row = figure["median_secs"] / size
        if before is not None:
            # Of the next smaller size: of the smallest, much is what any analysis takes.
            smaller, reference = before
            yield Row(
                topic="analysis",
                what=f"growth: a row among {size:,}",
                measured=per_row * 1e6,
                unit="µs",
                reference=f"among {smaller:,}",
                reference_measured=reference * 1e6,
                ratio=per_row / reference,
                budget=1.3,
                design="linear",
            )
        before = size, per_row


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


def _typical(path: Path, size: int, began_ns: int, secs: float) -> dict[str, float]:
    """Run a few times by turns with `json` and keep the turn in the middle."""
    turns = in_turns(
        lambda: _elsewhere("analyse", path, size, began_ns, secs),
        lambda: _elsewhere("json", path, size),
        repeats=REPEATS,
    )
    turns.sort(key=_ratio)
    analysis, of_json = turns[REPEATS // 2]
    off_by = uncertainty([_ratio(turn) for turn in turns])
    return {
        **analysis,
        **of_json,
        "median_secs": statistics.median(analysis["secs"] for analysis, _ in turns),
        **({} if off_by is None else {"uncertainty": off_by}),
    }


def _ratio(turn: tuple[dict[str, float], dict[str, float]]) -> float:
    analysis, of_json = turn
    return analysis["secs"] / of_json["json_secs"]


def _elsewhere(*words: object) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.analysis", *map(str, words)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


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
    return {
        "secs": secs,
        "cpu_secs": cpu_secs,
        "merge_secs": merged_at - began,
        "tables_secs": laid_out_at - merged_at,
        "make_secs": made_at - laid_out_at,
        "metrics_secs": secs - (made_at - began),
        "peak_mb": peak_mb,
    }


def _json(path: Path, size: int) -> dict[str, float]:
    from roastcoffea._core import ChunkLog

    log = ChunkLog()
    assert log.merge_all(_read(path, min(size, MOST_JSON_ROWS))) == []
    rows = log.rows()
    gc.collect()
    began = time.perf_counter()
    text = json.dumps(rows)
    again = json.loads(text)
    secs = time.perf_counter() - began
    assert len(again) == len(rows)
    share = len(rows) / size
    return {"json_secs": secs / share, "json_mb": len(text) / 1e6 / share}


def _read(path: Path, size: int) -> list[bytes]:
    data = path.read_bytes()
    logs: list[bytes] = []
    position = 0
    while len(logs) * ROWS_PER_LOG < size:
        (length,) = struct.unpack_from("<I", data, position)
        logs.append(data[position + 4 : position + 4 + length])
        position += 4 + length
    return logs


def _main(words: list[str]) -> dict[str, float]:
    match words:
        case ["analyse", path, size, began_ns, secs]:
            return _analyse(Path(path), int(size), int(began_ns), float(secs))
        case ["json", path, size]:
            return _json(Path(path), int(size))
    raise SystemExit("analyse PATH ROWS BEGAN_NS SECS, or json PATH ROWS")


if __name__ == "__main__":
    print(json.dumps(_main(sys.argv[1:])))
