"""Every chunk recorded: with and without a decorator, on every executor and format."""

from __future__ import annotations

import concurrent.futures
import functools
import multiprocessing
import pickle
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema, NanoAODSchema
from coffea.processor import SimpleCheckpointer
from distributed import Client, LocalCluster

import data
from processors import (
    Accumulators,
    Allocating,
    CountsBytes,
    Decorated,
    DecoratedAccumulators,
    FailingOnce,
    FirstHalfOnly,
    HardSections,
    JustANumber,
    KillsItsWorker,
    Metrology,
    ReadsAll,
    SelfTimed,
    Slots,
    SlowSection,
    Straggling,
    Undecorated,
    count_events,
)
from roastcoffea import MetricsCollector, load_measurement, track_metrics, track_time

EXECUTORS = ["dask", "iterative", "futures", "threads"]
CHUNKS = 10


def make_executor(name: str, client: Client, **options: Any) -> Any:
    if name == "dask":
        return processor.DaskExecutor(client=client, status=False, **options)
    if name == "iterative":
        return processor.IterativeExecutor(status=False, **options)
    if name == "threads":
        options["pool"] = concurrent.futures.ThreadPoolExecutor
    return processor.FuturesExecutor(workers=2, status=False, **options)


def make_runner(executor: Any, **options: Any) -> processor.Runner:
    options = {"schema": BaseSchema, "chunksize": 250, "metadata_cache": {}, **options}
    return processor.Runner(executor, **options)


def keys(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(
        (row["dataset"], row["file"], row["entry_start"], row["entry_stop"]) for row in rows
    )


def formats() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    ntuple = data.reference_path("nano_dy_SpecialTree_rntuple.root")
    tree = data.reference_path("nano_dy.root")
    assert ntuple is not None, "the reference files lie beside the checkout"
    # One chunk: uproot takes 20 s to name the types of this RNTuple's fields.
    options = {"chunksize": 40, "schema": NanoAODSchema}
    return {
        "ttree": ({"dy": {"files": {str(tree): "Events"}}}, options),
        "rntuple": ({"dy": {"files": {str(ntuple): "NotEvents"}}}, options),
    }


@pytest.mark.parametrize("kind", ["ttree", "rntuple", "parquet"])
@pytest.mark.parametrize("name", ["dask", "iterative", "futures"])
def test_the_same_chunks_everywhere(
    dask_client: Client, tmp_path: Path, kind: str, name: str
) -> None:
    path = data.small_formats(tmp_path)[kind]
    fileset = data.fileset({"small": [path]})
    options = {"chunksize": 10, "format": "parquet" if kind == "parquet" else "root"}
    seen = []
    for instance in (Undecorated(), Decorated()):
        runner = make_runner(make_executor(name, dask_client), **options)
        with MetricsCollector(runner, track_workers=False) as roast:
            out = runner(fileset, instance)
        rows = roast.chunk_metrics
        assert sum(row["num_events"] for row in rows) == out["events"] == 40
        assert roast.get_metrics()["total_events_from_chunks"] == 40
        assert all(row["error"] is None and row["attempt"] == 1 for row in rows)
        assert all({"MET_pt", "Muon_pt"} <= set(row["accessed_branches"]) for row in rows)
        assert len(roast.notes) == {"ttree": 0, "rntuple": 1, "parquet": 2}[kind]
        seen.append(keys(rows))
    assert seen[0] == seen[1]
    assert list(seen[0].values()) == [1] * 4


@pytest.mark.parametrize("name", EXECUTORS)
def test_rows_carry_the_documented_fields(
    dask_client: Client, small_fileset: dict[str, Any], name: str
) -> None:
    runner = make_runner(make_executor(name, dask_client))
    with MetricsCollector(runner) as roast:
        out = runner(small_fileset, Decorated())
    assert set(out) == {"events", "met", "muons"}, "the output is not touched"
    rows = roast.chunk_metrics
    assert [row["chunk_id"] for row in rows] == list(range(CHUNKS))
    for row in rows:
        assert row["dataset"] in small_fileset
        assert row["file"] in small_fileset[row["dataset"]]["files"]
        assert row["entry_stop"] - row["entry_start"] == row["num_events"]
        assert 0 < row["duration"] < row["t_end"] - row["t_start"]
        assert row["mem_after_mb"] - row["mem_before_mb"] == pytest.approx(row["mem_delta_mb"])
        assert row["memory_start_gb"] == pytest.approx(row["mem_before_mb"] * 2**20 / 1e9)
        assert row["peak_memory_mb"] >= max(row["mem_before_mb"], row["mem_after_mb"]) - 1
        assert row["custom_count"] == 42
        assert row["custom_metrics"] == {"my_metric": 7.5}
        assert [section["section_name"] for section in row["sections"]].count("inner") == 2
        assert row["timing"]["select"] >= row["timing"]["inner"]
        assert [section["section_name"] for section in row["memory_sections"]] == ["fill"]
        assert set(row["phases"]) >= {"open", "tree", "events", "process"}
        assert all(seconds >= 0 for seconds in row["phases"].values())
        assert row["worker"]
    sections = roast.get_metrics()["sections"]
    assert sections["inner"]["count"] == 2 * CHUNKS
    assert sections["select"]["total_seconds"] == pytest.approx(
        sum(row["timing"]["select"] for row in rows)
    )


@pytest.mark.parametrize("name", EXECUTORS)
def test_bytes_add_up(dask_client: Client, small_fileset: dict[str, Any], name: str) -> None:
    runner = make_runner(make_executor(name, dask_client), savemetrics=True)
    with MetricsCollector(runner, track_workers=False) as roast:
        _out, report = runner(small_fileset, Undecorated())
    rows = roast.chunk_metrics
    assert sum(row["bytes_read"] for row in rows) == pytest.approx(report["bytesread"], rel=0.02)
    import pyarrow as pa

    table = pa.table(roast.measurement.table("chunks")).to_pydict()
    branches = roast.get_metrics()["branches"]
    assert set(branches) == {"MET_pt", "Muon_pt", "nMuon"} or set(branches) == {"MET_pt", "Muon_pt"}
    by_branch = sum(branch["bytes"] for branch in branches.values())
    assert by_branch + sum(table["setup_bytes"]) == pytest.approx(report["bytesread"], rel=0.02)
    assert all(branch["files"] == 3 for branch in branches.values())
    files = roast.get_metrics()["file_metadata"]
    assert len(files) == 3
    assert all(0 < file["compression_ratio"] < 1.5 for file in files.values())


@pytest.mark.parametrize("compression", [1, None])
@pytest.mark.parametrize("name", EXECUTORS)
@pytest.mark.parametrize(
    "instance", [Accumulators(), JustANumber(), count_events], ids=["acc", "int", "function"]
)
def test_any_processor_is_recorded(
    dask_client: Client,
    small_fileset: dict[str, Any],
    name: str,
    instance: Any,
    compression: int | None,
) -> None:
    executor = make_executor(name, dask_client, compression=compression)
    runner = make_runner(executor, processor_compression=compression)
    with MetricsCollector(runner, track_workers=False) as roast:
        runner(small_fileset, instance)
    assert len(roast.chunk_metrics) == CHUNKS
    assert roast.get_metrics()["total_events_from_chunks"] == 2_600


def test_the_documented_way_with_a_client(
    dask_client: Client, small_fileset: dict[str, Any]
) -> None:
    instance = Decorated()
    executor = make_executor("dask", dask_client)
    for compression in (1, None):
        executor.compression = compression
        runner = make_runner(executor, savemetrics=True)
        with MetricsCollector(dask_client, processor_instance=instance) as collector:
            assert instance._roastcoffea_collect_metrics
            out, report = runner(small_fileset, instance)
            rows = collector.extract_metrics_from_output(out)
            collector.set_coffea_report(report)
        assert not hasattr(instance, "_roastcoffea_collect_metrics")
        assert set(out) == {"events", "met", "muons"}
        assert len(rows) == len(collector.chunk_metrics) == CHUNKS
        assert collector.chunk_metrics[0]["custom_count"] == 42
        assert collector.chunk_metrics[0]["timing"]["select"] > 0
        collector.extract_metrics_from_output(out)
        collector.set_chunk_metrics(rows)
        assert len(collector.chunk_metrics) == CHUNKS, "a row counts once"
        pickle.loads(pickle.dumps(instance))


def test_a_decorated_processor_without_a_collector(small_fileset: dict[str, Any]) -> None:
    runner = make_runner(processor.IterativeExecutor(status=False))
    assert set(runner(small_fileset, Decorated())) == {"events", "met", "muons"}
    with track_time(None, "nowhere"):
        pass


def test_known_cpu_sleep_memory_and_sections(dask_client: Client, tmp_path: Path) -> None:
    fileset = data.fileset(
        {"known": [data.small_root_file(tmp_path / "known.root", event_count=400)]}
    )
    runner = make_runner(make_executor("dask", dask_client), chunksize=100)
    runner(fileset, count_events)
    with MetricsCollector(runner) as roast:
        out = runner(fileset, SelfTimed(cpu_secs=0.3, sleep_secs=1.0))
    import pyarrow as pa

    chunks = pa.table(roast.measurement.table("chunks")).to_pydict()
    waits = []
    for index in range(4):
        # Reading the column is not the processor's own: its share is taken out.
        wall, cpu, waited = (
            chunks[f"process{kind}_secs"][index] - chunks[f"read{kind}_secs"][index]
            for kind in ("", "_cpu", "_run_queue")
        )
        assert cpu >= 0.3
        waits.append(wall - cpu - waited)
    # What it burns is known, and what the rest of it took, its own clock told.
    assert sorted(chunks["process_cpu_secs"]) == pytest.approx(sorted(out["cpu_secs"]), rel=0.05)
    assert max(out["cpu_secs"]) >= 0.3
    # A busy machine adds to a wait (the interpreter lock is another thread's for longer), and
    # never takes from it: the chunk that was disturbed least tells what the sleep was.
    assert min(waits) == pytest.approx(1.0, rel=0.05)
    ledger = roast.get_metrics()["ledger"]
    assert ledger["user_cpu"] == pytest.approx(sum(out["cpu_secs"]), rel=0.05)
    assert ledger["user_wait"] == pytest.approx(sum(waits), rel=0.05)

    with MetricsCollector(runner) as roast:
        runner(fileset, Allocating())
    for row in roast.chunk_metrics:
        rise = row["peak_memory_mb"] - row["mem_before_mb"]
        assert rise * 2**20 == pytest.approx(320e6, rel=0.05)
        assert row["mem_delta_mb"] < 100

    with MetricsCollector(runner) as roast:
        runner(fileset, SlowSection())
    sections = roast.get_metrics()["sections"]
    assert max(sections, key=lambda name: sections[name]["total_seconds"]) == "slow"
    assert sections["slow"]["mean_seconds"] > 0.099
    assert min(row["timing"]["slow"] for row in roast.chunk_metrics) == pytest.approx(0.1, rel=0.05)
    assert sections["quick"]["count"] == 8


def test_unreasonable_sections_are_bounded(small_fileset: dict[str, Any]) -> None:
    runner = make_runner(processor.IterativeExecutor(status=False), chunksize=2_000)
    with MetricsCollector(runner) as roast:
        runner(small_fileset, HardSections())
    for row in roast.chunk_metrics:
        names = {section["section_name"] for section in row["sections"]}
        assert "17" in names
        assert max(map(len, names)) <= 201
        assert len(row["sections"]) <= 1_200
    assert any("sections" in note for note in roast.notes)


def test_processors_that_take_no_attributes(small_fileset: dict[str, Any]) -> None:
    runner = make_runner(processor.IterativeExecutor(status=False))
    with (
        pytest.warns(RuntimeWarning, match="takes no attributes"),
        MetricsCollector(runner, processor_instance=Slots()) as roast,
    ):
        out = runner(small_fileset, Slots())
    assert out["events"] == 2_600
    assert len(roast.chunk_metrics) == CHUNKS
    assert any("takes no attributes" in note and "10 chunks" in note for note in roast.notes)


@pytest.mark.filterwarnings("ignore:roastcoffea")
@pytest.mark.parametrize("instance", [len, functools.partial(len)], ids=["builtin", "partial"])
def test_processors_that_are_objects_of_c(small_fileset: dict[str, Any], instance: Any) -> None:
    runner = make_runner(processor.IterativeExecutor(status=False))
    with MetricsCollector(runner) as roast:
        out = runner(small_fileset, instance)
    assert out == 2_600
    assert len(roast.chunk_metrics) == CHUNKS


@pytest.mark.parametrize("name", EXECUTORS)
def test_failures_and_retries(
    dask_client: Client, small_fileset: dict[str, Any], tmp_path: Path, name: str
) -> None:
    instance = FailingOnce("second-0", str(tmp_path))
    runner = make_runner(make_executor(name, dask_client, retries=2))
    import warnings

    # Pools live for a second or two: their processes must be seen in that time.
    collector = MetricsCollector(runner, worker_tracking_interval=0.05)
    with warnings.catch_warnings(), collector as roast:
        warnings.simplefilter("ignore")
        out = runner(small_fileset, instance)
    assert out["events"] == 2_600
    rows = roast.chunk_metrics
    failed = [row for row in rows if row["error"] is not None]
    assert {row["error"] for row in failed} == {"ZeroDivisionError"}
    assert len(failed) == 2
    assert all(row["attempt"] == 1 for row in failed)
    retried = [row for row in rows if row["attempt"] == 2]
    assert keys(retried) == keys(failed)
    metrics = roast.get_metrics()
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["num_retried_chunks"] == 2
    assert metrics["num_failed_chunks"] == 0
    assert metrics["total_events_from_chunks"] == 2_600
    assert metrics["ledger"]["failed_work"] >= 0.1


def test_processes_that_were_forked_send_their_rows(small_fileset: dict[str, Any]) -> None:
    pool = functools.partial(
        concurrent.futures.ProcessPoolExecutor, mp_context=multiprocessing.get_context("fork")
    )
    executor = processor.FuturesExecutor(workers=2, status=False, pool=pool)
    runner = make_runner(executor)
    with MetricsCollector(runner, track_workers=False) as roast:
        out = runner(small_fileset, Undecorated())
    assert sum(row["num_events"] for row in roast.chunk_metrics) == out["events"] == 2_600


@pytest.mark.parametrize("name", EXECUTORS)
def test_a_run_that_raises_keeps_every_finished_chunk(
    dask_client: Client, small_fileset: dict[str, Any], tmp_path: Path, name: str
) -> None:
    from processors import Failing

    runner = make_runner(make_executor(name, dask_client, retries=0))
    with (
        pytest.raises(Exception, match="cursed"),
        MetricsCollector(runner, tmp_path, measurement_name="raised") as roast,
    ):
        runner(small_fileset, Failing("second-0"))
    rows = roast.chunk_metrics
    assert any(row["error"] == "ZeroDivisionError" for row in rows)
    if name != "dask":
        assert sum(row["error"] is None for row in rows) >= 1
    loaded = load_measurement(tmp_path / "raised")
    assert keys(loaded.chunk_metrics) == keys(rows)
    assert loaded.metrics["num_failed_chunks"] >= 1
    roast.print_summary()
    assert [path.name for path in tmp_path.iterdir()] == ["raised"], "the spool is gone"


def test_a_killed_worker_costs_its_chunk_only(
    small_fileset: dict[str, Any], tmp_path: Path
) -> None:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        runner = make_runner(make_executor("dask", client))
        with MetricsCollector(runner) as roast:
            out = runner(small_fileset, KillsItsWorker(str(tmp_path)))
    assert out["events"] == 2_600
    metrics = roast.get_metrics()
    assert metrics["num_successful_chunks"] == CHUNKS
    assert metrics["total_events_from_chunks"] == 2_600
    ok = [row for row in roast.chunk_metrics if row["error"] is None]
    assert set(keys(ok)) == set(keys(roast.chunk_metrics))
    assert len(set(keys(ok))) == CHUNKS


def test_replayed_chunks_are_left_out_of_rates(
    small_fileset: dict[str, Any], tmp_path: Path
) -> None:
    def run() -> MetricsCollector:
        runner = make_runner(
            processor.IterativeExecutor(status=False),
            savemetrics=True,
            checkpointer=SimpleCheckpointer(str(tmp_path)),
        )
        with MetricsCollector(runner) as roast:
            out, _report = runner(small_fileset, Metrology(cpu_secs=0.05, sleep_secs=0.0))
        assert out["events"] == 2_600
        return roast

    first, second = run().get_metrics(), run().get_metrics()
    assert first["num_replayed_chunks"] == 0
    assert second["num_replayed_chunks"] == CHUNKS
    assert 0.3 < first["cpu_efficiency"] <= 1.05
    assert not second["cpu_efficiency"], "nothing was processed"
    assert second["total_events"] == 2_600


def test_a_cluster_without_roastcoffea(small_fileset: dict[str, Any]) -> None:
    def forget_roastcoffea() -> None:
        import sys

        class Block:
            def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
                if name.split(".")[0] == "roastcoffea":
                    raise ModuleNotFoundError("no roastcoffea here")

        for name in [name for name in sys.modules if name.split(".")[0] == "roastcoffea"]:
            del sys.modules[name]
        sys.meta_path.insert(0, Block())

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.run(forget_roastcoffea)
        runner = make_runner(make_executor("dask", client))
        with (
            pytest.warns(UserWarning, match=r"cannot be imported on 1 of the workers \(tcp"),
            MetricsCollector(runner) as roast,
        ):
            out = runner(small_fileset, count_events_by_value())
    assert out["events"] == 2_600
    assert roast.chunk_metrics == []
    assert roast.get_metrics()["processor_cpu_time_seconds"] > 0
    assert roast.get_metrics()["total_events"] == 2_600


def count_events_by_value() -> Any:
    def count(events: Any) -> dict[str, Any]:
        return {"events": len(events)}

    return count


def test_the_ledger_adds_up(dask_client: Client, small_fileset: dict[str, Any]) -> None:
    runner = make_runner(make_executor("dask", dask_client), chunksize=100)
    with MetricsCollector(runner, worker_tracking_interval=0.1) as roast:
        runner(small_fileset, Metrology(cpu_secs=0.1, sleep_secs=0.05))
        time.sleep(0.5)
    metrics = roast.get_metrics()
    ledger = metrics["ledger"]
    available = metrics["ledger_available_core_seconds"]
    assert available == pytest.approx(2 * metrics["wall_time"], rel=0.05)
    assert sum(ledger.values()) == pytest.approx(available, rel=1e-6)
    assert all(seconds >= -1e-6 for seconds in ledger.values())
    assert ledger["unexplained"] < 0.05 * available
    assert ledger["user_cpu"] == pytest.approx(26 * 0.1, rel=0.1)
    assert ledger["idle_client"] >= 0.9
    assert metrics["monitoring_overhead_percent"] < 5


@pytest.mark.parametrize("compression", [1, None])
def test_decorated_accumulators_and_shared_processors(
    small_fileset: dict[str, Any], compression: int | None
) -> None:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        for instance in (DecoratedAccumulators(), Decorated()):
            runner = make_runner(
                make_executor("dask", client, compression=compression), processor_compression=None
            )
            with MetricsCollector(client, processor_instance=instance) as collector:
                out = runner(small_fileset, instance)
                collector.extract_metrics_from_output(out)
            assert "__roastcoffea_metrics__" not in out
            rows = collector.chunk_metrics
            assert len(rows) == CHUNKS
            assert set(keys(rows).values()) == {1}
            assert sum(row["num_events"] for row in rows) == 2_600
            assert not [name for name in vars(instance) if "roastcoffea" in name]
            if isinstance(instance, Decorated):
                assert all(row["custom_count"] == 42 for row in rows)
                assert all(len(row["sections"]) == 3 for row in rows)


def test_a_file_of_two_datasets_stays_apart(dask_client: Client, tmp_path: Path) -> None:
    path = data.small_root_file(tmp_path / "shared.root", event_count=500)
    copy = tmp_path / "copy.root"
    copy.write_bytes(path.read_bytes())
    runner = make_runner(make_executor("dask", dask_client))
    with MetricsCollector(runner, track_workers=False) as roast:
        runner(data.fileset({"one": [path], "two": [path, copy]}), Undecorated())
    assert len(roast.chunk_metrics) == 6
    per_dataset = roast.get_metrics()["per_dataset"]
    assert {name: entry["total_events"] for name, entry in per_dataset.items()} == {
        "one": 500,
        "two": 1_000,
    }
    assert set(roast.get_metrics()["file_metadata"]) == {str(path), str(copy)}


def test_coverage_comes_from_every_chunk(tmp_path: Path) -> None:
    path = data.small_root_file(tmp_path / "input.root", event_count=500)
    runner = make_runner(processor.IterativeExecutor(status=False))
    with MetricsCollector(runner) as roast:
        runner(data.fileset({"one": [path]}), FirstHalfOnly())
    metrics = roast.get_metrics()
    assert metrics["total_branches_read"] == 2
    assert set(metrics["branches"]) == {"MET_pt", "luminosityBlock"}
    (read,) = metrics["file_read_metrics"].values()
    assert read["branches_read_percent"] == pytest.approx(100 * 2 / read["total_branches"])
    assert [row["accessed_branches"] for row in roast.chunk_metrics] == [
        ["MET_pt"],
        ["luminosityBlock"],
    ]


def test_preloaded_and_cached_reads_are_seen_for_what_they_are(tmp_path: Path) -> None:
    path = data.small_root_file(tmp_path / "input.root", event_count=500)
    runner = make_runner(processor.IterativeExecutor(status=False), savemetrics=True)
    plain = {"one": {"files": {str(path): "Events"}}}
    preload = {"one": {"files": {str(path): "Events"}, "preload": ["MET_pt"]}}
    import pyarrow as pa

    def run(fileset: dict[str, Any], runner: processor.Runner) -> tuple[dict[str, Any], Any]:
        with MetricsCollector(runner) as roast:
            _out, report = runner(fileset, count_events)
        return pa.table(roast.measurement.table("chunks")).to_pydict(), report

    chunks, report = run(plain, runner)
    assert sum(chunks["preloaded_reads"]) == 0
    preloaded, preload_report = run(preload, runner)
    assert sum(preloaded["preloaded_reads"]) == 2
    assert sum(preloaded["bytes_read"]) == preload_report["bytesread"]
    assert sum(preloaded["setup_bytes"]) > sum(chunks["setup_bytes"])
    assert sum(chunks["bytes_read"]) == report["bytesread"]

    cache: dict[Any, Any] = {}
    caching = make_runner(
        processor.IterativeExecutor(status=False), savemetrics=True, cachestrategy=lambda: cache
    )
    first, _ = run(plain, caching)
    second, _ = run(plain, caching)
    assert sum(first["cached_reads"]) == 0
    assert sum(second["cached_reads"]) > 0
    assert sum(second["reads"]) == 0


def test_files_of_each_format_are_described(dask_client: Client) -> None:
    for kind in ("ttree", "rntuple"):
        fileset, options = formats()[kind]
        runner = make_runner(make_executor("dask", dask_client), **options)
        with MetricsCollector(runner, track_workers=False) as roast:
            runner(fileset, Undecorated())
        metrics = roast.get_metrics()
        (file,) = metrics["file_metadata"].values()
        assert file["total_branches"] > 1_000
        assert 0 < file["compression_ratio"] < 1
        size = Path(next(iter(metrics["file_metadata"]))).stat().st_size
        assert 0.1 * size < file["total_tree_bytes"] < size
        assert 0 < metrics["avg_bytes_read_percent"] < 20
        assert 0 < metrics["avg_branches_read_percent"] < 1


def test_bytes_of_a_section_and_errors_inside_one(small_fileset: dict[str, Any]) -> None:
    runner = make_runner(processor.IterativeExecutor(status=False))
    with MetricsCollector(runner) as roast:
        runner(small_fileset, CountsBytes())
    branches = roast.get_metrics()["branches"]
    counted = sum(row["bytes"]["met"] for row in roast.chunk_metrics)
    assert counted == branches["MET_pt"]["bytes"] > 0
    assert all(row["timing"]["broken"] >= 0 for row in roast.chunk_metrics)


def test_a_slow_branch_tops_the_branches(dask_client: Client, tmp_path: Path) -> None:
    import numpy as np
    import uproot

    path = tmp_path / "slow.root"
    random = np.random.default_rng(3)
    columns: dict[str, Any] = {f"small{i}": np.zeros(1_000, dtype=np.float32) for i in range(5)}
    columns["large"] = random.normal(size=(1_000, 3_000))
    with uproot.recreate(path) as file:
        file["Events"] = columns
    runner = make_runner(make_executor("dask", dask_client), chunksize=1_000)
    runner(data.fileset({"one": [path]}), ReadsAll())
    with MetricsCollector(runner) as roast:
        runner(data.fileset({"one": [path]}), ReadsAll())
    branches = roast.get_metrics()["branches"]
    assert next(iter(branches)) == "large"
    assert branches["large"]["seconds"] > sum(
        branch["seconds"] for name, branch in branches.items() if name != "large"
    )
    assert branches["large"]["bytes"] > 10_000_000


def test_a_straggler_makes_a_tail(dask_client: Client, tmp_path: Path) -> None:
    path = data.small_root_file(tmp_path / "input.root", event_count=600)
    runner = make_runner(make_executor("dask", dask_client), chunksize=100)
    runner(data.fileset({"one": [path]}), count_events)
    with MetricsCollector(runner, worker_tracking_interval=0.1) as roast:
        runner(data.fileset({"one": [path]}), Straggling())
    metrics = roast.get_metrics()
    ledger = metrics["ledger"]
    assert ledger["user_wait"] == pytest.approx(2.5 + 5 * 0.1, rel=0.1)
    idle = {key: seconds for key, seconds in ledger.items() if key.startswith("idle")}
    assert max(idle, key=lambda key: idle[key]) == "idle_tail"
    assert ledger["idle_tail"] > 1.5
    assert metrics["slowest_chunks"][0]["entry_start"] == 500


class BareEvents:
    """Events of another kind: a length, and nothing else that coffea's have."""

    def __len__(self) -> int:
        return 5


class OddFactory:
    """A factory of another coffea: no mapping, no access log."""

    access_log = None
    file_handle = None
    _mapping = object()


class OddEvents(BareEvents):
    metadata = None

    def __init__(self) -> None:
        self.attrs = {"@events_factory": OddFactory()}


@pytest.mark.parametrize("events", [BareEvents(), OddEvents(), [1, 2, 3, 4, 5]])
def test_unknown_events_cost_columns_only(events: Any, recwarn: pytest.WarningsRecorder) -> None:
    import warnings

    class Counting(processor.ProcessorABC):
        @track_metrics
        def process(self, events: Any) -> Any:
            return {"events": len(events)}

        def postprocess(self, accumulator: Any) -> Any:
            return accumulator

    instance = Counting()
    instance._roastcoffea_collect_metrics = True
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        out = instance.process(events)
    assert out["events"] == 5
    (row,) = out["__roastcoffea_metrics__"]
    assert row["num_events"] == 5
    assert row["dataset"] is None
    assert row["duration"] >= 0
    assert row["accessed_branches"] in (None, [])
