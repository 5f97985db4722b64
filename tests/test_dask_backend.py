"""The Dask backend on real clusters: what it sees, and what it leaves behind."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import dask
import distributed
import numpy as np
import pytest
from dask.base import get_annotations
from distributed import Client, LocalCluster

from roastcoffea import _core
from roastcoffea.backends import (
    AbstractMetricsBackend,
    backend_names,
    choose_backend,
    make_backend,
    register_backend,
    registry,
    remote,
)
from roastcoffea.backends.dask import (
    DaskBackend,
    DaskMetricsBackend,
    SpanInfo,
    prefix_of,
    processor_prefixes,
    started_client,
)
from waiting import wait_for_worker_count, wait_until

TIMES = {"time", "until", "last_seen", "start", "stop"}
TICK_COLUMNS = {
    "time", "worker_count", "threads_total", "tasks_waiting", "tasks_processing", "tick_secs",
}  # fmt: skip
WORKER_COLUMNS = {
    "worker", "host", "time", "until", "samples", "memory_bytes", "memory_limit_bytes",
    "cpu_percent", "threads", "processing", "executing", "stored_bytes", "occupancy_secs",
    "last_seen", "spilled_bytes", "host_net_read_bps", "host_net_write_bps",
    "host_disk_read_bps", "host_disk_write_bps", "event_loop_interval_secs",
}  # fmt: skip
TASK_COLUMNS = {"worker", "prefix", "action", "start", "stop", "nbytes", "outcome"}


class Columns:
    """Decodes batches as the compiled table builder does, into plain lists."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {}

    def append_rows(self, rows: bytes, columns: Sequence[tuple[str, list[str] | None]]) -> None:
        for position, (name, names) in enumerate(columns):
            kind = "d" if names is None and name not in TIMES else "q"
            cells: list[Any] = list(array(kind, rows)[position :: len(columns)])
            if names is not None:
                cells = [names[code] if code >= 0 else None for code in cells]
            self.columns.setdefault(name, []).extend(cells)
        assert len({len(values) for values in self.columns.values()}) == 1

    def rows(self) -> list[dict[str, Any]]:
        values = zip(*self.columns.values(), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in values]


class PlainBackend(DaskMetricsBackend):
    """The real backend, with tables that a test can read."""

    def span(self, name: str) -> SpanInfo:
        info = self.create_span(name)
        assert info is not None
        return info

    def _new_builder(self, table: str) -> Columns:
        return Columns()

    def _finish_tracking(self) -> Mapping[str, Columns]:
        return dict(self._builders)


def samplers(client: Client) -> list[str]:
    def find(dask_scheduler: Any = None) -> list[str]:
        tasks = [task.get_name() for task in asyncio.all_tasks()]
        return [n for n in [*dask_scheduler.plugins, *tasks] if n.startswith("roastcoffea-")]

    found: list[str] = client.run_on_scheduler(find)
    return found


def burn(_: int, cpu_secs: float = 0.1) -> float:
    """Use at least so much CPU time; return how much it was by the thread's own clock."""
    began = time.thread_time()
    while time.thread_time() < began + cpu_secs:
        pass
    return time.thread_time() - began


def thread_cpu_secs(metrics: Mapping[tuple[Any, ...], float], prefix: str) -> float:
    return sum(
        value
        for key, value in metrics.items()
        if key[:3] == ("execute", prefix, "thread-cpu") and key[-1] == "seconds"
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster) as client:
        yield client


@pytest.fixture
def threads_client() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


# -- workers and tasks over time ----------------------------------------------------


@pytest.mark.parametrize("kind", ["client", "threads_client"])
def test_samples_have_every_column(kind: str, request: pytest.FixtureRequest) -> None:
    client: Client = request.getfixturevalue(kind)
    backend = PlainBackend(client)
    before = time.time_ns()
    backend.start_tracking(0.05)
    with backend.span("samples") as span:
        assert span.name == "samples"
        assert span.started is not None
        client.gather(client.map(burn, range(6), pure=False))
    # Longer than the time between two heartbeats, which tell what is executing.
    client.submit(time.sleep, 1.3, pure=False).result()
    data = backend.stop_tracking()
    after = time.time_ns()
    assert backend.notes == []

    assert {table: set(data[table].columns) for table in data} == {
        "ticks": TICK_COLUMNS,
        "workers": WORKER_COLUMNS,
        "tasks": TASK_COLUMNS,
    }
    ticks, workers, tasks = (data[table].rows() for table in ("ticks", "workers", "tasks"))
    threads = sum(client.nthreads().values())
    assert len(ticks) >= 5
    assert all(before <= tick["time"] <= after for tick in ticks)
    assert {tick["worker_count"] for tick in ticks} == {len(client.nthreads())}
    assert {tick["threads_total"] for tick in ticks} == {threads}
    assert max(tick["tasks_processing"] for tick in ticks) > 0
    assert all(0 < tick["tick_secs"] < 1 for tick in ticks)

    assert {row["worker"] for row in workers} == set(client.nthreads())
    # Each worker is in every tick exactly once, in one stretch or another.
    assert sum(row["samples"] for row in workers) == len(ticks) * len(client.nthreads())
    assert all(row["time"] <= row["until"] for row in workers)
    assert all(row["memory_bytes"] > 1e6 for row in workers)
    assert all(row["memory_limit_bytes"] > 1e6 for row in workers)
    assert max(row["executing"] for row in workers) >= 1
    assert max(row["occupancy_secs"] for row in workers) > 0
    assert len(workers) < len(ticks) * len(client.nthreads())

    assert len(tasks) == 6
    assert {row["prefix"] for row in tasks} == {"burn"}
    assert {row["action"] for row in tasks} == {"compute"}
    assert {row["outcome"] for row in tasks} == {"memory"}
    assert all(row["nbytes"] > 0 and row["start"] < row["stop"] for row in tasks)


def test_unlimited_memory_is_missing_not_zero() -> None:
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            memory_limit=0,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        backend = PlainBackend(client)
        backend.start_tracking(0.05)
        rows = backend.stop_tracking()["workers"].rows()
    assert rows
    assert all(math.isnan(row["memory_limit_bytes"]) for row in rows)


def test_a_worker_joins_and_leaves(client: Client, cluster: LocalCluster) -> None:
    before = set(client.nthreads())
    backend = PlainBackend(client)
    backend.start_tracking(0.05)
    cluster.scale(3)
    wait_for_worker_count(client, 3)
    (joined,) = set(client.nthreads()) - before
    time.sleep(0.3)
    client.retire_workers([joined])
    cluster.scale(2)
    wait_until(lambda: joined not in client.scheduler_info(n_workers=-1)["workers"])
    time.sleep(0.3)
    data = backend.stop_tracking()
    assert backend.notes == []
    ticks = data["ticks"].rows()
    stretches = [row for row in data["workers"].rows() if row["worker"] == joined]
    assert {2, 3} <= {tick["worker_count"] for tick in ticks}
    assert ticks[-1]["worker_count"] == 2
    assert ticks[0]["time"] < min(row["time"] for row in stretches)
    assert max(row["until"] for row in stretches) < ticks[-1]["time"]


def test_a_restarted_cluster_is_still_sampled(client: Client) -> None:
    before = set(client.nthreads())
    backend = PlainBackend(client)
    backend.start_tracking(0.05)
    time.sleep(0.2)
    client.restart()
    time.sleep(0.2)
    workers = {row["worker"] for row in backend.stop_tracking()["workers"].rows()}
    assert workers >= before | set(client.nthreads())
    assert backend.notes == []


def fail(_: int) -> None:
    message = "on purpose"
    raise ValueError(message)


def test_failing_tasks_are_rows_too(client: Client) -> None:
    backend = PlainBackend(client)
    backend.start_tracking(0.1)
    with backend.span("failing"):
        futures = client.map(fail, range(3), pure=False)
        retried = client.submit(fail, 0, pure=False, retries=1)
        distributed.wait([*futures, retried])
    rows = backend.stop_tracking()["tasks"].rows()
    assert backend.notes == []
    assert [row["outcome"] for row in rows] == ["erred"] * 4
    assert all(math.isnan(row["nbytes"]) for row in rows)


def of_first(_: int) -> None: ...


def of_second(_: int) -> None: ...


def of_nobody(_: int) -> None: ...


def test_collectors_do_not_disturb_each_other(client: Client, cluster: LocalCluster) -> None:
    with Client(cluster) as other_client:
        first, second = PlainBackend(client), PlainBackend(other_client)
        first.start_tracking(0.05)
        with second.span("second"):  # entered before tracking runs
            second.start_tracking(0.05)
            other_client.gather(other_client.map(of_second, range(3)))
        with first.span("first"):
            client.gather(client.map(of_first, range(4)))
            with distributed.span("inner"):
                client.gather(client.map(of_first, range(100, 102)))
        client.gather(client.map(of_nobody, range(5)))
        first_tasks = first.stop_tracking()["tasks"].rows()

        assert len(samplers(client)) == 2  # the other's plugin and its task
        ticks_before = len(second._builders["ticks"].rows())
        time.sleep(0.3)
        second_data = second.stop_tracking()
    assert [row["prefix"] for row in first_tasks] == ["of_first"] * 6
    assert [row["prefix"] for row in second_data["tasks"].rows()] == ["of_second"] * 3
    assert len(second_data["ticks"].rows()) > ticks_before + 3
    assert samplers(client) == []


def test_rows_are_fetched_while_the_run_lasts(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roastcoffea.backends.dask.MIN_DRAIN_INTERVAL_SECS", 0.1)
    backend = PlainBackend(client)
    backend.start_tracking(0.05)
    time.sleep(0.5)
    wait_until(lambda: len(backend._builders["ticks"].rows()) > 3)
    times = [tick["time"] for tick in backend.stop_tracking()["ticks"].rows()]
    assert times == sorted(set(times))


def test_a_broken_hook_is_noted_and_never_raised(threads_client: Client) -> None:
    backend = PlainBackend(threads_client)
    backend.start_tracking(0.05)

    def spoil(dask_scheduler: Any = None) -> None:
        (name,) = [n for n in dask_scheduler.plugins if n.startswith("roastcoffea-")]
        dask_scheduler.plugins[name]._span_is_ours = None

    threads_client.run_on_scheduler(spoil)
    assert threads_client.submit(burn, 1, 0.01).result() >= 0.01
    backend.stop_tracking()
    assert any("AttributeError" in note for note in backend.notes)


def test_an_hour_of_samples_is_held_small_and_comes_back_whole() -> None:
    """Rows are sealed as they gather; numbers are kept to what a sample can mean."""
    count, per_batch = 70_000, 1_000
    numbers = np.arange(count)
    cells = np.zeros((count, 5), dtype="<f8")
    cells[:, 0] = (numbers % 3 - 1).astype("<i8").view("<f8")
    cells[:, 1] = (numbers * 1_000_000_007).astype("<i8").view("<f8")
    cells[:, 2] = numbers / 7
    cells[:, 3] = numbers / 7e6
    cells[:, 4] = np.where(numbers % 5 == 0, np.nan, numbers * 4096)
    columns = [
        ("worker", ["tcp://a", "tcp://b"]),
        ("time", None),
        ("host_net_read_bps", None),
        ("event_loop_interval_secs", None),
        ("memory_bytes", None),
    ]
    table = _core.TableBuilder("workers")
    for first in range(0, count, per_batch):
        table.append_rows(cells[first : first + per_batch].tobytes(), columns)
    assert len(table) == count
    built = table.build()
    assert built.num_rows == count
    assert built.texts("worker")[:4] == [None, "tcp://a", "tcp://b", None]
    rates = np.frombuffer(built.floats("host_net_read_bps"))
    assert np.array_equal(rates, np.round(numbers / 7))
    delays = np.frombuffer(built.floats("event_loop_interval_secs"))
    assert np.abs(delays - numbers / 7e6).max() <= 0.5 / 2**20
    memory = np.frombuffer(built.floats("memory_bytes"))
    assert np.array_equal(memory, cells[:, 4], equal_nan=True)
    times = np.frombuffer(built.floats("time"))
    assert times == pytest.approx(numbers * 1.000000007)


class DearSampler(remote.SchedulerSampler):
    """Takes two milliseconds of CPU for a tick."""

    def _visit_few(self, workers: Sequence[Any], now: int) -> tuple[int, int]:
        burn(0, 0.002)
        return super()._visit_few(workers, now)


def test_a_dear_sampler_samples_less_often(threads_client: Client) -> None:
    """Its ticks take at most a hundredth of the scheduler's time, whatever was asked for."""

    async def ticks_of(sampler_class: type[remote.SchedulerSampler]) -> list[tuple[Any, ...]]:
        scheduler: Any = threads_client.cluster.scheduler  # type: ignore[union-attr]
        sampler = sampler_class(name="ticks", owner=threads_client.id, interval=0.005, span_ids=())
        sampler.begin(scheduler)
        await asyncio.sleep(1.5)
        rows, _ = (await sampler.finish())["ticks"]
        # The last one is taken at the end, out of turn.
        return list(struct.iter_unpack(remote.TICK_ROW, rows))[:-1]

    dear = threads_client.sync(ticks_of, DearSampler)
    plain = threads_client.sync(ticks_of, remote.SchedulerSampler)
    assert len(dear) >= 3
    took_secs = (dear[-1][0] - dear[0][0]) / 1e9
    cost_secs = sum(row[-1] for row in dear[:-1])
    assert cost_secs >= 0.002 * (len(dear) - 1)
    # A tick that comes late makes the next gap shorter.
    assert took_secs >= 90 * cost_secs
    assert len(plain) > 3 * len(dear)


def test_the_compiled_tables_take_the_batches(client: Client) -> None:
    backend = DaskMetricsBackend(client)
    backend.start_tracking(0.05)
    span = backend.create_span("compiled")
    assert span is not None
    with span:
        client.gather(client.map(burn, range(2), pure=False))
    data = backend.stop_tracking()
    assert backend.notes == []
    assert max(data["worker_counts"].values()) == 2


# -- nothing is left ---------------------------------------------------------------


def test_nothing_is_left_after_stop(client: Client) -> None:
    backend = PlainBackend(client)
    for _ in range(2):
        backend.start_tracking(0.05)
        assert len(samplers(client)) == 2
        backend.stop_tracking()
        assert samplers(client) == []
    assert not [t for t in threading.enumerate() if t.name.startswith("roastcoffea-")]
    time.sleep(0.3)
    assert samplers(client) == []


def test_nothing_is_left_after_the_client_closes(client: Client, cluster: LocalCluster) -> None:
    with Client(cluster) as leaving:
        PlainBackend(leaving).start_tracking(0.05)
        assert samplers(client)
    wait_until(lambda: samplers(client) == [])


def test_nothing_is_left_after_the_client_is_killed(client: Client, tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys, time
        from distributed import Client
        from roastcoffea.backends.dask import DaskMetricsBackend

        class Backend(DaskMetricsBackend):
            def _new_builder(self, table):
                return []

        Backend(Client(sys.argv[1])).start_tracking(0.05)
        print("started", flush=True)
        time.sleep(600)
        """
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    address = client.scheduler_info()["address"]
    with subprocess.Popen(
        [sys.executable, "-c", script, address],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "started"
        assert len(samplers(client)) == 2
        process.kill()
    wait_until(lambda: samplers(client) == [])


# -- schedulers elsewhere -------------------------------------------------------------

SCHEDULER = """
import asyncio, sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "roastcoffea":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
sys.path[:] = [entry for entry in sys.path if entry]

from distributed import Scheduler, Worker


async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        async with Worker(scheduler.address, nthreads=1, dashboard=False):
            print(scheduler.address, flush=True)
            await scheduler.finished()


asyncio.run(main())
"""


@pytest.fixture
def bare_scheduler(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A scheduler process, with one worker in it, that has no roastcoffea."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    with subprocess.Popen(
        [sys.executable, "-c", SCHEDULER],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
        env=environment,
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_scheduler_without_roastcoffea(
    bare_scheduler: tuple[subprocess.Popen[str], str],
) -> None:
    def can_import() -> bool:
        try:
            import roastcoffea  # noqa: F401
        except ModuleNotFoundError:
            return False
        return True

    with Client(bare_scheduler[1]) as client:
        assert client.run_on_scheduler(can_import) is False
        assert set(client.run(can_import).values()) == {False}
        backend = PlainBackend(client)
        backend.start_tracking(0.05)
        with backend.span("bare") as span:
            assert client.submit(lambda: sum(range(10)), pure=False).result() == 45
            time.sleep(0.3)
        metrics = backend.get_span_metrics(span)
        data = backend.stop_tracking()
        assert backend.notes == []
        assert backend.span_completeness == 1.0
        assert thread_cpu_secs(metrics, "lambda") > 0
        assert len(data["ticks"].rows()) > 3
        assert len(data["tasks"].rows()) == 1
        assert samplers(client) == []


def test_a_scheduler_that_dies_is_a_note(
    bare_scheduler: tuple[subprocess.Popen[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roastcoffea.backends.dask.MIN_DRAIN_INTERVAL_SECS", 0.1)
    process, address = bare_scheduler
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        client = Client(address)
        try:
            backend = PlainBackend(client)
            backend.start_tracking(0.05)
            with backend.span("doomed") as span:
                client.submit(burn, 1, pure=False)
                wait_until(lambda: len(backend._builders["ticks"].rows()) > 3)
                process.kill()
                process.wait()
                time.sleep(0.3)
            assert backend.get_span_metrics(span) == {}
            assert len(backend.stop_tracking()["ticks"].rows()) > 3
        finally:
            client.close()
    assert any("could not be reached" in note for note in backend.notes)


# -- spans ---------------------------------------------------------------------------


def burn_known(_: int) -> float:
    return burn(0, 0.15)


@pytest.mark.parametrize("kind", ["client", "threads_client"])
def test_span_seconds_are_complete_at_once(kind: str, request: pytest.FixtureRequest) -> None:
    client: Client = request.getfixturevalue(kind)
    backend = PlainBackend(client)
    backend.start_tracking(0.5)
    with backend.span("known") as span, distributed.span("inner"):
        burned = sum(client.gather(client.map(burn_known, range(12), pure=False)))
    metrics = backend.get_span_metrics(span)
    rows = backend.stop_tracking()["tasks"].rows()
    assert backend.span_completeness == 1.0
    assert thread_cpu_secs(metrics, "burn_known") == pytest.approx(burned, rel=0.15)
    assert len(rows) == 12
    assert backend.notes == []


def test_span_restores_the_context(client: Client) -> None:
    backend = PlainBackend(client)
    span = backend.span("once")
    assert (span.span_id, span.started) == (None, None)

    def fail_inside() -> None:
        with span:
            assert get_annotations()["span"]["ids"] == (span.span_id,)
            fail(0)

    with pytest.raises(ValueError, match="on purpose"):
        fail_inside()
    assert get_annotations() == {}
    with pytest.raises(RuntimeError, match="make a new one"):
        span.__enter__()


def test_a_span_without_tasks_is_empty(client: Client) -> None:
    backend = PlainBackend(client)
    with backend.span("empty") as span:
        pass
    assert backend.get_span_metrics(span, max_retries=1, retry_delay=0.1) == {}
    assert backend.span_completeness is None
    assert "no task" in backend.notes[0]
    assert backend.get_span_metrics(None) == {}


def from_thread(_: int) -> None: ...


def test_a_span_can_be_carried_into_another_thread(client: Client) -> None:
    backend = PlainBackend(client)
    backend.start_tracking(1.0)
    span = backend.span("threads")
    with span.here():
        assert get_annotations() == {}

    def submit() -> None:
        with span.here():
            client.gather(client.map(from_thread, range(3), pure=False))

    with span:
        with distributed.span("inner"):
            inner = get_annotations()
            with span.here():
                assert get_annotations() == inner
        thread = threading.Thread(target=submit)
        thread.start()
        thread.join()
    rows = backend.stop_tracking()["tasks"].rows()
    assert [row["prefix"] for row in rows] == ["from_thread"] * 3


def burn_slow_report(_: int) -> float:
    return burn(0, 0.05)


def test_a_heartbeat_under_way_is_waited_for(client: Client) -> None:
    """Two heartbeats at once would close the worker; a lost one would lose seconds."""

    def slow(dask_worker: Any) -> None:
        async def metric(worker: Any) -> int:
            await asyncio.sleep(0.3)
            return 1

        # A heartbeat may be going through the old one.
        dask_worker.metrics = {**dask_worker.metrics, "slow": metric}

    def fast(dask_worker: Any) -> str:
        kept = dask_worker.metrics.items()
        dask_worker.metrics = {key: value for key, value in kept if key != "slow"}
        name: str = dask_worker.periodic_callbacks["heartbeat"].callback.__name__
        return name

    client.run(slow)
    before = set(client.nthreads())
    other = PlainBackend(client)
    backend = PlainBackend(client)
    try:
        for _ in range(4):
            with backend.span("slow reports") as span:
                burned = sum(client.gather(client.map(burn_slow_report, range(4), pure=False)))
            reader = threading.Thread(target=other.get_span_metrics, args=(span,))
            reader.start()
            metrics = backend.get_span_metrics(span)
            reader.join()
            assert backend.span_completeness == other.span_completeness == 1.0
            cpu_secs = thread_cpu_secs(metrics, "burn_slow_report")
            assert cpu_secs == pytest.approx(burned, rel=0.2)
    finally:
        assert set(client.run(fast).values()) == {"heartbeat"}
    assert set(client.nthreads()) == before


def burn_slower_report(_: int) -> float:
    return burn(0, 0.05)


def test_a_slow_heartbeat_is_waited_for_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker waits as long as it is waited for, rather than failing and being asked again."""

    def slow(dask_worker: Any) -> None:
        async def metric(worker: Any) -> int:
            await asyncio.sleep(2.5)
            return 1

        # A heartbeat may be going through the old one.
        dask_worker.metrics = {**dask_worker.metrics, "slower": metric}

    def fast(dask_worker: Any) -> None:
        kept = dask_worker.metrics.items()
        dask_worker.metrics = {key: value for key, value in kept if key != "slower"}

    backend = PlainBackend(client, report_timeout=60.0)
    asked: list[Any] = []
    read_span = backend._read_span

    def counted(*arguments: Any) -> Any:
        asked.append(arguments)
        return read_span(*arguments)

    monkeypatch.setattr(backend, "_read_span", counted)
    with backend.span("slower reports") as span:
        burned = sum(client.gather(client.map(burn_slower_report, range(4), pure=False)))
    client.run(slow)
    try:
        # Heartbeats are half a second apart: one is under way by then.
        time.sleep(1.0)
        metrics = backend.get_span_metrics(span)
    finally:
        client.run(fast)
    assert len(asked) == 1
    assert backend.span_completeness == 1.0
    assert backend.notes == []
    assert thread_cpu_secs(metrics, "burn_slower_report") == pytest.approx(burned, rel=0.2)


def burn_beside_hung(_: int) -> float:
    return burn(0, 0.02)


def test_a_hung_worker_does_not_hold_the_user_up() -> None:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        backend = PlainBackend(client, report_timeout=2.0)
        with backend.span("hung") as span:
            client.gather(client.map(burn_beside_hung, range(8), pure=False))
        pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, signal.SIGSTOP)
        try:
            started = time.monotonic()
            metrics = backend.get_span_metrics(span, max_retries=2, retry_delay=0.1)
            waited_secs = time.monotonic() - started
        finally:
            os.kill(pid, signal.SIGCONT)
        # The bound itself, with room for a busy machine.
        assert waited_secs < 2 * backend._report_timeout_secs
        assert backend.span_completeness == 0.5
        assert "did not report" in backend.notes[0]
        assert thread_cpu_secs(metrics, "burn_beside_hung") > 0
        # It has recovered, so asking again is complete.
        backend.get_span_metrics(span)
        assert backend.span_completeness == 1.0


# -- what is refused, and names -----------------------------------------------------


def test_refusals_say_what_to_do(client: Client) -> None:
    backend = DaskBackend(client)
    assert backend.supports_fine_metrics()
    for interval in (0, -1, math.nan, math.inf, "1"):
        with pytest.raises(ValueError, match="seconds above 0"):
            backend.start_tracking(interval)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="start_tracking first"):
        backend.stop_tracking()
    with pytest.raises(TypeError, match=r"distributed\.Client"):
        DaskBackend(object())  # type: ignore[arg-type]
    assert samplers(client) == []

    async def make(address: str) -> None:
        async with Client(address, asynchronous=True) as asynchronous_client:
            with pytest.raises(TypeError, match="synchronous one"):
                DaskBackend(asynchronous_client)

    asyncio.run(make(client.scheduler_info()["address"]))


def count_events(events: Any) -> dict[str, int]:
    return {"events": len(events)}


@pytest.mark.parametrize("compression", [1, None])
@pytest.mark.parametrize("kind", ["class", "function"])
def test_prefixes_are_those_that_coffea_makes(
    client: Client, tmp_path: Path, kind: str, compression: int | None
) -> None:
    import uproot
    from coffea import nanoevents
    from coffea import processor as coffea_processor

    class _Analysis(coffea_processor.ProcessorABC):
        def process(self, events: Any) -> dict[str, int]:
            return {"events": len(events)}

        def postprocess(self, accumulator: Any) -> Any:
            return accumulator

    path = tmp_path / "small.root"
    with uproot.recreate(path) as file:
        file.mktree("Events", {"x": "float64"})
        file["Events"].extend({"x": np.arange(300.0)})
    processor = _Analysis() if kind == "class" else count_events
    runner = coffea_processor.Runner(
        executor=coffea_processor.DaskExecutor(
            client=client, status=False, compression=compression
        ),
        schema=nanoevents.BaseSchema,
        chunksize=100,
    )
    backend = PlainBackend(client)
    backend.start_tracking(1.0)
    with backend.span("prefixes"):
        output = runner({"small": {"files": {str(path): "Events"}}}, processor)
    rows = backend.stop_tracking()["tasks"].rows()
    assert output == {"events": 300}
    (prefix,) = processor_prefixes(processor, compression=compression)
    computed = [row["prefix"] for row in rows if row["action"] == "compute"]
    # Without compression the one file's preprocessing bears the same name.
    assert computed.count(prefix) == (3 if compression is not None else 4)


def test_long_and_private_names_are_cut_as_dask_cuts_them() -> None:
    assert prefix_of("_Analysis") == "Analysis"
    assert prefix_of("A" * 80) == "A" * 50


@pytest.mark.filterwarnings("ignore:Port 8787 is already in use")
def test_a_client_is_started_where_coffea_would_start_one() -> None:
    from coffea import processor as coffea_processor

    executor = coffea_processor.DaskExecutor()
    with started_client([executor]) as backend:
        assert isinstance(executor.client, Client)
        assert backend._client is executor.client
        assert set(executor.client.nthreads().values()) == {1}
    assert executor.client is None


# -- the registry ----------------------------------------------------------------------


class TaskVineMetricsBackend(AbstractMetricsBackend):
    def __init__(self, taskvine_manager: Any) -> None:
        self.manager = taskvine_manager

    def start_tracking(self, interval: float) -> None:
        pass

    def stop_tracking(self) -> dict[str, Any]:
        return {"taskvine_metrics": ...}

    def create_span(self, name: str) -> Any:
        return None

    def get_span_metrics(self, span_info: Any) -> dict[Any, float]:
        return {}

    def supports_fine_metrics(self) -> bool:
        return False


@pytest.fixture
def clean_registry() -> Iterator[None]:
    before = dict(registry._registered)
    yield
    registry._registered.clear()
    registry._registered.update(before)


@pytest.mark.usefixtures("clean_registry")
def test_a_registered_backend_is_chosen_first(client: Client) -> None:
    assert {"dask", "local"} <= set(backend_names())
    assert choose_backend(client) == "dask"
    assert isinstance(make_backend("dask", client), DaskMetricsBackend)
    with pytest.raises(ValueError, match=r"dask, local.*register_backend"):
        make_backend("taskvine", client)
    with pytest.raises(TypeError, match="no backend can watch a str"):
        choose_backend("manager")

    register_backend(
        "taskvine", TaskVineMetricsBackend, accepts=lambda target: isinstance(target, str)
    )
    assert choose_backend("manager") == "taskvine"
    backend = make_backend("taskvine", "manager")
    assert isinstance(backend, TaskVineMetricsBackend)
    assert (backend.manager, list(backend.notes)) == ("manager", [])
    with pytest.raises(ValueError, match="replace=True"):
        register_backend("taskvine", TaskVineMetricsBackend)
    with pytest.raises(ValueError, match="replace=True"):
        register_backend("dask", TaskVineMetricsBackend)
    register_backend(
        "dask", TaskVineMetricsBackend, accepts=lambda target: target is client, replace=True
    )
    assert isinstance(make_backend(choose_backend(client), client), TaskVineMetricsBackend)


def test_coffea_targets_find_their_backend(client: Client) -> None:
    processor = pytest.importorskip("coffea.processor")
    executor = processor.DaskExecutor(client=client)
    runner = processor.Runner(executor=executor)
    assert choose_backend(executor) == choose_backend(runner) == "dask"
    assert isinstance(make_backend("dask", runner), DaskMetricsBackend)
    assert choose_backend(processor.Runner(executor=processor.IterativeExecutor())) == "local"
    with pytest.raises(ValueError, match=r"DaskExecutor\(client=client\)"):
        make_backend("dask", processor.DaskExecutor())


def test_importing_the_backends_loads_neither_dask_nor_coffea() -> None:
    code = (
        "import sys, roastcoffea.backends, roastcoffea.backends.remote; "
        "sys.exit(bool({'dask', 'distributed', 'coffea'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
