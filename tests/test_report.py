"""The report page: what it is given of real runs, and where it may be written."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema
from distributed import Client

import data
from processors import MuonCounter
from roastcoffea import MetricsCollector, load_measurement

# coffea takes dataset names of ASCII only.
HOSTILE = '</script><script>alert(1)</script><!-- & "quoted"'


def page_data(path: Path) -> dict[str, Any]:
    """Read the page's data as a browser does: up to the end of its element."""
    html = path.read_text(encoding="utf-8")
    opening = '<script type="application/json" id="page-data">'
    assert html.count(opening) == 1
    page: dict[str, Any] = json.loads(html.split(opening)[1].split("</script>")[0])
    return page


@pytest.fixture(scope="module")
def collector(dask_client: Client, small_fileset: dict[str, Any]) -> MetricsCollector:
    runner = processor.Runner(
        processor.DaskExecutor(client=dask_client, status=False),
        schema=BaseSchema,
        chunksize=250,
        metadata_cache={},
    )
    fileset = {"first": small_fileset["first"], HOSTILE: small_fileset["second"]}
    with MetricsCollector(
        runner, worker_tracking_interval=0.1, measurement_name="ttbar"
    ) as collector:
        runner(fileset, MuonCounter())
    return collector


def test_the_page_holds_what_was_measured(collector: MetricsCollector, tmp_path: Path) -> None:
    path = collector.report(tmp_path / "run.html")
    assert path == tmp_path / "run.html"
    page = page_data(path)
    assert page["name"] == "ttbar"
    for panel in ("ledger", "timeline", "lanes", "runtimes", "scatter"):
        assert "data" in page[panel], page[panel]
    assert "track_time" in page["sections"]["missing"]

    chunks = [row for row in collector.chunk_metrics if row["error"] is None]
    scatter = page["scatter"]["data"]
    assert scatter["total"] == len(chunks)
    assert sum(scatter["events"]) == sum(row["num_events"] for row in chunks)
    assert set(scatter["datasets"]) == {"first", HOSTILE}
    histogram = page["runtimes"]["data"]
    assert sum(sum(dataset["counts"]) for dataset in histogram["datasets"]) == len(chunks)

    lanes = page["lanes"]["data"]
    assert lanes["what"].count("chunk") == len(chunks), lanes
    assert {worker["name"] for worker in lanes["workers"]} == {row["worker"] for row in chunks}
    intervals = zip(lanes["duration_secs"], lanes["what"], strict=True)
    shown = sum(secs for secs, what in intervals if what == "chunk")
    assert shown >= sum(row["duration"] for row in chunks)

    ledger = page["ledger"]["data"]
    assert sum(row["share"] for row in ledger["rows"]) == pytest.approx(1)
    metrics = collector.get_metrics()
    assert ledger["total_core_secs"] == pytest.approx(metrics["ledger_available_core_seconds"])
    tables = {table["key"]: table for table in page["tables"]}
    assert tables["files"]["total_rows"] == 3
    assert tables["workers"]["total_rows"] == 2
    assert tables["failures"]["missing"] == "No attempt failed."


def test_throughput_adds_up_to_the_events(collector: MetricsCollector, tmp_path: Path) -> None:
    timeline = page_data(collector.report(tmp_path / "run.html"))["timeline"]["data"]
    time = timeline["time"]
    assert timeline["bin_secs"] is None
    assert time == sorted(time)
    (chart,) = [chart for chart in timeline["charts"] if chart["key"] == "throughput"]
    (series,) = chart["series"]
    between = [(a + b) / 2 for a, b in pairwise(time)]
    edges = [0.0, *between, collector.measurement.wall_time]
    widths = [b - a for a, b in pairwise(edges)]
    events = sum(rate * width for rate, width in zip(series["mean"], widths, strict=True)) * 1e3
    assert events == pytest.approx(collector.get_metrics()["total_events"], rel=1e-2)


def test_a_loaded_measurement_gives_the_same_page(
    collector: MetricsCollector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = collector.save_measurement(tmp_path / "runs", "ttbar")
    monkeypatch.chdir(tmp_path)
    path = load_measurement(saved).report()
    assert path == Path("ttbar.html")
    assert page_data(path) == page_data(collector.report("again.html"))
    subprocess.run(
        [sys.executable, "-m", "roastcoffea._program", "report", str(saved), "-o", "program.html"],
        check=True,
    )
    assert page_data(Path("program.html")) == page_data(path)


def test_what_is_in_the_way_is_kept(collector: MetricsCollector, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        collector.report(path)
    assert path.read_text() == "mine"
    collector.report(path, overwrite=True)
    assert page_data(path)["name"] == "ttbar"
    with pytest.raises(IsADirectoryError, match="path of a file"):
        collector.report(tmp_path)
    with pytest.raises(FileNotFoundError, match="check the path"):
        collector.report(tmp_path / "no" / "such.html")
    saved = collector.save_measurement(tmp_path, "ttbar")
    before = sorted(saved.iterdir())
    with pytest.raises(ValueError, match="outside"):
        collector.report(saved / "run.html")
    assert sorted(saved.iterdir()) == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["run.html", "ttbar"]


def test_a_run_of_the_original_tool_has_a_page(tmp_path: Path) -> None:
    original = data.reference_path("original-0.1.2-measurement")
    if original is None:
        pytest.skip("no measurement of the original tool here")
    copy = shutil.copytree(original, tmp_path / "original")
    page = page_data(load_measurement(copy).report(tmp_path / "run.html"))
    assert page["wall_secs"] is not None
    assert "data" in page["timeline"]


def test_nothing_to_report_before_the_end() -> None:
    collector = MetricsCollector(processor.IterativeExecutor(status=False))
    with pytest.raises(RuntimeError, match="nothing has been measured yet"):
        collector.report()
