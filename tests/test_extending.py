"""Backends, parsers and metrics that users add without touching the package."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import MetricsCollector, load_measurement, register_backend
from roastcoffea.aggregation import backends as parsers
from roastcoffea.aggregation import calculate_efficiency_metrics, get_parser, register_parser
from roastcoffea.backends import registry
from roastcoffea.backends.base import AbstractMetricsBackend


class FakeManager:
    """Stands for a TaskVine manager, which cannot run here."""

    workers_connected = 3


class TaskVineMetricsBackend(AbstractMetricsBackend):
    def __init__(self, taskvine_manager: FakeManager) -> None:
        self.manager = taskvine_manager
        self.interval: float | None = None

    def start_tracking(self, interval: float) -> None:
        self.interval = interval

    def stop_tracking(self) -> dict[str, Any]:
        return {"taskvine_metrics": {"workers": self.manager.workers_connected}}

    def create_span(self, name: str) -> Any:
        return None

    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        return {}

    def supports_fine_metrics(self) -> bool:
        return False


class TaskVineMetricsParser:
    def parse_tracking_data(self, tracking_data: Any) -> dict[str, Any]:
        return {"taskvine_workers": tracking_data["taskvine_metrics"]["workers"]}


@pytest.fixture(autouse=True)
def clean_registries() -> Iterator[None]:
    yield
    registry._registered.clear()
    parsers._parsers.clear()


def test_a_backend_for_another_executor(tmp_path: Path) -> None:
    register_backend(
        "taskvine", TaskVineMetricsBackend, accepts=lambda target: isinstance(target, FakeManager)
    )
    register_parser("taskvine", TaskVineMetricsParser())
    with MetricsCollector(FakeManager(), worker_tracking_interval=0.5) as collector:
        collector.set_coffea_report({"entries": 10, "processtime": 2.0, "chunks": 2})
    metrics = collector.get_metrics()
    assert metrics["taskvine_workers"] == 3
    assert metrics["total_events"] == 10
    assert metrics["peak_workers"] is None
    assert collector.tracking_data is not None
    assert collector.tracking_data["taskvine_metrics"] == {"workers": 3}
    loaded = load_measurement(collector.save_measurement(tmp_path, "vine"))
    assert loaded.backend == "taskvine"
    assert loaded.tracking_data == collector.tracking_data
    assert loaded.metrics["taskvine_workers"] == 3
    collector.print_summary()


def test_a_backend_that_uses_our_layout_gets_all_worker_metrics() -> None:
    begin = datetime(2026, 1, 1, tzinfo=timezone.utc)

    class Layout(TaskVineMetricsBackend):
        def stop_tracking(self) -> dict[str, Any]:
            times = [begin, begin + timedelta(seconds=10)]
            return {
                "worker_counts": dict(zip(times, [1, 3], strict=True)),
                "worker_memory": {"a": [(times[0], 100), (times[1], 300)]},
                "worker_cores": {"a": [(time, 4) for time in times]},
            }

    register_backend("layout", Layout)
    with MetricsCollector(FakeManager(), backend="layout") as collector:
        pass
    metrics = collector.get_metrics()
    assert metrics["avg_workers"] == 2.0
    assert metrics["total_cores"] == 8.0
    assert metrics["avg_memory_per_worker_bytes"] == 200
    assert collector.tracking_data is not None
    parsed = get_parser("dask").parse_tracking_data(dict(collector.tracking_data))
    assert parsed["avg_workers"] == 2.0


def test_a_backend_with_spans_of_its_own() -> None:
    class Spans(TaskVineMetricsBackend):
        def create_span(self, name: str) -> Any:
            return {"span": name}

        def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
            assert span_info == {"span": "coffea-processing"}
            return {("execute", "work", "thread-cpu", "seconds"): 2.5}

        def supports_fine_metrics(self) -> bool:
            return True

    register_backend("spans", Spans)
    with MetricsCollector(FakeManager(), backend="spans") as collector:
        pass
    assert collector.get_metrics()["cpu_time_seconds"] == 2.5


def test_a_parser_that_fails_is_noted() -> None:
    class Broken:
        def parse_tracking_data(self, tracking_data: Any) -> dict[str, Any]:
            raise LookupError("no such thing")

    register_backend("vine", TaskVineMetricsBackend)
    register_parser("vine", Broken())
    with MetricsCollector(FakeManager(), backend="vine") as collector:
        pass
    assert collector.get_metrics()["wall_time"] > 0
    assert any("no such thing" in note for note in collector.notes)


def test_parsers_by_name() -> None:
    assert get_parser("local") is not None
    with pytest.raises(ValueError, match="register_parser"):
        get_parser("slurm")
    with pytest.raises(ValueError, match="replace=True"):
        register_parser("dask", TaskVineMetricsParser())
    with pytest.raises(TypeError, match="parse_tracking_data"):
        register_parser("vine", object())  # type: ignore[arg-type]


def test_efficiency_metrics_on_their_own() -> None:
    metrics = calculate_efficiency_metrics(
        {"total_cpu_time": 80.0, "elapsed_time_seconds": 10.0, "total_events": 1000},
        {"total_cores": 16.0, "avg_workers": 4.0},
    )
    assert metrics["cpu_efficiency"] == metrics["core_efficiency"] == 0.5
    assert metrics["speedup_factor"] == 8.0
    assert metrics["parallel_efficiency_percent"] == pytest.approx(50.0)
    assert metrics["efficiency_ratio_percent"] == pytest.approx(800.0)
    assert calculate_efficiency_metrics({}, {})["cpu_efficiency"] is None


def test_importing_loads_none_of_the_big_libraries() -> None:
    code = (
        "import sys, roastcoffea; "
        "print(sorted({'coffea', 'distributed', 'dask', 'matplotlib', 'numpy', 'awkward'}"
        " & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
