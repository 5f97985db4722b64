"""How chunk rows, and the work that makes them, travel through Dask."""

from __future__ import annotations

import base64
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema
from dask.utils import funcname
from distributed import Client, Future

import data
from processors import Undecorated, WaitsForFile
from roastcoffea import MetricsCollector
from roastcoffea._core import ChunkLog, ChunkRecorder
from roastcoffea.backends.by_value import work_by_value
from roastcoffea.recording import _Mark
from waiting import wait_until


@pytest.fixture
def fileset(tmp_path: Path) -> dict[str, Any]:
    path = data.small_root_file(tmp_path / "one.root", event_count=100)
    return data.fileset({"one": [path]})


def make_runner(client: Client, chunks: int, **options: Any) -> processor.Runner:
    executor = processor.DaskExecutor(client=client, status=False, **options)
    return processor.Runner(executor, schema=BaseSchema, chunksize=100 // chunks, metadata_cache={})


def events_on(dask_scheduler: Any) -> int:
    topics = dask_scheduler._broker._topics
    return sum(topic.count for name, topic in topics.items() if "roastcoffea" in name)


@pytest.mark.parametrize("compression", [1, None])
def test_rows_ride_with_the_completion_of_their_tasks(
    dask_client: Client, fileset: dict[str, Any], compression: int | None
) -> None:
    runner = make_runner(dask_client, 5, compression=compression)
    with MetricsCollector(runner, track_workers=False) as roast:
        runner(fileset, Undecorated())
        assert dask_client.run_on_scheduler(events_on) == 0, "no message of its own"
    rows = roast.chunk_metrics
    assert [row["error"] for row in rows] == [None] * 5
    if compression is not None:
        assert all(row["phases"]["serialize"] > 0 for row in rows)


def test_a_chunk_that_nobody_wants_any_more_has_its_row(
    dask_client: Client, fileset: dict[str, Any], tmp_path: Path
) -> None:
    def is_free(dask_scheduler: Any) -> bool:
        return not any(worker.processing for worker in dask_scheduler.workers.values())

    def cancel() -> None:
        wait_until((tmp_path / "begun").exists)
        dask_client.cancel([Future(key, dask_client) for key in list(dask_client.futures)])
        wait_until(lambda: dask_client.run_on_scheduler(is_free))
        (tmp_path / "go").touch()

    runner = make_runner(dask_client, 1)
    with MetricsCollector(runner, track_workers=False) as roast:
        canceller = threading.Thread(target=cancel)
        canceller.start()
        with pytest.raises(Exception, match="cancel"):
            runner(fileset, WaitsForFile(str(tmp_path)))
        canceller.join()
        wait_until(lambda: dask_client.run_on_scheduler(events_on) == 1)
    assert [row["num_events"] for row in roast.chunk_metrics] == [100]


def test_an_output_that_is_pickled_by_another_thread_was_not_packed() -> None:
    class Carrier:
        sent: list[bytes] = []  # noqa: RUF012

        def send(self, row: bytes, *, task_ends_well: bool) -> None:
            assert task_ends_well
            self.sent.append(row)

    recorder = ChunkRecorder()
    recorder.start_phase("process")
    # No other thread has used as much CPU time yet.
    ended = (time.perf_counter_ns(), time.thread_time_ns() + 10**12)
    mark = _Mark(recorder.finish(), Carrier(), recorder.nonce, ended)
    with ThreadPoolExecutor(1) as pool:
        assert pickle.loads(pool.submit(pickle.dumps, mark).result()) == 0
    assert pickle.loads(pickle.dumps(mark)) == 0
    (packed,) = Carrier.sent
    (row,) = ChunkLog(packed).rows()
    assert not row["phases"].get("serialize")


def test_work_goes_through_a_scheduler_that_lacks_roastcoffea() -> None:
    work = work_by_value(len, topic="a topic", packs=True, name="Counter")
    # Not cloudpickle: the scheduler pickles it for every task, and that must be quick.
    sent = base64.b64encode(pickle.dumps(work)).decode()
    elsewhere = """
import base64, pickle, sys
sys.modules["roastcoffea"] = None
work = pickle.loads(base64.b64decode(sys.argv[1]))
assert work([1, 2, 3]) == 3
assert work.__name__ == "Counter"
sys.stdout.buffer.write(pickle.dumps(work))
"""
    command = [sys.executable, "-c", elsewhere, sent]
    back = subprocess.run(command, check=True, capture_output=True).stdout
    received = pickle.loads(back)
    assert type(received) is type(work)
    assert vars(received) == vars(work)
    assert funcname(received) == "Counter"
