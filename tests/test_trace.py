"""The exported trace, opened by Perfetto's own trace processor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema
from distributed import Client

from perfetto_queries import ask
from processors import Undecorated
from roastcoffea import MetricsCollector, load_measurement

PROGRAM = Path(sys.executable).with_name("roastcoffea")

SLICES = """
    select slice.name, slice.category, slice.depth, slice.dur,
           thread.name as thread_name, process.name as process_name
    from slice
    join thread_track on slice.track_id = thread_track.id
    join thread using (utid)
    join process using (upid)
"""
COMPLAINTS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
COUNTERS = """
    select process.name as process_name, process_counter_track.name as counter_name,
           count() as points, max(value) as highest
    from counter
    join process_counter_track on counter.track_id = process_counter_track.id
    join process using (upid)
    group by 1, 2
"""


def program(*arguments: str | Path) -> str:
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def real_run(
    dask_client: Client, small_fileset: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    runner = processor.Runner(
        processor.DaskExecutor(client=dask_client, status=False),
        schema=BaseSchema,
        chunksize=250,
        metadata_cache={},
    )
    with MetricsCollector(runner, worker_tracking_interval=0.1) as collector:
        runner(small_fileset, Undecorated())
    return Path(collector.save_measurement(tmp_path_factory.mktemp("real"), "run"))


def test_a_real_run(real_run: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    program("export", real_run, "--format", "trace", "-o", trace)
    chunks = pa.table(load_measurement(real_run).table("chunks"))
    slices, complaints, counters = ask(trace, SLICES, COMPLAINTS, COUNTERS)
    assert complaints == []

    shown = [row for row in slices if row[1] == "chunk"]
    assert len(shown) == chunks.num_rows == 10
    assert {row[5] for row in shown} == set(chunks["worker"].to_pylist())
    assert {row[4] for row in shown} == {f"thread {i}" for i in chunks["thread"].to_pylist()}
    assert {row[2] for row in shown} == {0}
    # Nanoseconds survive.
    lengths = [
        stop.value - start.value
        for start, stop in zip(chunks["start"], chunks["stop"], strict=True)
    ]
    assert sorted(row[3] for row in shown) == pytest.approx(sorted(lengths), abs=1_000_000)
    assert {(row[0], row[2]) for row in slices if row[1] == "phase"} >= {
        ("open", 1),
        ("tree", 1),
        ("events", 1),
        ("process", 1),
    }
    sections = {(row[0], row[2]) for row in slices if row[1] == "section"}
    assert sections == {("select", 2), ("inner", 3)}
    assert any(row[0] == "reduce" for row in slices if row[1] == "task")

    names = {(row[0], row[1]) for row in counters}
    assert {("cluster", "workers connected"), ("cluster", "events kHz")} <= names
    for worker in set(chunks["worker"].to_pylist()):
        assert (worker, "memory MB") in names


def test_a_simulated_cluster(tmp_path: Path) -> None:
    path = program(
        *("simulate", "-o", tmp_path, "--name", "many", "--preset", "failing", "--seed", "3"),
        *("--workers", "40", "--threads", "4", "--chunks", "2000", "--sections", "2"),
    )
    trace = tmp_path / "trace.json"
    program("export", path, "--format", "trace", "-o", trace)
    chunks = pa.table(load_measurement(path).table("chunks"))
    failed = sum(error is not None for error in chunks["error"].to_pylist())
    assert failed > 0

    counts, deepest, complaints = ask(
        trace,
        "select category, count() as slices from slice group by 1",
        "select max(depth) as deepest from slice",
        COMPLAINTS,
    )
    assert complaints == []
    assert dict(counts)["chunk"] == chunks.num_rows == 2000 + failed
    assert dict(counts)["section"] == 2 * 2000
    # Chunk, phase, section, and the section inside of that one.
    assert deepest == [[3]]


def test_hostile_names_stay_text(small_fileset: dict[str, Any], tmp_path: Path) -> None:
    # coffea itself takes no other letters than ASCII in the name of a dataset.
    name = '</script>"\\ \t{[' + "x" * 10_000
    runner = processor.Runner(processor.IterativeExecutor(status=False), schema=BaseSchema)
    with MetricsCollector(runner) as collector:
        runner({name: small_fileset["second"]}, Undecorated())
    path = collector.save_measurement(tmp_path, "hostile")
    trace = tmp_path / "trace.json"
    program("export", path, "--format", "trace", "-o", trace)
    names, complaints = ask(trace, "select name from slice where category = 'chunk'", COMPLAINTS)
    assert names == [[name]]
    assert complaints == []
