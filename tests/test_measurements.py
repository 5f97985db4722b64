"""Measurements on disk and back again."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema
from distributed import Client

import data
from processors import MuonCounter
from roastcoffea import MeasurementError, MetricsCollector, load_measurement, register_metric
from roastcoffea.aggregation import unregister_metric
from roastcoffea.export.measurements import save_measurement


@pytest.fixture(scope="module")
def collector(dask_client: Client, small_fileset: dict[str, Any]) -> MetricsCollector:
    runner = processor.Runner(
        processor.DaskExecutor(client=dask_client, status=False),
        schema=BaseSchema,
        chunksize=250,
        metadata_cache={},
    )
    with MetricsCollector(runner, worker_tracking_interval=0.1) as collector:
        runner(small_fileset, MuonCounter())
    collector.set_chunk_metrics(
        [
            {
                "dataset": "first",
                "duration": 0.5,
                "num_events": 10,
                "timing": {"jets": 0.2},
                "weights": {np.float32(1.5), 2.0},
                "nothing": float("nan"),
                "limit": float("inf"),
                "array": np.arange(3),
                "count": np.int64(7),
            }
        ]
    )
    return collector


def test_everything_comes_back_equal(collector: MetricsCollector, tmp_path: Path) -> None:
    path = collector.save_measurement(tmp_path, "ttbar run 3 (été)")
    loaded = load_measurement(path)

    assert loaded.name == "ttbar run 3 (été)"
    assert dict(loaded.metrics) == dict(collector.get_metrics())
    assert loaded.tracking_data == collector.tracking_data
    assert loaded.span_metrics == collector.span_metrics
    assert loaded.span_metrics is not None
    assert all(isinstance(key, tuple) for key in loaded.span_metrics)
    assert loaded.coffea_report == collector.measurement.coffea_report
    assert loaded.notes == collector.notes
    assert loaded.provenance == collector.measurement.provenance
    assert loaded.started == collector.measurement.started
    assert loaded.started.utcoffset() == timedelta(0)
    assert loaded.ended - loaded.started == pytest.approx(
        timedelta(seconds=loaded.wall_time), abs=timedelta(milliseconds=1)
    )
    assert loaded.tracking_data is not None
    assert len(loaded.tracking_data["worker_memory"]) == 2
    assert set(loaded.tracking_data) >= {
        "worker_counts",
        "worker_memory",
        "worker_memory_limit",
        "worker_cpu",
        "worker_cores",
        "worker_active_tasks",
        "worker_executing",
        "worker_nbytes",
        "worker_occupancy",
        "worker_last_seen",
        "worker_spilled_bytes",
        "worker_host_net_read_bps",
        "worker_host_disk_read_bps",
        "worker_event_loop_interval",
    }

    assert len(loaded.chunk_metrics) == len(collector.chunk_metrics) == 11
    (row,) = [row for row in loaded.chunk_metrics if "weights" in row]
    assert row["weights"] == {1.5, 2.0}
    assert math.isnan(row["nothing"])
    assert row["limit"] == math.inf
    assert row["array"] == [0, 1, 2]
    assert row["count"] == 7
    assert row["timing"] == {"jets": 0.2}


def test_it_unpacks_as_the_original_did(collector: MetricsCollector, tmp_path: Path) -> None:
    loaded = load_measurement(collector.save_measurement(tmp_path, "unpack"))
    metrics, start, end = loaded
    assert metrics is loaded.metrics is loaded["metrics"]
    assert end - start == pytest.approx(loaded.wall_time, abs=1e-6)
    assert metrics["core_efficiency"] == metrics["cpu_efficiency"]
    assert metrics["tracking_data"] == loaded.tracking_data
    assert len(metrics["raw_chunk_metrics"]) == 11
    assert metrics.get("no_such_metric", 5) == 5
    with pytest.raises(KeyError):
        metrics["no_such_metric"]
    with pytest.raises(KeyError, match="a measurement has metrics"):
        loaded["colour"]


def test_tables_are_arrow(collector: MetricsCollector, tmp_path: Path) -> None:
    path = collector.save_measurement(tmp_path, "arrow")
    loaded = load_measurement(path)
    assert {"chunks", "ticks", "workers", "tasks"} <= set(loaded.tables)
    tasks = pa.table(loaded.table("tasks"))
    assert tasks.num_rows == loaded.table("tasks").num_rows > 10
    prefixes = set(tasks["prefix"].to_pylist())
    assert {"MuonCounter", "reduce"} <= prefixes
    frame = pl.DataFrame(loaded.table("tasks"))
    assert (frame["stop"] >= frame["start"]).all()
    assert (
        frame.filter(pl.col("prefix") == "MuonCounter", pl.col("action") == "compute").height == 10
    )
    # The files on disk are what pandas reads without us.
    workers = pd.read_parquet(path / "workers.parquet")
    assert len(workers) == loaded.table("workers").num_rows
    assert str(workers["time"].dt.tz) == "UTC"
    with pytest.raises(ValueError, match="the tables are chunks"):
        loaded.table("colours")


def documented_columns() -> dict[str, dict[str, str]]:
    """Columns and units by table, as the reference page lists them."""
    page = Path(__file__).parents[1] / "docs" / "tables-reference.md"
    tables: dict[str, dict[str, str]] = {}
    columns: dict[str, str] = {}
    for line in page.read_text().splitlines():
        if line.startswith("## "):
            columns = tables.setdefault(line.removeprefix("## "), {})
        elif line.startswith("| `"):
            name, _, unit = (cell.strip() for cell in line.split(" | ")[:3])
            columns[name.removeprefix("| ").strip("`")] = unit
    return tables


def test_parquet_is_what_the_documents_say(collector: MetricsCollector, tmp_path: Path) -> None:
    path = collector.save_measurement(tmp_path, "parquet")
    loaded = load_measurement(path)
    documented = documented_columns()
    assert set(loaded.tables) <= set(documented)
    for table in loaded.tables:
        file, columns = path / f"{table}.parquet", documented[table]
        rows = loaded.table(table).num_rows
        from_pandas = pd.read_parquet(file)
        assert (list(from_pandas.columns), len(from_pandas)) == (list(columns), rows)
        from_polars = pl.read_parquet(file)
        assert (from_polars.columns, from_polars.height) == (list(columns), rows)
        relation = duckdb.read_parquet(str(file))
        assert (relation.columns, len(relation)) == (list(columns), rows)
        for field in pq.read_schema(file):
            about = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
            assert about.get("unit", "") == columns[field.name]
            assert about["description"]
    # The same numbers, whoever reads them.
    (events,) = duckdb.read_parquet(str(path / "chunks.parquet")).sum("num_events").fetchall()[0]
    assert events == pl.read_parquet(path / "chunks.parquet")["num_events"].sum()
    assert events == pd.read_parquet(path / "chunks.parquet")["num_events"].sum() == 2610


def test_derived_metrics_of_the_user_are_saved(
    collector: MetricsCollector, dask_client: Client, tmp_path: Path
) -> None:
    @register_metric("events_per_worker")
    def events_per_worker(metrics: Any) -> float:
        return float(metrics["total_events"] / metrics["time_avg_workers"])

    @register_metric("broken")
    def broken(metrics: Any) -> Any:
        return metrics["no_such_metric"]

    try:
        with MetricsCollector(dask_client) as other:
            other.set_coffea_report({"entries": 20})
        metrics = other.get_metrics()
        assert metrics["events_per_worker"] == pytest.approx(10)
        assert metrics["broken"] is None
        assert any("broken" in note and "KeyError" in note for note in other.notes)
        loaded = load_measurement(save_measurement(other, tmp_path, "derived"))
        assert loaded.metrics["events_per_worker"] == pytest.approx(10)
        assert "events_per_worker" in loaded.summary(width=100)
        with pytest.raises(ValueError, match="registered already"):
            register_metric("broken")(broken)
        with pytest.raises(ValueError, match="roastcoffea's own"):
            register_metric("core_efficiency")
    finally:
        unregister_metric("events_per_worker")
        unregister_metric("broken")


def test_what_is_no_measurement(collector: MetricsCollector, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="check the path"):
        load_measurement(tmp_path / "absent")
    (tmp_path / "other").mkdir()
    with pytest.raises(MeasurementError, match="not a measurement"):
        load_measurement(tmp_path / "other")

    path = collector.save_measurement(tmp_path, "newer")
    text = (path / "measurement.json").read_text()
    header = json.loads(text)
    header["format"]["major"] = 99
    (path / "measurement.json").write_text(json.dumps(header))
    with pytest.raises(MeasurementError, match=r"format 99\.0.*upgrade"):
        load_measurement(path)

    (path / "measurement.json").write_text(text[: len(text) // 2])
    with pytest.raises(MeasurementError, match="damaged"):
        load_measurement(path)
    (path / "measurement.json").write_text(text)

    workers = path / "workers.parquet"
    workers.write_bytes(workers.read_bytes()[:-20])
    damaged = load_measurement(path)
    assert damaged.metrics["total_events"] == 2_600, "the rest can still be read"
    with pytest.raises(MeasurementError, match="workers"):
        damaged.table("workers")


def test_the_original_tools_measurement() -> None:
    path = data.reference_path("original-0.1.2-measurement")
    assert path is not None, "the reference files lie beside the checkout"
    measurement = load_measurement(path)
    metrics, start, end = measurement
    saved = json.loads((path / "metrics.json").read_text())
    assert (start, end) == tuple(map(float, (path / "start_end_time.txt").read_text().split(",")))
    for key, value in saved.items():
        if isinstance(value, (int, float)):
            assert metrics[key] == value, key
    assert metrics["event_rate_wall_khz"] == saved["event_rate_elapsed_khz"]
    # What the original loader dropped, and what it never computed.
    assert metrics["cpu_utilization_mean_percent"] > 0
    assert metrics["memory_utilization_max_percent"] == pytest.approx(1.94, abs=0.01)
    assert len(measurement.chunk_metrics) == 40
    assert measurement.span_metrics is not None
    assert measurement.span_metrics[("execute", "P", "memory-read", "count")] == 40
    assert measurement.tracking_data is not None
    counts = measurement.tracking_data["worker_counts"]
    assert list(counts.values()) == [2] * 39
    assert next(iter(counts)).tzinfo == timezone.utc
    assert next(iter(counts)) < datetime.now(timezone.utc)


def test_the_summary(collector: MetricsCollector, monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (60, 100):
        lines = collector.measurement.summary(width=width).splitlines()
        assert max(map(len, lines)) <= width
    text = collector.measurement.summary(width=100)
    assert "2,600" in text
    assert "\x1b" not in text
    assert "\x1b[" in collector.measurement.summary(width=100, color=True)
    html = collector._repr_html_()
    assert html is not None
    assert "<script" not in html
    assert "2,600" in html

    class Terminal:
        def __init__(self) -> None:
            self.text = ""

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            self.text += text
            return len(text)

        def flush(self) -> None: ...

    for variables, colored in [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]:
        with monkeypatch.context() as patch:
            patch.delenv("NO_COLOR", raising=False)
            patch.setenv("TERM", "xterm")
            for name, value in variables.items():
                patch.setenv(name, value)
            terminal = Terminal()
            collector.print_summary(file=terminal)  # type: ignore[arg-type]
            assert ("\x1b[" in terminal.text) is colored
