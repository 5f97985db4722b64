"""Real runs compared: the same thing twice, and one section made slower."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema
from distributed import Client, LocalCluster

import data
import roastcoffea
from roastcoffea import MetricsCollector, track_time

# Long against what a busy machine does to a sleep, and in proportion to the events.
SECONDS_PER_EVENT = {"muons": 0.0002, "jet_selection": 0.0004}


class Sections(processor.ProcessorABC):
    """Two sections of known length, one of which may be slower."""

    def __init__(self, slower: float = 1.0) -> None:
        self.slower = slower

    def process(self, events: Any) -> dict[str, Any]:
        took = {}
        for name, seconds in SECONDS_PER_EVENT.items():
            factor = self.slower if name == "jet_selection" else 1.0
            with track_time(self, name):
                began = time.perf_counter()
                time.sleep(seconds * len(events) * factor)
                took[name] = time.perf_counter() - began
        return {"events": len(events), "met": float(sum(events.MET_pt)), **took}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


@pytest.fixture(scope="module")
def fileset(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    directory = tmp_path_factory.mktemp("compared")
    paths = [
        data.small_root_file(directory / f"{index}.root", event_count=8_000, seed=index)
        for index in range(3)
    ]
    return data.fileset({"first": paths[:2], "second": paths[2:]})


def measure(
    client: Client, fileset: dict[str, Any], slower: float = 1.0, *, max_chunks: int | None = None
) -> tuple[MetricsCollector, dict[str, float]]:
    runner = processor.Runner(
        processor.DaskExecutor(client=client, status=False),
        schema=BaseSchema,
        chunksize=250,
        maxchunks=max_chunks,
    )
    with MetricsCollector(runner, worker_tracking_interval=0.2) as collector:
        output = runner(fileset, Sections(slower))
    return collector, output


@contextmanager
def small_cluster(*, workers: int) -> Iterator[Client]:
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


class Measured(NamedTuple):
    path: Path
    #: By the processor's own clock, the seconds of each section.
    took: dict[str, float]


@pytest.fixture(scope="module")
def measured(
    fileset: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Measured]:
    """Measure three runs side by side, so that whatever the machine does, it does to all."""
    directory = tmp_path_factory.mktemp("measurements")
    runs = {"base": 1.0, "again": 1.0, "slower": 1.1}
    with ExitStack() as clusters, ThreadPoolExecutor(len(runs)) as threads:
        clients = [clusters.enter_context(small_cluster(workers=1)) for _ in runs]
        for client in clients:
            measure(client, fileset, max_chunks=6)  # workers import on their first chunk
        measured = threads.map(measure, clients, repeat(fileset), runs.values())
        return {
            name: Measured(collector.save_measurement(directory, name), took)
            for name, (collector, took) in zip(runs, measured, strict=True)
        }


@pytest.fixture
def saved(measured: dict[str, Measured]) -> dict[str, Path]:
    return {name: run.path for name, run in measured.items()}


def run_program(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "roastcoffea._program", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_same_thing_twice_is_not_worse(saved: dict[str, Path]) -> None:
    comparison = roastcoffea.compare(saved["base"], saved["again"])
    assert comparison.worse == []
    assert "within noise" in comparison.verdict
    assert {row["part"] for row in comparison.rows} >= {"metric", "phase", "dataset", "section"}
    paired = {row["noise_from"] for row in comparison.rows if row["part"] == "section"}
    assert paired == {"paired_chunks"}


def test_a_slower_section_is_found_and_named(measured: dict[str, Measured]) -> None:
    base, slower = measured["base"], measured["slower"]
    comparison = roastcoffea.compare(base.path, slower.path)
    worse = [row for row in comparison.worse if row["part"] == "section"]
    assert [row["name"] for row in worse] == ["jet_selection"]
    change = slower.took["jet_selection"] / base.took["jet_selection"] - 1
    assert worse[0]["change"] == pytest.approx(change, abs=0.01)
    assert "section jet_selection" in comparison.verdict
    assert "jet_selection" in str(comparison)
    assert "jet_selection" in comparison.to_markdown()
    assert "jet_selection" in comparison._repr_html_()
    document = json.loads(comparison.to_json())
    assert document["comparisons"][0]["culprits"] == [{"part": "section", "name": "jet_selection"}]


def test_runs_in_any_form_and_several_at_once(saved: dict[str, Path]) -> None:
    base = roastcoffea.load_measurement(saved["base"])
    comparison = roastcoffea.compare(base, str(saved["again"]), saved["slower"], seed=3)
    assert [line.split()[0] for line in comparison.verdict.splitlines()] == ["again", "slower"]
    assert {row["run"] for row in comparison.rows} == {"again", "slower"}
    again = roastcoffea.compare(base, saved["again"], saved["slower"], seed=3)
    assert again.to_json() == comparison.to_json()


def test_what_makes_no_sense_is_refused(saved: dict[str, Path]) -> None:
    with pytest.raises(ValueError, match="at least one run"):
        roastcoffea.compare(saved["base"])
    with pytest.raises(ValueError, match="given twice"):
        roastcoffea.compare(saved["base"], saved["base"])
    with pytest.raises(TypeError, match="dict is not a run"):
        roastcoffea.compare(saved["base"], {})  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        roastcoffea.compare(saved["base"], saved["base"].parent / "nowhere")
    with pytest.raises(ValueError, match="two runs or more"):
        roastcoffea.scaling(saved["base"])


def test_exit_codes_of_the_program(saved: dict[str, Path], tmp_path: Path) -> None:
    base, again, slower = saved["base"], saved["again"], saved["slower"]
    assert run_program("compare", base, again, "--fail-on", "worse").returncode == 0
    failed = run_program("compare", base, slower, "--fail-on", "worse:5%")
    assert failed.returncode == 3
    assert "section jet_selection" in failed.stderr
    assert "section jet_selection" in failed.stdout
    assert run_program("compare", base, slower, "--fail-on", "worse:60%").returncode == 0
    assert run_program("compare", base, base).returncode == 2

    target = tmp_path / "changes.md"
    assert run_program("compare", base, slower, "-f", "markdown", "-o", target).returncode == 0
    assert target.read_text().startswith("## slower compared with base")
    in_the_way = run_program("compare", base, slower, "-f", "json", "-o", target)
    assert in_the_way.returncode == 1
    assert "--force" in in_the_way.stderr
    forced = run_program("compare", base, slower, "-f", "json", "-o", target, "--force")
    assert forced.returncode == 0
    assert json.loads(target.read_text())["base"]["name"] == "base"


def test_scaling_of_real_clusters(fileset: dict[str, Any], tmp_path: Path) -> None:
    part = {"second": fileset["second"]}
    runs = []
    for workers in (1, 2):
        with small_cluster(workers=workers) as client:
            measure(client, part, max_chunks=6)  # workers import on their first chunk
            runs.append(measure(client, part)[0])
    scaling = roastcoffea.scaling(*reversed(runs))
    assert [round(point["cores"]) for point in scaling.points] == [1, 2]
    assert scaling.points[0]["efficiency"] == 1.0
    # Once the workers have imported, most of a chunk is sleep, which needs no core.
    assert 1.2 < scaling.points[1]["speedup"] < 2.4
    assert scaling.serial_fraction is None
    assert "cannot be fitted: it takes three runs" in str(scaling)
    assert scaling.stoppers is not None
    saved = [run.save_measurement(tmp_path, f"run{index}") for index, run in enumerate(runs)]
    shown = run_program("scaling", *saved, "-f", "json")
    assert json.loads(shown.stdout)["points"] == [
        {**point, "name": name}
        for point, name in zip(scaling.points, ("run0", "run1"), strict=True)
    ]
