"""Saving and loading 20,000 chunks and 100 workers over ten minutes, against JSON of the same."""

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
from bench.timing import Pair, pair
from roastcoffea import load_measurement
from roastcoffea._core import Measurement as CoreMeasurement
from roastcoffea.measurement import Measurement

CHUNKS = 20_000
WORKERS = 100
SECS = 600


def rows(*, quick: bool) -> Iterator[Row]:
    """Save and load by turns with JSON; weigh both; see what reading one table touches."""
    repeats = 3 if quick else 7
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
        saving = pair(
            lambda: measurement.save(directory, "saved", overwrite=True),
            lambda: document.write_text(json.dumps(plain)),
            repeats=repeats,
        )
        saved = directory / "saved"
        loading = pair(
            lambda: _load(saved), lambda: json.loads(document.read_text()), repeats=repeats
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
