"""The usage patterns that users of the former names have in their code, as they wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema
from distributed import Client

from coffea_metrics import MetricsCollector, track_memory, track_metrics, track_section
from processors import MuonCounter
from roastcoffea import load_measurement


class Histogram:
    def __init__(self) -> None:
        self.counts = np.zeros(10, dtype=int)

    def fill(self, values: Any) -> None:
        self.counts += np.histogram(values, bins=10, range=(0, 300))[0]


class MyProcessor(processor.ProcessorABC):
    def __init__(self) -> None:
        self.hist = Histogram()

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_section(self, "jet_selection"):
            met = events.MET_pt[events.MET_pt > 30]

        with track_memory(self, "histogram_filling"):
            self.hist.fill(np.asarray(met))

        return {"passed": len(met)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


@pytest.fixture(params=["dask", "iterative"])
def executor(request: pytest.FixtureRequest, dask_client: Client) -> Any:
    if request.param == "dask":
        return processor.DaskExecutor(client=dask_client, status=False)
    return processor.IterativeExecutor(status=False)


@pytest.fixture
def runner(executor: Any) -> processor.Runner:
    return processor.Runner(executor, schema=BaseSchema, chunksize=250, savemetrics=True)


def test_minimal(
    executor: Any, runner: processor.Runner, small_fileset: dict[str, Any], tmp_path: Path
) -> None:
    processor_instance = MuonCounter()
    with MetricsCollector(executor, output_dir=tmp_path / "benchmarks") as mc:
        _output, report = runner(small_fileset, processor_instance)
        mc.set_coffea_report(report)
    (saved,) = (tmp_path / "benchmarks").iterdir()
    assert load_measurement(saved).metrics["total_events"] == 2_600


def test_standard(
    executor: Any, runner: processor.Runner, small_fileset: dict[str, Any], tmp_path: Path
) -> None:
    processor_instance = MyProcessor()
    output_dir = str(tmp_path)
    with MetricsCollector(executor, output_dir) as mc:
        output, report = runner(small_fileset, processor_instance)
        mc.set_coffea_report(report)
        mc.set_chunk_metrics(processor_instance._chunk_metrics)
    assert set(output) == {"passed"}
    assert len(mc.chunk_metrics) == 10
    for chunk in mc.chunk_metrics:
        assert chunk["sections"][0]["section_name"] == "jet_selection"
        assert chunk["memory_sections"][0]["section_name"] == "histogram_filling"


def test_complete(dask_client: Client, small_fileset: dict[str, Any]) -> None:
    client = dask_client
    runner = processor.Runner(
        processor.DaskExecutor(client=client, status=False),
        schema=BaseSchema,
        chunksize=250,
        savemetrics=True,
    )
    processor_instance = MyProcessor()
    with MetricsCollector(client) as collector:
        _output, report = runner(small_fileset, processor_instance)
        collector.set_coffea_report(report)

    collector.print_summary()
    metrics = collector.get_metrics()
    lines = [
        f"Processor CPU time: {metrics['processor_cpu_time_seconds']:.1f}s",
        f"Processor Non-CPU time: {metrics['processor_noncpu_time_seconds']:.1f}s",
        f"Processor CPU %: {metrics['processor_cpu_percentage']:.1f}%",
        f"Processor Non-CPU %: {metrics['processor_noncpu_percentage']:.1f}%",
        f"Bytes read (Coffea): {metrics['total_bytes_read_coffea'] / 1e9:.2f} GB",
        f"Memory read (Dask): {metrics.get('total_bytes_memory_read_dask', 0) / 1e9:.2f} GB",
        f"Disk read: {metrics.get('disk_read_bytes', 0) / 1e9:.2f} GB",
    ]
    assert all("None" not in line for line in lines)
