"""Advice on real runs: it is followed, and what it predicted is what happens."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema, NanoAODSchema
from distributed import Client, LocalCluster

import data
from processors import MuonCounter, ReadsAll, WaitsPerEvent
from roastcoffea import MetricsCollector, load_measurement

TOLERANCE = 0.25
TRIES = 3


def measure(
    client: Client, fileset: dict[str, Any], processor_instance: Any, **options: Any
) -> MetricsCollector:
    options = {"schema": BaseSchema, "metadata_cache": {}, **options}
    runner = processor.Runner(processor.DaskExecutor(client=client, status=False), **options)
    with MetricsCollector(runner, worker_tracking_interval=0.2) as collector:
        runner(fileset, processor_instance)
    return collector


def advice(collector: MetricsCollector, rule: str) -> dict[str, Any]:
    metrics = collector.get_metrics()
    found: dict[str, dict[str, Any]] = {one["rule"]: one for one in metrics["advice"]}
    assert rule in found, (metrics["verdict"], list(found), metrics["ledger"])
    return found[rule]


def check_prediction(
    before: Callable[[], MetricsCollector],
    after: Callable[[dict[str, Any]], MetricsCollector],
    rule: str,
) -> dict[str, Any]:
    """Follow the advice on a run and compare; a noisy machine gets three tries."""
    misses = []
    for _ in range(TRIES):
        given = advice(before(), rule)
        predicted = given["gain"]["wall_seconds_then"]
        wall_secs = after(given).get_metrics()["wall_time"]
        assert wall_secs < given["gain"]["wall_seconds_now"]
        if abs(predicted - wall_secs) <= TOLERANCE * wall_secs:
            return given
        misses.append((predicted, wall_secs))
    raise AssertionError(f"predicted and measured seconds: {misses}")


@contextmanager
def cluster_of(workers: int) -> Iterator[tuple[LocalCluster, Client]]:
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield cluster, client


def test_a_larger_chunk_size_brings_what_it_promises(dask_client: Client, tmp_path: Path) -> None:
    # More than two chunks per thread, however large they are: Dask gives fewer of them to one
    # worker first, and it is chance how soon the other takes one over.
    paths = [data.wide_nanoaod(tmp_path, event_count=300, seed=seed) for seed in range(6)]
    fileset = data.fileset({"wide": paths})
    waits = WaitsPerEvent(secs_per_event=0.004)
    run = partial(measure, dask_client, fileset, waits, schema=NanoAODSchema)
    run(chunksize=300)  # imports on the workers are no part of either run

    def follow(given: dict[str, Any]) -> MetricsCollector:
        action = given["action"]
        size = int(action.split("chunksize=")[1].split("`")[0])
        assert f"chunksize={size:_}" in given["snippet"]
        return run(chunksize=size)

    given = check_prediction(lambda: run(chunksize=50), follow, "setup-dominated")
    assert "chunks have 50 events" in given["headline"]


def test_twice_the_workers_bring_what_they_promise(tmp_path: Path) -> None:
    path = data.small_root_file(tmp_path / "small.root", event_count=1_600)
    fileset = data.fileset({"small": [path]})
    waits = WaitsPerEvent(secs_per_event=0.006)

    def before() -> MetricsCollector:
        with cluster_of(1) as (_, client):
            measure(client, fileset, waits, chunksize=1_600)
            return measure(client, fileset, waits, chunksize=100)

    def after(given: dict[str, Any]) -> MetricsCollector:
        assert "with 2 threads" in given["action"]
        with cluster_of(2) as (_, client):
            measure(client, fileset, MuonCounter(), chunksize=100)
            return measure(client, fileset, waits, chunksize=100)

    check_prediction(before, after, "too-few-workers")


class SlowAnswers(SimpleHTTPRequestHandler):
    """Serves byte ranges of files, each after a while, as storage far away does."""

    protocol_version = "HTTP/1.1"
    # Else the body of a short answer waits for the client to acknowledge the head.
    disable_nagle_algorithm = True
    latency_secs = 0.04

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        time.sleep(self.latency_secs)
        content = Path(self.translate_path(self.path)).read_bytes()
        asked = self.headers.get("Range")
        if asked:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(int(last or len(content) - 1) + 1, len(content))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(content)}")
            content = content[start:stop]
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def far_away(tmp_path: Path) -> Iterator[str]:
    """A server of the files in `tmp_path` that takes its time for every request."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SlowAnswers, directory=str(tmp_path)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_preloading_brings_what_it_promises(
    dask_client: Client, tmp_path: Path, far_away: str
) -> None:
    random = np.random.default_rng(3)
    with uproot.recreate(tmp_path / "many.root") as file:
        columns = {f"column{index}": random.normal(size=800) for index in range(30)}
        tree = file.mktree("Events", {name: array.dtype for name, array in columns.items()})
        tree.extend(columns)
    fileset: dict[str, Any] = {"far": {"files": {f"{far_away}/many.root": "Events"}}}
    run = partial(measure, dask_client, processor_instance=ReadsAll(), chunksize=100)
    run(fileset)

    def follow(given: dict[str, Any]) -> MetricsCollector:
        pasted: dict[str, Any] = {"fileset": {"far": dict(fileset["far"])}}
        exec(given["snippet"], pasted)
        assert sorted(pasted["preload"]) == sorted(columns)
        return run(pasted["fileset"])

    given = check_prediction(lambda: run(fileset), follow, "preload-columns")
    assert "30 branches" in given["action"]


def test_advice_is_stored_and_shown(
    dask_client: Client, small_fileset: dict[str, Any], tmp_path: Path
) -> None:
    collector = measure(dask_client, small_fileset, MuonCounter(), chunksize=100)
    metrics = collector.get_metrics()
    assert isinstance(metrics["verdict"], str)
    for one in metrics["advice"]:
        assert list(one) == [
            "rule", "headline", "action", "evidence", "threshold", "gain", "snippet",
        ]  # fmt: skip
        assert all(list(fact) == ["label", "value"] for fact in one["evidence"])
    collector.save_measurement(tmp_path, "stored")
    loaded = load_measurement(tmp_path / "stored").metrics
    assert loaded["verdict"] == metrics["verdict"]
    assert loaded["advice"] == metrics["advice"]
