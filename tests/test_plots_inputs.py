"""Plots of little, of much, of the original tool's data, and of what they cannot draw."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

import data
from roastcoffea import MetricsCollector, load_measurement
from roastcoffea.visualization import plots
from roastcoffea.visualization.plots.throughput import binned_rate

mpl.use("Agg")

TIMELINES = [name for name in plots.__all__ if name.endswith("_timeline")]
OF_ONE_RUN = [name for name in plots.__all__ if name != "plot_scaling"]
START = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def tracking(workers: int, samples: int, *, zone: timezone | None = timezone.utc) -> dict[str, Any]:
    """Series in the layout of the original tool, with values that follow from their place."""
    times = [(START + timedelta(seconds=index)).replace(tzinfo=zone) for index in range(samples)]
    names = [f"tcp://10.0.{index // 250}.{index % 250}:{30000 + index}" for index in range(workers)]

    def series(value: Any) -> dict[str, list[tuple[datetime, float]]]:
        return {
            name: [(time, value(place, index)) for index, time in enumerate(times)]
            for place, name in enumerate(names)
        }

    return {
        "worker_counts": dict.fromkeys(times, workers),
        "worker_cpu": series(lambda place, index: (place * 7 + index) % 100),
        "worker_cores": series(lambda place, index: 4),
        "worker_memory": series(lambda place, index: 1e9 + place * 1e6),
        "worker_memory_limit": series(lambda place, index: 4e9),
        "worker_active_tasks": series(lambda place, index: place % 5),
        "worker_executing": series(lambda place, index: place % 2),
        "worker_occupancy": series(lambda place, index: 0.5 * place),
    }


def chunk_rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "dataset": f"dataset {index % 3}",
            "file": f"file-{index}.root",
            "entry_start": 0,
            "entry_stop": 1000 + index,
            "num_events": 1000 + index,
            "duration": 0.5 + index / 100,
            "t_start": START.timestamp() + index,
            "t_end": START.timestamp() + index + 1,
            "bytes_read": 1_000_000,
            "accessed_branches": ["nMuon", "Muon_pt"],
        }
        for index in range(count)
    ]


def drawn(axes: Axes) -> int:
    return len(axes.lines) + len(axes.collections) + len(axes.patches)


def said(axes: Axes) -> str:
    return " ".join(text.get_text() for text in axes.texts).replace("\n", " ")


# -- nothing, and the wrong thing ---------------------------------------------------


@pytest.mark.parametrize("name", plots.__all__)
def test_nothing_gives_a_figure_that_says_how_to_get_it(name: str, tmp_path: Path) -> None:
    plot = getattr(plots, name)
    empty: list[Any] = [[]] if name == "plot_scaling" else [None, {}]
    if name != "plot_scaling":
        empty.append({"wall_time": 0.0, "total_events": None})
    for index, nothing in enumerate(empty):
        _, axes = plot(nothing, output_path=tmp_path / f"{index}.svg")
        assert drawn(axes) == 0
        assert len(said(axes)) > 40
        assert said(axes).endswith((".", "default."))
        assert (tmp_path / f"{index}.svg").exists()


@pytest.mark.parametrize("name", OF_ONE_RUN)
@pytest.mark.parametrize("wrong", [3, 2.5, {"a": 1}, {1: 2}, [1, 2], object()])
def test_the_wrong_kind_of_data_is_refused_with_what_to_pass(name: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"this plot takes .*MetricsCollector.* not a "):
        getattr(plots, name)(wrong)
    assert not plt.get_fignums()


def test_a_collector_that_has_not_run_is_refused() -> None:
    from coffea.processor import IterativeExecutor, Runner

    collector = MetricsCollector(Runner(IterativeExecutor(status=False)))
    with pytest.raises(RuntimeError, match="nothing has been measured yet"):
        plots.plot_ledger(collector)


def test_a_path_that_is_no_measurement_is_refused(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError), match=str(tmp_path)):
        plots.plot_ledger(tmp_path)


# -- little ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in TIMELINES if "throughput" not in name])
@pytest.mark.parametrize("zone", [timezone.utc, None])
def test_one_sample_is_a_point(name: str, zone: timezone | None) -> None:
    _, axes = getattr(plots, name)(tracking(1, 1, zone=zone))
    assert axes.lines[-1].get_marker() == "o"
    assert len(np.asarray(axes.lines[-1].get_xdata())) == 1
    assert axes.get_xlim() == (0, 1)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "name",
    [
        "plot_throughput_timeline",
        "plot_runtime_distribution",
        "plot_runtime_vs_events",
        "plot_bytes_accessed_per_chunk",
        "plot_branch_access_per_chunk",
    ],
)
def test_one_chunk_is_enough(name: str, count: int, tmp_path: Path) -> None:
    _, axes = getattr(plots, name)(chunk_rows(count), output_path=tmp_path / "one.png")
    assert drawn(axes) > 0


def test_chunks_without_what_a_plot_needs_say_what_is_lacking() -> None:
    rows = [{"dataset": "a", "file": "f", "entry_start": 0, "entry_stop": 1}]
    for name, lacking in (
        ("plot_throughput_timeline", "t_start"),
        ("plot_runtime_distribution", "duration"),
        ("plot_runtime_vs_events", "num_events"),
        ("plot_bytes_accessed_per_chunk", "bytes_read"),
        ("plot_branch_access_per_chunk", "accessed_branches"),
    ):
        _, axes = getattr(plots, name)(rows)
        assert drawn(axes) == 0
        assert lacking in said(axes)


def test_failed_chunks_are_not_drawn() -> None:
    rows = chunk_rows(5)
    rows[2]["error"] = "OSError"
    _, axes = plots.plot_runtime_vs_events(rows)
    assert sum(len(np.asarray(group.get_offsets())) for group in axes.collections) == 4


def test_a_series_that_was_not_sampled_is_named() -> None:
    some = tracking(2, 3)
    del some["worker_cpu"]
    _, axes = plots.plot_cpu_utilization_mean_timeline(some)
    assert "but not their CPU use" in said(axes)


# -- much --------------------------------------------------------------------------------


def test_four_hundred_workers_stay_readable(tmp_path: Path) -> None:
    many = tracking(400, 30)
    for name in TIMELINES:
        if name == "plot_throughput_timeline":
            continue
        figure, axes = getattr(plots, name)(many, output_path=tmp_path / f"{name}.png")
        assert len(axes.lines) <= 1
        legend = axes.get_legend()
        assert legend is None or len(legend.get_texts()) == 2
        assert figure.get_size_inches()[1] < 6


def test_many_workers_are_rows_of_a_map() -> None:
    figure, axes = plots.plot_occupancy_timeline(tracking(400, 30))
    (mesh,) = axes.collections
    assert isinstance(mesh, QuadMesh)
    cells = np.asarray(mesh.get_array())
    # Worker n has an occupancy of n / 2 at all times, so the busiest is the topmost row.
    assert cells == pytest.approx(np.repeat(np.arange(400) / 2, 30).reshape(400, 30))
    assert axes.get_ylabel() == "400 workers, by their mean"
    assert axes.get_xlim() == pytest.approx((0, 30))
    assert figure.axes[1].get_ylabel() == "Expected work assigned (seconds)"


def test_a_worker_that_was_not_there_leaves_a_gap() -> None:
    some = tracking(12, 4)
    first = next(iter(some["worker_occupancy"]))
    del some["worker_occupancy"][first][1:3]
    _, axes = plots.plot_occupancy_timeline(some)
    cells = axes.collections[0].get_array()
    assert cells is not None
    assert np.ma.getmaskarray(cells)[0].tolist() == [
        False,
        True,
        True,
        False,
    ]


def test_a_legend_names_no_more_workers_than_asked() -> None:
    some = tracking(8, 5)
    _, axes = plots.plot_occupancy_timeline(some)
    assert len(axes.lines) == 8
    _, axes = plots.plot_occupancy_timeline(some, None, None, None, 5)
    assert (len(axes.lines), len(axes.collections)) == (0, 1)


def test_a_hundred_datasets_share_colours() -> None:
    rows = chunk_rows(300)
    for index, row in enumerate(rows):
        row["dataset"] = f"dataset {index % 100}"
    _, axes = plots.plot_runtime_vs_events(rows)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert len(labels) == 6
    assert labels[-1] == "95 other datasets"
    assert sum(len(np.asarray(group.get_offsets())) for group in axes.collections) == 300


@pytest.mark.parametrize(
    ("seconds", "unit"), [(100, "seconds"), (1000, "minutes"), (10_000, "hours")]
)
def test_time_has_the_unit_that_suits_it(seconds: int, unit: str) -> None:
    counts = {START + timedelta(seconds=second): 3 for second in (0, seconds)}
    _, axes = plots.plot_worker_count_timeline({"worker_counts": counts})
    assert axes.get_xlabel() == f"Time since the start ({unit})"
    size = {"seconds": 1, "minutes": 60, "hours": 3600}[unit]
    assert axes.get_xlim() == pytest.approx((0, seconds / size))


def test_rates_keep_every_byte() -> None:
    starts = np.array([0.0, 1.0, 1.0, 5.0])
    stops = np.array([4.0, 2.0, 1.0, 9.0])
    amounts = np.array([4.0, 3.0, 2.0, 8.0])
    edges, rates = binned_rate(starts, stops, amounts, 1.0)
    assert edges == pytest.approx(np.arange(10))
    assert rates == pytest.approx([1, 6, 1, 1, 0, 2, 2, 2, 2], abs=1e-4)


# -- the original tool's data ---------------------------------------------------------------


@pytest.mark.parametrize("name", OF_ONE_RUN)
def test_measurements_of_the_original_tool_are_drawn(name: str) -> None:
    path = data.reference_path("original-0.1.2-measurement")
    if path is None:
        pytest.skip("the reference measurement is not installed")
    measurement = load_measurement(path)
    metrics, _, _ = measurement
    for source in (path, measurement, metrics):
        _, axes = getattr(plots, name)(source)
        if name == "plot_ledger":
            assert "No ledger" in said(axes)
        else:
            assert drawn(axes) > 0, said(axes)


def test_the_original_report_with_chunk_times_is_drawn() -> None:
    begun = START.timestamp()
    report = {
        "bytesread": 3_000_000_000,
        "chunk_info": {
            ("a.root", 0, 1000): (begun, begun + 4, 1_000_000_000),
            ("a.root", 1000, 2000): (begun + 1, begun + 3, 2_000_000_000),
        },
    }
    figure, axes = plots.plot_throughput_timeline(
        coffea_report=report, tracking_data=tracking(3, 5), bin_secs=1.0
    )
    heights, edges, _ = axes.patches[0].get_data()  # type: ignore[attr-defined]
    assert heights == pytest.approx([2, 10, 10, 2])
    assert edges == pytest.approx([0, 1, 2, 3, 4])
    assert figure.axes[1].lines[0].get_ydata() == pytest.approx(3)


# -- the figure -----------------------------------------------------------------------------


def test_the_users_axes_are_drawn_on_and_settings_left_alone() -> None:
    before = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2)
    same, axes = plots.plot_worker_count_timeline(tracking(2, 5), ax=right, title="Mine")
    assert (same, axes) == (figure, right)
    assert right.get_title(loc="left") == "Mine"
    assert drawn(left) == 0
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("ending", ["png", "pdf", "svg", "jpg"])
def test_a_file_is_written_whole_in_any_format(ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"plot.{ending}"
    target.write_text("old")
    plots.plot_worker_count_timeline(tracking(2, 5), output_path=target)
    assert target.stat().st_size > 1000
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask
    assert not plt.get_fignums()


def test_a_file_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    some = tracking(2, 5)
    with pytest.raises(FileNotFoundError, match="make it first"):
        plots.plot_worker_count_timeline(some, output_path=tmp_path / "no" / "plot.png")
    with pytest.raises(IsADirectoryError, match="name a file in it"):
        (tmp_path / "folder.png").mkdir()
        plots.plot_worker_count_timeline(some, output_path=tmp_path / "folder.png")
    with pytest.raises(ValueError, match=r"cannot write '.xyz' files; it knows .*png"):
        plots.plot_worker_count_timeline(some, output_path=tmp_path / "plot.xyz")
    assert not plt.get_fignums()
    plots.plot_worker_count_timeline(some, output_path=str(tmp_path / "bare"))
    assert (tmp_path / "bare.png").exists()


def test_a_figure_without_a_file_stays_open_for_the_notebook() -> None:
    figure, _ = plots.plot_worker_count_timeline(tracking(2, 5))
    assert plt.get_fignums() == [figure.number]
