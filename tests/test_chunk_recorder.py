"""The recorder of a chunk, on real files and with coffea's own mapping."""

from __future__ import annotations

import concurrent.futures
import contextlib
import copy
import gc
import multiprocessing
import pickle
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import awkward as ak
import pyarrow as pa
import pytest
import uproot
from coffea.nanoevents import BaseSchema, NanoEventsFactory
from coffea.processor import accumulate

import data
from roastcoffea import files
from roastcoffea._core import (
    ChunkLog,
    ChunkRecorder,
    ColumnReader,
    Measurement,
    MeasurementError,
    Section,
    TableBuilder,
    TimedExecutor,
    current_chunk,
    track_time,
)
from roastcoffea.recording import record_process

HEADER = {"id": "1", "name": "n", "started_ns": 0, "wall_secs": 1.0, "backend": "local"}


def one_row(dataset: str = "ttbar", entry_start: int = 0) -> ChunkLog:
    recorder = ChunkRecorder(
        dataset=dataset, file="a.root", entry_start=entry_start, entry_stop=entry_start + 10
    )
    recorder.start_phase("process")
    with Section("selection"):
        pass
    return recorder.finish(bytes_read=100)


def table_lengths(log: ChunkLog) -> dict[str, int]:
    tables: list[TableBuilder] = log.tables()
    return {table.table: len(table) for table in tables}


@pytest.fixture
def root_file(tmp_path: Path) -> Path:
    return data.small_root_file(tmp_path / "events.root")


def open_events(path: Path, **metadata: object) -> tuple[Any, Any, Any]:
    factory = NanoEventsFactory.from_root(
        {str(path): "Events"}, schemaclass=BaseSchema, metadata=metadata
    )
    events = factory.events()
    factory = events.attrs["@events_factory"]
    return events, factory._mapping, factory.file_handle.source


@pytest.mark.parametrize("threads", [0, 2])
def test_reads_of_a_real_file_are_seen_by_branch(root_file: Path, threads: int) -> None:
    recorder = ChunkRecorder(dataset="ttbar")
    events, mapping, source = open_events(root_file)
    if threads:
        inner: Any = uproot.source.futures.ThreadPoolExecutor(threads)
    else:
        inner = uproot.source.futures.TrivialExecutor()
    mapping.extract_column = ColumnReader(recorder, mapping.extract_column, source)
    mapping.decompression_executor = TimedExecutor(recorder, inner, "decompress")
    mapping.interpretation_executor = TimedExecutor(recorder, inner, "interpret")
    recorder.start_phase("process")
    before = source.num_requested_bytes
    assert ak.sum(events.MET_pt) > 0
    assert ak.sum(events.Muon_pt) > 0
    requested = source.num_requested_bytes - before
    log = recorder.finish()
    (row,) = log.rows()
    assert row["accessed_branches"] == ["MET_pt", "Muon_pt"]
    tables = {table.table: table for table in log.tables()}
    assert len(tables["branch_sets"]) == 2
    built = Measurement.make(HEADER, list(tables.values()))
    chunk = pa.table(built.table("chunks")).to_pylist()[0]
    assert chunk["read_bytes"] == requested > 0
    assert chunk["reads"] >= 2
    assert chunk["read_secs"] > 0
    assert chunk["decompress_secs"] > 0
    assert chunk["interpret_secs"] > 0
    columns = pa.table(built.table("columns")).to_pylist()
    assert [column["branch"] for column in columns] == ["MET_pt", "Muon_pt"]
    assert sum(column["bytes"] for column in columns) == requested
    assert all(0 < column["decompress_secs"] < column["wall_secs"] for column in columns)
    assert row["phases"]["process"] == row["duration"] > 0
    if threads:
        assert mapping.decompression_executor.num_workers == threads
        inner.shutdown()


def test_a_file_is_asked_for_the_branches_that_are_read(root_file: Path) -> None:
    read: list[str] = []
    with uproot.open(root_file) as file:
        tree = file["Events"]
        uuid = str(file.file.uuid)
        for branch in ("MET_pt", "Muon_pt"):
            events, _, _ = open_events(
                root_file, filename=str(root_file), fileuuid=uuid, treename="Events"
            )
            _, log = record_process(lambda: ak.sum(events[branch]), SimpleNamespace(), events)  # noqa: B023
            assert log is not None
            built = Measurement.make(HEADER, log.tables())
            (seen,) = pa.table(built.table("files")).to_pylist()
            assert seen["num_branches"] == len(tree.keys())
            assert seen["branch_bytes_read_compressed"] == sum(
                tree[name].compressed_bytes for name in log[0]["accessed_branches"]
            )
            read += log[0]["accessed_branches"]
    assert {"MET_pt", "Muon_pt"} <= set(read)


def test_a_file_that_cannot_be_asked_costs_its_size_only(
    root_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(tree: Any, name: str) -> int:
        raise OSError(f"{tree} has no {name}")

    monkeypatch.setattr(files, "_branch_bytes", fail)
    events, _, _ = open_events(root_file)
    with pytest.warns(RuntimeWarning, match="the size of a file could not be told"):
        total, log = record_process(lambda: ak.sum(events.MET_pt), SimpleNamespace(), events)
    assert total > 0
    assert log is not None
    assert log[0]["accessed_branches"] == ["MET_pt"]


def test_a_missing_column_and_a_failed_read_pass_through() -> None:
    class Handle:
        name = "Jet_pt"

    def extract(columnhandle: Any, start: int, stop: int, allow_missing: object) -> int:
        if columnhandle is not None and start > stop:
            raise KeyError("range")
        return stop - start

    recorder = ChunkRecorder()
    reader = ColumnReader(recorder, extract, None, preloaded=frozenset({"Jet_pt"}))
    assert reader(None, 0, 5, allow_missing=True) == 5
    assert reader(columnhandle=Handle(), start=0, stop=5, allow_missing=False) == 5
    with pytest.raises(KeyError, match="range"):
        reader(Handle(), 5, 0, allow_missing=False)
    log = recorder.finish()
    assert log[0]["accessed_branches"] == ["Jet_pt"]
    assert reader(Handle(), 0, 5, allow_missing=False) == 5, "works on after the chunk is over"
    (columns,) = [table for table in log.tables() if table.table == "columns"]
    assert len(columns) == 1


def test_a_reader_does_not_keep_its_mapping_alive(root_file: Path) -> None:
    recorder = ChunkRecorder()
    events, mapping, _ = open_events(root_file)
    mapping.extract_column = ColumnReader(recorder, mapping.extract_column, None)
    gone = weakref.ref(mapping)
    del events, mapping, _
    gc.collect()
    assert gone() is None
    recorder.finish()


def test_sections_nest_repeat_and_let_exceptions_through() -> None:
    recorder = ChunkRecorder()
    recorder.start_phase("process")
    with Section("outer"):
        for _ in range(2):
            with Section("inner"):
                time.sleep(0.002)
    same = Section("same")
    with same, same:
        pass
    with pytest.raises(ZeroDivisionError), Section("fails"):
        _ = 1 / 0
    with Section(42), Section("grow", "memory"):
        kept = bytearray(30 << 20)
    (row,) = recorder.finish(error="ValueError")
    names = [section["section_name"] for section in row["sections"]]
    assert names == ["outer", "inner", "inner", "same", "same", "fails", "42"]
    assert row["timing"]["outer"] >= row["timing"]["inner"] >= 0.004
    assert row["memory"]["grow"] > 20
    assert len(kept) == 30 << 20
    assert row["error"] == "ValueError"


def test_sections_that_share_an_object_stay_apart() -> None:
    class Recursive:
        def __str__(self) -> str:
            with track_time(None, "inside"):
                return "odd"

    def recurse(depth: int) -> None:
        with track_time(None, "again"):
            if depth:
                recurse(depth - 1)

    def in_thread() -> list[str]:
        recorder = ChunkRecorder()
        recurse(1)
        (row,) = recorder.finish()
        return [section["section_name"] for section in row["sections"]]

    recorder = ChunkRecorder()
    names = [f"name {index}" for index in range(100)]
    with track_time(None, "outer"):
        recurse(2)
        for name in names:
            with track_time(None, name):
                pass
        with (
            track_time(None, "".join(["ag", "ain"])),
            track_time(None, Recursive()),
            concurrent.futures.ThreadPoolExecutor(1) as pool,
        ):
            assert pool.submit(in_thread).result() == ["again", "again"]
    (row,) = recorder.finish()
    sections = row["sections"]
    assert [section["section_name"] for section in sections] == [
        *["outer", "again", "again", "again", *names],
        *["again", "inside", "odd"],
    ]
    took = [section["time_delta"] for section in sections]
    assert took[0] == max(took)
    assert took[1] >= took[2] >= took[3]


def test_sections_that_overlap_keep_their_own_times() -> None:
    def work(secs: float) -> Iterator[None]:
        with track_time(None, "load"):
            yield
            time.sleep(secs)

    recorder = ChunkRecorder()
    first, second = work(0.0), work(0.1)
    next(first)
    next(second)
    list(first)
    list(second)
    (row,) = recorder.finish()
    took = [section["time_delta"] for section in row["sections"]]
    assert took[0] < took[1]
    assert took[1] >= 0.1


def test_a_section_without_a_chunk_does_nothing() -> None:
    assert current_chunk() is None
    with Section("nowhere") as section:
        recorder = ChunkRecorder()
    assert isinstance(section, Section)
    assert recorder.finish().rows()[0]["sections"] == []
    with pytest.raises(ValueError, match="time, memory, bytes"):
        Section("x", "speed")


def test_the_current_chunk_belongs_to_its_thread() -> None:
    recorder = ChunkRecorder()
    assert current_chunk() == recorder
    seen: list[object] = []
    thread = threading.Thread(target=lambda: seen.append(current_chunk()))
    thread.start()
    thread.join()
    assert seen == [None]
    assert len(recorder.finish()) == 1
    assert len(recorder.finish()) == 0
    assert current_chunk() is None


def test_chunks_of_several_threads_have_their_own_peaks() -> None:
    both_started = threading.Barrier(2, timeout=30)

    def chunk(megabytes: int, *, alone: bool = False) -> float:
        recorder = ChunkRecorder()
        recorder.start_phase("process")
        if not alone:
            both_started.wait()  # so that neither starts with the other's block in memory
        block = bytearray(megabytes << 20)
        time.sleep(0.05)
        del block
        (row,) = recorder.finish()
        return float(row["peak_memory_mb"] - row["mem_before_mb"])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        peaks = list(pool.map(chunk, [60, 60]))
    assert all(peak > 50 for peak in peaks)
    assert chunk(1, alone=True) < 50


def peak_in_child() -> tuple[float, int]:
    recorder = ChunkRecorder()
    recorder.start_phase("process")
    block = bytearray(60 << 20)
    time.sleep(0.05)
    del block
    (row,) = recorder.finish()
    return row["peak_memory_mb"] - row["mem_before_mb"], len(recorder.nonce)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_records_for_itself() -> None:
    one_row()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        peak, nonce_bytes = pool.apply(peak_in_child)
    assert peak > 50
    assert nonce_bytes == 16


def test_logs_add_up_and_travel() -> None:
    first, second = one_row(), one_row("zmumu", 10)
    both = first + second
    assert (len(first), len(second), len(both)) == (1, 1, 2)
    assert len(both + first) == 2, "a row counts once"
    assert len(sum([first, second], ChunkLog())) == len(0 + both) == 2
    empty: list[Any] = []
    assert len(empty + first) == 1
    assert len(first + None) == 1
    again = pickle.loads(pickle.dumps(both))
    assert again.rows() == both.rows() == list(both)
    assert again.to_bytes() == both.to_bytes() == ChunkLog.from_bytes(both.to_bytes()).to_bytes()
    assert len(pickle.dumps(both)) < 1500
    again += one_row("qcd", 20)
    assert (len(again), len(both)) == (3, 2)
    assert copy.deepcopy(again).rows() == again.rows()
    assert again[-1] == again.rows()[2]
    assert again[:2] == again.rows()[:2]
    with pytest.raises(IndexError):
        _ = again[3]
    with pytest.raises(TypeError):
        _ = again + empty.__class__([1])
    with pytest.raises(TypeError, match="ChunkLog"):
        again += "row"
    assert again.merge_all([first.to_bytes()]) == []
    assert len(again) == 3
    again.clear()
    assert len(again) == 0
    damaged = [both.to_bytes()[:-1], first.to_bytes(), b"no log"]
    assert again.merge_all(damaged) == [
        "this chunk log is damaged",
        "these bytes are not a chunk log",
    ]
    assert len(again) == 1
    with pytest.raises(MeasurementError, match="damaged"):
        ChunkLog(both.to_bytes()[:-1])


def test_coffea_accumulates_logs() -> None:
    outputs: list[Any] = [
        {"metrics": one_row(entry_start=10 * index), "sum": 1} for index in range(5)
    ]
    total: Any = accumulate(outputs)
    assert total["sum"] == 5
    assert len(total["metrics"]) == 5
    assert len(outputs[0]["metrics"]) == 1, "inputs are not changed"


def test_serialization_is_known_late() -> None:
    recorder = ChunkRecorder()
    log = recorder.finish()
    early = ChunkLog()
    early.set_serialize(recorder.nonce, 5_000_000, 1_000_000)
    early += log
    assert early[0]["phases"]["serialize"] == 0.005
    with pytest.raises(ValueError, match="16 bytes"):
        log.set_serialize(b"short", 1)


def test_what_a_user_puts_in_comes_out() -> None:
    recorder = ChunkRecorder(dataset="ttbar")
    recorder.set_num_events(7)
    recorder.set_extra("weights", {"a": [1, 2]})
    recorder.set_custom("passed", 3)
    recorder.set_identity(tree="Events", worker="tcp://w")
    recorder.note_file("a.root", None, "Events", 9, 100, 400, {"Jet_pt": 50})
    with pytest.raises(ValueError, match="unpack, open, tree"):
        recorder.start_phase("lunch")
    log = recorder.finish(replayed=True)
    (row,) = log
    assert row["num_events"] == 7
    assert row["weights"] == {"a": [1, 2]}
    assert row["custom_metrics"] == {"passed": 3}
    assert (row["tree"], row["worker"], row["dataset"]) == ("Events", "tcp://w", "ttbar")
    assert table_lengths(log) == {
        "chunks": 1,
        "sections": 0,
        "columns": 0,
        "branch_sets": 0,
        "files": 1,
    }
    given = {"dataset": "x", "duration": 0.1234567891, "timing": {"sel": 0.02}, "mine": (1, 2)}
    mine = ChunkLog()
    mine.add_row(given)
    assert {key: mine[0][key] for key in given} == given
    with pytest.raises(TypeError, match="dict"):
        mine.add_row([1])  # type: ignore[arg-type]


def test_two_threads_may_add_two_logs_to_each_other() -> None:
    left, right = one_row("a"), one_row("b")

    def add(target: ChunkLog, other: ChunkLog) -> None:
        for _ in range(200):
            target.merge(other)

    threads = [
        threading.Thread(target=add, args=(left, right)),
        threading.Thread(target=add, args=(right, left)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
        assert not thread.is_alive()
    assert len(left) == len(right) == 2


def test_a_section_costs_less_than_a_context_manager_of_python() -> None:
    @contextlib.contextmanager
    def timed(times: dict[str, float], name: str) -> Any:
        begun = time.perf_counter()
        try:
            yield
        finally:
            times[name] = time.perf_counter() - begun

    def best(enter: Any) -> float:
        fastest = float("inf")
        for _ in range(200):
            begun = time.perf_counter()
            for _ in range(50):
                with enter():
                    pass
            fastest = min(fastest, time.perf_counter() - begun)
        return fastest

    times: dict[str, float] = {}
    plain = best(lambda: timed(times, "x"))
    recorder = ChunkRecorder()
    section = best(lambda: track_time(None, "x"))
    recorder.finish()
    assert section < plain
