"""Real runs under the collector: every executor, and the shapes that runs take."""

from __future__ import annotations

import concurrent.futures
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema, NanoAODSchema
from coffea.processor import accumulate
from coffea.processor.executor import ExecutorBase
from distributed import Client, LocalCluster

import data
from processors import (
    Accumulators,
    Failing,
    JustANumber,
    Metrology,
    MuonCounter,
    _Hidden,
    count_events,
)
from roastcoffea import MetricsCollector
from waiting import wait_for_worker_count

EVENTS = 2_600
CHUNKSIZE = 250


def runner_of(executor: Any, **options: Any) -> processor.Runner:
    options = {"schema": BaseSchema, "chunksize": CHUNKSIZE, "metadata_cache": {}, **options}
    return processor.Runner(executor, **options)


def dask(client: Client, **options: Any) -> processor.DaskExecutor:
    return processor.DaskExecutor(client=client, status=False, **options)


LOCAL: dict[str, Callable[[], Any]] = {
    "iterative": lambda: processor.IterativeExecutor(status=False),
    "futures": lambda: processor.FuturesExecutor(workers=2, status=False),
    "threads": lambda: processor.FuturesExecutor(
        workers=2, status=False, pool=concurrent.futures.ThreadPoolExecutor
    ),
}


@pytest.fixture(params=["dask", *LOCAL])
def executor(request: pytest.FixtureRequest, dask_client: Client) -> Any:
    return dask(dask_client) if request.param == "dask" else LOCAL[request.param]()


def test_every_executor_is_measured_without_another_line(
    executor: Any, small_fileset: dict[str, Any]
) -> None:
    runner = runner_of(executor)
    plain = runner(small_fileset, MuonCounter())
    before = type(executor)

    with MetricsCollector(runner, worker_tracking_interval=0.1) as roast:
        out = runner(small_fileset, MuonCounter())

    # The output is the same to the byte, and the user's objects are as they were.
    assert type(out) is dict
    assert pickle.dumps(out) == pickle.dumps(plain)
    assert type(runner.executor) is before
    assert runner.savemetrics is False

    metrics = roast.get_metrics()
    assert metrics["total_events"] == EVENTS == out["events"]
    assert metrics["num_chunks"] == 10
    assert metrics["total_bytes_read_coffea"] > 0
    assert 0 < metrics["total_cpu_time"] < 100 * metrics["wall_time"]
    assert metrics["peak_workers"] in (1, 2)
    assert metrics["peak_memory_bytes"] > 10e6
    assert metrics["total_cores"] > 0
    assert metrics["data_rate_gbps"] == pytest.approx(
        metrics["total_bytes_read"] * 8 / metrics["wall_time"] / 1e9
    )
    assert metrics["cpu_efficiency"] == metrics["core_efficiency"]
    if isinstance(executor, processor.DaskExecutor):
        assert metrics["processor_cpu_time_seconds"] > 0
        assert metrics["overhead_cpu_time_seconds"] > 0
    else:
        assert metrics["processor_cpu_time_seconds"] is None


def test_a_report_that_the_user_asked_for_is_still_returned(
    executor: Any, small_fileset: dict[str, Any]
) -> None:
    runner = runner_of(executor, savemetrics=True)
    with MetricsCollector(executor, track_workers=False) as roast:
        out, report = runner(small_fileset, MuonCounter())
    assert out["events"] == report["entries"] == roast.get_metrics()["total_events"]
    assert roast.tracking_data is None


@pytest.mark.parametrize("compression", [1, None])
@pytest.mark.parametrize("processor_instance", [MuonCounter(), _Hidden(), count_events])
def test_processor_and_overhead_are_told_apart(
    dask_client: Client,
    small_fileset: dict[str, Any],
    compression: int | None,
    processor_instance: Any,
) -> None:
    runner = runner_of(dask(dask_client, compression=compression))
    with MetricsCollector(runner, track_workers=False) as roast:
        runner(small_fileset, processor_instance)
    spans = roast.span_metrics
    assert spans is not None
    metrics = roast.get_metrics()
    processor_secs = metrics["processor_cpu_time_seconds"]
    assert 0 < processor_secs < metrics["cpu_time_seconds"]
    preprocessing = [
        value for key, value in spans.items() if key[1:3] == ("automatic_retries", "thread-cpu")
    ]
    assert preprocessing
    assert metrics["overhead_cpu_time_seconds"] >= sum(preprocessing)
    assert metrics["cpu_time_seconds"] == pytest.approx(
        processor_secs + metrics["overhead_cpu_time_seconds"]
    )
    assert roast.measurement.span_completeness == 1.0
    assert not roast.notes


def test_a_client_with_the_processor(dask_client: Client, small_fileset: dict[str, Any]) -> None:
    counter = MuonCounter()
    runner = runner_of(dask(dask_client), savemetrics=True)
    with MetricsCollector(dask_client, processor_instance=counter) as collector:
        _out, report = runner(small_fileset, counter)
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert metrics["total_events"] == EVENTS
    assert 0 < metrics["processor_cpu_time_seconds"] < metrics["cpu_time_seconds"]
    assert not collector.notes


def test_a_client_alone_says_what_is_not_separated(
    dask_client: Client, small_fileset: dict[str, Any]
) -> None:
    runner = runner_of(dask(dask_client), savemetrics=True)
    with MetricsCollector(dask_client) as collector:
        _out, report = runner(small_fileset, MuonCounter())
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert metrics["processor_cpu_time_seconds"] == pytest.approx(metrics["cpu_time_seconds"])
    assert metrics["overhead_cpu_time_seconds"] is None
    assert len(collector.notes) == 1
    assert "processor_instance" in collector.notes[0]


@pytest.mark.parametrize(
    ("processor_instance", "options"),
    [
        (Accumulators(), {}),
        (JustANumber(), {}),
        (count_events, {}),
        (MuonCounter(), {"processor_compression": None}),
    ],
    ids=["accumulators", "number", "function", "uncompressed-processor"],
)
@pytest.mark.parametrize("compression", [1, None])
def test_any_output_comes_back_as_it_was(
    executor: Any,
    small_fileset: dict[str, Any],
    processor_instance: Any,
    options: dict[str, Any],
    compression: int | None,
) -> None:
    executor.compression = compression
    runner = runner_of(executor, **options)
    plain = runner(small_fileset, processor_instance)
    with MetricsCollector(runner, track_workers=False) as roast:
        out = runner(small_fileset, processor_instance)
    assert type(out) is type(plain)
    if isinstance(out, dict):
        assert set(out) == set(plain)
        for key, value in plain.items():
            np.testing.assert_equal(
                getattr(out[key], "value", out[key]), getattr(value, "value", value)
            )
    else:
        assert out == plain
    assert roast.get_metrics()["total_events"] == EVENTS


def test_threads_per_worker(small_fileset: dict[str, Any]) -> None:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        runner = runner_of(dask(client), processor_compression=None)
        with MetricsCollector(runner, worker_tracking_interval=0.05) as roast:
            out = runner(small_fileset, MuonCounter())
    metrics = roast.get_metrics()
    assert out["events"] == EVENTS == metrics["total_events"]
    assert metrics["cores_per_worker"] == 2
    assert metrics["total_cores"] == pytest.approx(2.0)


def test_workers_that_join_and_leave(small_fileset: dict[str, Any]) -> None:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        runner = runner_of(dask(client), chunksize=100)
        grow = threading.Timer(0.4, lambda: cluster.scale(3))
        shrink = threading.Timer(1.2, lambda: cluster.scale(1))
        with MetricsCollector(runner, worker_tracking_interval=0.05) as roast:
            grow.start()
            shrink.start()
            runner(small_fileset, Metrology(cpu_secs=0.02, sleep_secs=0.05))
            shrink.join()
            wait_for_worker_count(client, 1)
    metrics = roast.get_metrics()
    assert metrics["peak_workers"] > 1
    assert 1 <= metrics["avg_workers"] < metrics["peak_workers"]
    assert metrics["total_cores"] == pytest.approx(metrics["avg_workers"])
    tracking = roast.tracking_data
    assert tracking is not None
    counts = tracking["worker_counts"]
    assert {type(moment) for moment in counts} == {datetime}
    assert all(moment.utcoffset() == timedelta(0) for moment in counts)
    assert min(counts) > datetime.now(timezone.utc) - timedelta(minutes=5)
    assert set(counts.values()) >= {1, 3}
    memory = tracking["worker_memory"]
    assert len(memory) == 3
    lengths = sorted(len(series) for series in memory.values())
    assert lengths[0] < lengths[-1] == len(counts)


def test_rntuple_and_parquet(dask_client: Client) -> None:
    ntuple = data.reference_path("nano_dy_SpecialTree_rntuple.root")
    table = data.reference_path("nano_dy.parquet")
    assert ntuple is not None, "the reference files lie beside the checkout"
    assert table is not None
    filesets = {
        "root": {"dy": {"files": {str(ntuple): "NotEvents"}}},
        "parquet": {"dy": {"files": {str(table): "Events"}}},
    }
    for kind, fileset in filesets.items():
        runner = runner_of(dask(dask_client), format=kind, chunksize=40, schema=NanoAODSchema)
        with MetricsCollector(runner, track_workers=False) as roast:
            out = runner(fileset, MuonCounter())
        metrics = roast.get_metrics()
        assert metrics["total_events"] == out["events"] == 40
        assert metrics["num_chunks"] == 1
        # coffea does not count bytes of Parquet files: missing, not 0.
        assert (metrics["data_rate_gbps"] is None) is (kind == "parquet")


def test_two_datasets_may_share_a_file(dask_client: Client, tmp_path: Path) -> None:
    path = data.small_root_file(tmp_path / "shared.root", event_count=500)
    runner = runner_of(dask(dask_client))
    with MetricsCollector(runner, track_workers=False) as roast:
        out = runner(data.fileset({"one": [path], "two": [path]}), MuonCounter())
    assert out["datasets"] == {"one": 500, "two": 500}
    assert roast.get_metrics()["total_events"] == 1000


def test_several_runs_in_one_block_add_up(executor: Any, small_fileset: dict[str, Any]) -> None:
    runner = runner_of(executor)
    with MetricsCollector(runner, track_workers=False) as roast:
        for _ in range(2):
            runner(small_fileset, MuonCounter())
    assert roast.get_metrics()["total_events"] == 2 * EVENTS
    assert roast.get_metrics()["num_chunks"] == 20


def test_a_run_that_raises(executor: Any, small_fileset: dict[str, Any], tmp_path: Path) -> None:
    executor.retries = 0
    runner = runner_of(executor)
    with (
        pytest.raises(Exception, match="this file is cursed") as caught,
        MetricsCollector(runner, tmp_path, worker_tracking_interval=0.1) as roast,
    ):
        runner(small_fileset, Failing("second-0"))
    assert type(runner.executor) is type(executor)
    metrics = roast.get_metrics()
    assert metrics["wall_time"] > 0
    assert metrics["total_events"] is None
    assert metrics["peak_workers"] >= 1
    assert roast.measurement.error is not None
    assert "cursed" in roast.measurement.error
    assert type(caught.value).__name__ in roast.measurement.error
    roast.print_summary()
    assert list(tmp_path.iterdir())


def test_no_chunks(dask_client: Client) -> None:
    runner = runner_of(dask(dask_client))
    with (
        pytest.raises(ValueError, match="No chunks survived"),
        MetricsCollector(runner) as roast,
    ):
        runner({}, MuonCounter())
    metrics = roast.get_metrics()
    assert metrics["total_events"] is None
    assert metrics["event_rate_wall_khz"] is None
    assert metrics["processor_cpu_time_seconds"] is None
    roast.print_summary()


def test_a_block_in_which_nothing_runs(dask_client: Client) -> None:
    with MetricsCollector(dask_client) as collector:
        pass
    assert collector.get_metrics()["wall_time"] > 0
    assert collector.get_metrics()["cpu_time_seconds"] is None
    collector.print_summary()


def test_a_run_in_another_thread_is_seen_through_its_executor(
    dask_client: Client, small_fileset: dict[str, Any]
) -> None:
    runner = runner_of(dask(dask_client))
    with (
        MetricsCollector(runner, track_workers=False) as roast,
        concurrent.futures.ThreadPoolExecutor(1) as pool,
    ):
        pool.submit(runner, small_fileset, MuonCounter()).result()
    assert roast.get_metrics()["processor_cpu_time_seconds"] > 0


def test_nested_collectors_do_not_disturb_each_other(
    dask_client: Client, small_fileset: dict[str, Any]
) -> None:
    runner = runner_of(dask(dask_client))
    with MetricsCollector(runner) as outer:
        runner(small_fileset, MuonCounter())
        with MetricsCollector(runner) as inner:
            runner(small_fileset, MuonCounter())
    assert inner.get_metrics()["total_events"] == EVENTS
    assert outer.get_metrics()["total_events"] == 2 * EVENTS
    assert type(runner.executor) is processor.DaskExecutor


def test_known_cpu_sleep_and_bytes(dask_client: Client, tmp_path: Path) -> None:
    path = data.small_root_file(tmp_path / "known.root", event_count=1200)
    chunks, cpu_secs, sleep_secs = 12, 0.15, 0.15
    runner = runner_of(dask(dask_client), chunksize=100)
    fileset = data.fileset({"known": [path]})
    runner(fileset, count_events)  # imports, caches
    with MetricsCollector(runner, worker_tracking_interval=0.1) as roast:
        runner(fileset, Metrology(cpu_secs=cpu_secs, sleep_secs=sleep_secs))
    metrics = roast.get_metrics()
    assert metrics["num_chunks"] == chunks
    # What the tasks do besides: opening, parsing, building events.
    assert metrics["processor_cpu_time_seconds"] / (chunks * cpu_secs) == pytest.approx(
        1.1, abs=0.15
    )
    assert metrics["processor_noncpu_time_seconds"] / (chunks * sleep_secs) > 0.98
    assert metrics["total_cpu_time"] / (chunks * (cpu_secs + sleep_secs)) > 0.98

    import uproot

    with uproot.open(path) as file:
        tree = file["Events"]
        column = tree["MET_pt"].compressed_bytes
        setup = file.file.source.num_requested_bytes
    # Two baskets: every chunk reads one of them whole, half of the column.
    expected = chunks * (setup + column / 2)
    assert metrics["total_bytes_read_coffea"] / expected == pytest.approx(1.0, abs=0.05)


def test_an_executor_of_another_kind_runs_as_it_is(small_fileset: dict[str, Any]) -> None:
    @dataclass
    class Elsewhere(ExecutorBase):
        retries: int = 0

        def __call__(self, items: Any, function: Any, accumulator: Any) -> Any:
            # Its workers have no roastcoffea: nothing of it may be in what they are sent.
            assert b"roastcoffea" not in cloudpickle.dumps(function)
            return accumulate(map(function, items), accumulator), 0

    runner = runner_of(Elsewhere(status=False))
    with MetricsCollector(runner) as roast:
        out = runner(small_fileset, MuonCounter())
    assert out["events"] == EVENTS == roast.get_metrics()["total_events"]
    assert roast.chunk_metrics == []
    assert any("Elsewhere" in note and "track_metrics" in note for note in roast.notes)


def test_an_executor_without_a_client_gets_one_for_the_run(small_fileset: dict[str, Any]) -> None:
    import dask as dask_module

    executor = processor.DaskExecutor(status=False)
    runner = runner_of(executor)
    with (
        dask_module.config.set({"distributed.scheduler.dashboard.status.task-stream-length": 10}),
        MetricsCollector(runner, worker_tracking_interval=0.1) as roast,
    ):
        runner(small_fileset, MuonCounter())
    assert executor.client is None
    assert roast.get_metrics()["peak_workers"] >= 1
    assert roast.get_metrics()["processor_cpu_time_seconds"] > 0
