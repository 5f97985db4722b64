"""What wrong input gets: an error that says what to do, at once, and nothing lost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema

from processors import MuonCounter
from roastcoffea import MetricsCollector, load_measurement


@pytest.fixture
def runner() -> processor.Runner:
    return processor.Runner(
        processor.IterativeExecutor(status=False), schema=BaseSchema, metadata_cache={}
    )


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"worker_tracking_interval": 0}, ValueError, "above 0"),
        ({"worker_tracking_interval": -1.0}, ValueError, "above 0"),
        ({"worker_tracking_interval": float("nan")}, ValueError, "above 0"),
        ({"worker_tracking_interval": "1"}, TypeError, "number of seconds"),
        ({"worker_tracking_interval": True}, TypeError, "number of seconds"),
        ({"track_workers": "yes"}, TypeError, "True or False"),
        ({"backend": "slurm"}, ValueError, "known are dask, local"),
        ({"measurement_name": "a/b"}, ValueError, "path separators"),
        ({"measurement_name": ".."}, ValueError, "cannot name a measurement"),
        ({"measurement_name": ""}, ValueError, "cannot name a measurement"),
        ({"output_dir": "local"}, ValueError, "backend='local'"),
        ({"output_dir": 3}, TypeError, "path"),
    ],
)
def test_wrong_values_are_refused_when_it_is_made(
    runner: processor.Runner, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        MetricsCollector(runner, **options)


@pytest.mark.parametrize("target", [None, 3, "tcp://scheduler:8786", object()])
def test_a_target_that_cannot_be_watched(target: Any) -> None:
    with pytest.raises(
        TypeError, match=r"a distributed\.Client, a coffea executor or a coffea Runner"
    ):
        MetricsCollector(target)


def test_metrics_before_anything_ran(runner: processor.Runner) -> None:
    collector = MetricsCollector(runner)
    for ask in (collector.get_metrics, collector.print_summary):
        with pytest.raises(RuntimeError, match="nothing has been measured yet"):
            ask()
    assert collector.metrics is None
    assert collector.tracking_data is None
    assert collector.span_metrics is None
    assert collector.chunk_metrics == []
    assert "not started" in collector._repr_html_()
    with collector, pytest.raises(RuntimeError, match="after the block has ended"):
        collector.get_metrics()


def test_a_collector_measures_one_run(runner: processor.Runner) -> None:
    collector = MetricsCollector(runner)
    with collector:
        pass
    with pytest.raises(RuntimeError, match="make a new one"), collector:
        pass


def test_reports(runner: processor.Runner) -> None:
    with MetricsCollector(runner) as collector:
        pass
    with pytest.raises(TypeError, match="savemetrics=True"):
        collector.set_coffea_report(({"out": 1}, {"entries": 3}))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="did you pass the processor's output"):
        collector.set_coffea_report({"spectrum": [1, 2]})
    assert collector.get_metrics()["total_events"] is None

    collector.set_coffea_report({"entries": 1000})
    metrics = collector.get_metrics()
    assert metrics["total_events"] == 1000
    assert metrics["event_rate_wall_khz"] > 0
    assert metrics["total_bytes_read"] is None
    assert metrics["event_rate_agg_khz"] is None
    collector.print_summary()


def test_custom_metrics_by_dataset(runner: processor.Runner, tmp_path: Path) -> None:
    custom = {
        "ttbar": {"entries": 100, "bytesread": 10, "weight": 0.5},
        "dy": {"entries": 50, "bytesread": 5},
    }
    with MetricsCollector(runner) as collector:
        collector.set_coffea_report({"processtime": 2.0}, custom_metrics=custom)
    assert collector.get_metrics()["total_events"] == 150
    assert collector.get_metrics()["total_bytes_read"] == 15
    assert collector.get_metrics()["total_cpu_time"] == 2.0
    loaded = load_measurement(collector.save_measurement(tmp_path, "custom"))
    assert loaded.custom_metrics == custom
    with pytest.raises(TypeError, match="datasets to mappings"):
        collector.set_coffea_report({"entries": 1}, custom_metrics={"ttbar": 3})


def test_chunk_rows_of_the_wrong_shape(runner: processor.Runner) -> None:
    with MetricsCollector(runner) as collector:
        pass
    with pytest.raises(TypeError, match="list of mappings"):
        collector.set_chunk_metrics({"duration": 1.0})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="a chunk row is a mapping"):
        collector.set_chunk_metrics([1])  # type: ignore[list-item]
    with pytest.raises(RuntimeError, match="record_chunk_metrics first"):
        collector.record_section_metrics({"section_name": "jets", "time_delta": 0.1})
    collector.record_chunk_metrics({"duration": 1.0, "num_events": 10})
    collector.record_section_metrics({"section_name": "jets", "time_delta": 0.1})
    assert collector.chunk_metrics[0]["sections"] == [{"section_name": "jets", "time_delta": 0.1}]


def test_an_output_directory_that_cannot_be_written(
    runner: processor.Runner, tmp_path: Path, small_fileset: dict[str, Any]
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a directory")
    ran = False
    with (
        pytest.raises(OSError, match="file"),
        MetricsCollector(runner, in_the_way / "below"),
    ):
        ran = True
    assert not ran, "found out at the start of the run"
    # The collector left nothing behind on the executor.
    assert type(runner.executor) is processor.IterativeExecutor
    assert runner(small_fileset, MuonCounter())["events"] == 2_600


def test_an_existing_measurement_is_never_overwritten_silently(
    runner: processor.Runner, tmp_path: Path
) -> None:
    with MetricsCollector(runner, tmp_path, measurement_name="mine") as first:
        pass
    with (
        pytest.raises(FileExistsError, match="choose another name"),
        MetricsCollector(runner, tmp_path, measurement_name="mine"),
    ):
        pass
    with pytest.raises(FileExistsError, match="choose another name"):
        first.save_measurement(tmp_path, "mine")
    before = load_measurement(tmp_path / "mine").id
    assert before == first.measurement.id
    first.save_measurement(tmp_path, "mine", overwrite=True)


def test_saving_at_exit_fails_without_harming_the_run(
    runner: processor.Runner, tmp_path: Path, small_fileset: dict[str, Any]
) -> None:
    directory = tmp_path / "gone"
    with (
        pytest.warns(UserWarning, match="could not be saved"),
        MetricsCollector(runner, directory, measurement_name="late") as collector,
    ):
        out = runner(small_fileset, MuonCounter())
        shutil.rmtree(directory)
        directory.write_text("now a file")
    assert out["events"] == 2_600
    assert any("another_directory" in note for note in collector.notes)
    assert load_measurement(collector.save_measurement(tmp_path / "elsewhere")).metrics


def test_a_report_given_after_the_block_reaches_the_saved_measurement(
    runner: processor.Runner, tmp_path: Path
) -> None:
    with MetricsCollector(runner, tmp_path, measurement_name="late") as collector:
        pass
    collector.set_coffea_report({"entries": 7})
    assert load_measurement(tmp_path / "late").metrics["total_events"] == 7


def test_saving_needs_a_place(runner: processor.Runner, tmp_path: Path) -> None:
    with MetricsCollector(runner) as collector:
        pass
    with pytest.raises(ValueError, match="say where to save it"):
        collector.save_measurement()
    with pytest.raises(ValueError, match="path separators"):
        collector.save_measurement(tmp_path, "../up")
    assert not list(tmp_path.iterdir())
