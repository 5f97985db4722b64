"""Killed processes, full disks and lost schedulers: what was measured is kept, once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema
from distributed import Client

import data
from processors import Metrology, Undecorated
from roastcoffea import MetricsCollector, load_measurement
from waiting import wait_for_worker_count, wait_until

PROGRAM = Path(sys.executable).with_name("roastcoffea")

RUN = """
import sys
from coffea import processor
from coffea.nanoevents import BaseSchema
from distributed import Client
from processors import Metrology
from roastcoffea import MetricsCollector

def main(kind, address, path, output):
    if kind == "dask":
        executor = processor.DaskExecutor(client=Client(address), status=False)
    elif kind == "futures":
        executor = processor.FuturesExecutor(workers=2, status=False)
    else:
        executor = processor.IterativeExecutor(status=False)
    runner = processor.Runner(executor, schema=BaseSchema, chunksize=50)
    fileset = {"killed": {"files": {path: "Events"}}}
    with MetricsCollector(runner, output, measurement_name="killed"):
        runner(fileset, Metrology(cpu_secs=0.0, sleep_secs=0.3))

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


def chunk_keys(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter((row["file"], row["entry_start"], row["attempt"]) for row in rows)


@pytest.mark.parametrize("kind", ["iterative", "futures", "dask"])
def test_a_killed_client_is_recovered(dask_client: Client, tmp_path: Path, kind: str) -> None:
    path = data.small_root_file(tmp_path / "input.root", event_count=3_000)
    output = tmp_path / "out"
    script = tmp_path / "run.py"
    script.write_text(RUN)
    tests = str(Path(__file__).parent)
    assert dask_client.scheduler is not None
    address = str(dask_client.scheduler.address)
    client = subprocess.Popen(
        [sys.executable, script, kind, address, str(path), str(output)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    spool = output / ".killed.spool"
    wait_until(lambda: sum(file.stat().st_size for file in spool.glob("*.rows")) > 2_000)
    os.killpg(client.pid, signal.SIGKILL)
    client.wait()
    wait_for_worker_count(dask_client, 2)

    assert [entry.name for entry in output.iterdir()] == [".killed.spool"]
    done = subprocess.run([PROGRAM, "recover", output], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "chunks recovered" in done.stdout
    assert [entry.name for entry in output.iterdir()] == ["killed"]

    measurement = load_measurement(output / "killed")
    rows = measurement.chunk_metrics
    assert len(rows) >= 2
    assert set(chunk_keys(rows).values()) == {1}
    assert all(row["duration"] >= 0.3 for row in rows)
    assert measurement.metrics["num_successful_chunks"] == len(rows)
    assert measurement.error is not None
    assert any("killed" in note for note in measurement.notes)
    measurement.print_summary()

    (output / ".other.spool").mkdir()
    with (
        pytest.raises(FileExistsError, match="roastcoffea recover"),
        MetricsCollector(dask_client, output, measurement_name="other"),
    ):
        pass
    again = subprocess.run(
        [PROGRAM, "recover", output], capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert "nothing to recover" in again.stderr


def test_a_full_disk_costs_the_spool_only(
    dask_client: Client, small_fileset: dict[str, Any], tmp_path: Path
) -> None:
    runner = processor.Runner(
        processor.DaskExecutor(client=dask_client, status=False), schema=BaseSchema, chunksize=250
    )
    with MetricsCollector(runner, tmp_path, measurement_name="full") as roast:
        # Every write to this device ends with "no space left".
        (tmp_path / ".full.spool" / "client.rows").symlink_to("/dev/full")
        out = runner(small_fileset, Undecorated())
    assert out["events"] == 2_600
    assert any("could not be spooled" in note for note in roast.notes)
    loaded = load_measurement(tmp_path / "full")
    assert len(loaded.chunk_metrics) == 10
    assert [entry.name for entry in tmp_path.iterdir()] == ["full"]


def test_a_scheduler_that_dies_during_the_run(
    small_fileset: dict[str, Any], tmp_path: Path
) -> None:
    tests = str(Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    address_file = tmp_path / "scheduler.json"
    scheduler = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            *("--port", "0", "--no-dashboard", "--scheduler-file", str(address_file)),
        ],
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    worker = None
    try:
        wait_until(address_file.exists)
        worker = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                *("--scheduler-file", str(address_file), "--no-dashboard", "--nthreads", "1"),
                *("--death-timeout", "30"),
            ],
            env=environment,
            stderr=subprocess.DEVNULL,
        )
        with Client(scheduler_file=str(address_file), timeout="60s") as client:
            wait_for_worker_count(client, 1)
            runner = processor.Runner(
                processor.DaskExecutor(client=client, status=False),
                schema=BaseSchema,
                chunksize=100,
            )
            killer = threading.Timer(7.0, scheduler.kill)
            with (
                pytest.raises(BaseException) as caught,  # noqa: PT011
                MetricsCollector(runner, tmp_path / "out", measurement_name="lost") as roast,
            ):
                killer.start()
                runner(small_fileset, Metrology(cpu_secs=0.0, sleep_secs=0.5))
            assert not isinstance(caught.value, (SystemExit, KeyboardInterrupt))
    finally:
        scheduler.kill()
        scheduler.wait()
        if worker is not None:
            worker.kill()
            worker.wait()
    rows = roast.chunk_metrics
    assert len(rows) >= 1
    assert set(chunk_keys(rows).values()) == {1}
    assert any("scheduler could not be reached" in note for note in roast.notes)
    assert len(load_measurement(tmp_path / "out" / "lost").chunk_metrics) == len(rows)
    roast.print_summary()
