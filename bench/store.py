"""Saving and loading: a usual run against JSON of the same, and a large one against gzip of it."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.material import cluster_tables, recorded_log
from bench.row import Row
from bench.simulated import Size, simulated, stepped
from bench.timing import Pair, pair_of, timed
from roastcoffea import load_measurement
from roastcoffea._core import Measurement as CoreMeasurement
from roastcoffea.measurement import Measurement

CHUNKS = 20_000
WORKERS = 100
SECS = 600
LARGE = Size(chunks=1_000_000, workers=1000, hours=1)
SMALLER = Size(chunks=100_000, workers=1000, hours=1)
LARGE_BUDGETS = {"save": 1.5, "load": 1.0, "memory": 8.0}


def rows(*, quick: bool) -> Iterator[Row]:
    """Save and load by turns with JSON; weigh both; see what reading one table touches."""
    repeats = 3
    measurement = _measurement()
    rows_of_json = {
        "chunks": measurement.chunk_metrics,
        "tracking": dict(measurement.tracking_data or {}),
        "metrics": dict(measurement.metrics),
    }
    plain = json.loads(json.dumps(_plain(rows_of_json)))
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        document = directory / "all.json"
        saved = directory / "saved"
        # JSON takes so long that it needs no warming up.
        measurement.save(directory, "saved", overwrite=True)
        _load(saved)
        saving = pair_of(
            lambda: timed(lambda: measurement.save(directory, "saved", overwrite=True)),
            lambda: timed(lambda: document.write_text(json.dumps(plain))),
            repeats=repeats,
        )
        loading = pair_of(
            lambda: timed(lambda: _load(saved)),
            lambda: timed(lambda: json.loads(document.read_text())),
            repeats=repeats,
        )
        size = sum(file.stat().st_size for file in saved.iterdir())
        yield _time_row("save", saving, "≤ 0.2 s", 0.2)
        yield _time_row("load, every table", loading, "≤ 0.15 s", 0.3)
        yield Row(
            topic="store",
            what="size on disk",
            measured=size / 1e6,
            unit="MB",
            reference="JSON",
            reference_measured=document.stat().st_size / 1e6,
            ratio=size / document.stat().st_size,
            budget=1.5e6 / document.stat().st_size,
            design="≤ 1.5 MB",
        )
        yield _one_table(saved, size)
    yield from _large(SMALLER if quick else LARGE)


def _large(size: Size) -> Iterator[Row]:
    """Save and load a simulated run in a process of its own, in which memory is seen, too."""
    path, _ = simulated(size)
    figures = stepped(size)
    stored = {file.name: file.stat().st_size for file in path.iterdir()}
    for step in ("save", "load"):
        yield Row(
            topic="store",
            what=f"{step} {size}",
            measured=figures["steps"][step]["cpu_secs"],
            unit="s",
            reference="CPU time of gzip of the files",
            reference_measured=figures["packed_secs"],
            ratio=figures["steps"][step]["cpu_secs"] / figures["packed_secs"],
            budget=LARGE_BUDGETS[step],
        )
    total_mb = sum(stored.values()) / 1e6
    yield Row(
        topic="store",
        what="its memory after loading every table",
        measured=figures["steps"]["load"]["peak_mb"],
        unit="MB",
        reference="its files",
        reference_measured=total_mb,
        ratio=figures["steps"]["load"]["peak_mb"] / total_mb,
        budget=LARGE_BUDGETS["memory"],
    )
    wanted = stored["measurement.json"] + stored["ticks.parquet"]
    yield Row(
        topic="store",
        what="bytes read for its smallest table",
        measured=figures["one_table_bytes_read"] / 1e3,
        unit="kB",
        reference="its file and the manifest",
        reference_measured=wanted / 1e3,
        ratio=figures["one_table_bytes_read"] / wanted,
        budget=1.5,
        design=f"not all {total_mb:.0f} MB",
    )


def _time_row(what: str, both: Pair, design: str, budget: float) -> Row:
    return Row(
        topic="store",
        what=f"{what} {CHUNKS:,} chunks, {WORKERS} workers for {SECS} s",
        measured=both.measured,
        unit="s",
        reference="JSON of the same",
        reference_measured=both.reference,
        ratio=both.ratio,
        budget=budget,
        design=design,
    )


def _one_table(saved: Path, size: int) -> Row:
    """Count the bytes that this process reads to get at one table."""
    before = _bytes_read()
    load_measurement(saved).table("ticks")
    read = _bytes_read() - before
    wanted = sum((saved / name).stat().st_size for name in ("measurement.json", "ticks.parquet"))
    return Row(
        topic="store",
        what="bytes read for one small table",
        measured=read / 1e3,
        unit="kB",
        reference="its file and the manifest",
        reference_measured=wanted / 1e3,
        ratio=read / wanted,
        budget=2.5,
        design=f"not all {size / 1e3:.0f} kB",
    )


def _load(path: Path) -> None:
    measurement = load_measurement(path)
    for table in measurement.tables:
        assert measurement.table(table).num_rows >= 0


def _measurement() -> Measurement:
    started_ns = time.time_ns()
    log = recorded_log(CHUNKS, branches=20, sections=3)
    tables = cluster_tables(started_ns=started_ns, secs=SECS, workers=WORKERS)
    header: dict[str, Any] = {
        "id": "1",
        "name": "bench",
        "started_ns": started_ns,
        "wall_secs": float(SECS),
        "backend": "dask",
    }
    core = CoreMeasurement.make(header, [*tables, *log.tables()])
    return Measurement(core.with_metrics(core.compute_metrics(), []))


def _plain(value: Any) -> Any:
    """Turn times into text, in keys, too."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _bytes_read() -> int:
    line = Path("/proc/self/io").read_text().splitlines()[0]
    return int(line.removeprefix("rchar: "))
