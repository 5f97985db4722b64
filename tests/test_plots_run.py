"""Plots of one real run: what they show is what was measured."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from coffea import processor
from coffea.nanoevents import BaseSchema
from distributed import Client
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch

import roastcoffea
from processors import MuonCounter
from roastcoffea import Measurement, MetricsCollector, load_measurement
from roastcoffea.visualization import plots

mpl.use("Agg")

#: Every plot of one run; plot_scaling takes several.
OF_ONE_RUN = [name for name in plots.__all__ if name != "plot_scaling"]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def collector(dask_client: Client, small_fileset: dict[str, Any]) -> MetricsCollector:
    runner = processor.Runner(
        processor.DaskExecutor(client=dask_client, status=False),
        schema=BaseSchema,
        chunksize=250,
        metadata_cache={},
    )
    with MetricsCollector(runner, worker_tracking_interval=0.1) as collector:
        runner(small_fileset, MuonCounter())
    return collector


@pytest.fixture(scope="module")
def saved(collector: MetricsCollector, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return collector.save_measurement(tmp_path_factory.mktemp("plots"), "small")


def xs(line: Line2D) -> Any:
    return np.asarray(line.get_xdata(), dtype=float)


def ys(line: Line2D) -> Any:
    return np.asarray(line.get_ydata(), dtype=float)


def sentences(axes: Axes) -> list[str]:
    """What stands in the axes instead of data."""
    return [text.get_text().replace("\n", " ") for text in axes.texts]


def drawn(axes: Axes) -> int:
    return len(axes.lines) + len(axes.collections) + len(axes.patches)


@pytest.mark.parametrize("name", OF_ONE_RUN)
def test_every_plot_takes_a_collector_a_measurement_and_a_path(
    name: str, collector: MetricsCollector, saved: Path, tmp_path: Path
) -> None:
    plot = getattr(plots, name)
    seen = []
    picture = tmp_path / "plot.png"
    for run, target in (
        (collector, picture),
        (load_measurement(saved), None),
        (saved, None),
        (str(saved), None),
    ):
        figure, axes = plot(run, output_path=target)
        assert isinstance(figure, Figure)
        assert isinstance(axes, Axes)
        assert drawn(axes) > 0, sentences(axes)
        assert axes.get_title(loc="left")
        assert axes.get_xlabel()
        seen.append((axes.get_title(loc="left"), drawn(axes), axes.get_xlim(), axes.get_ylim()))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert seen == [seen[0]] * 4


@pytest.mark.parametrize("name", OF_ONE_RUN)
def test_every_plot_takes_what_the_original_tools_users_hold(
    name: str, collector: MetricsCollector
) -> None:
    plot = getattr(plots, name)
    first = next(iter(inspect.signature(plot).parameters))
    held: dict[str, Any] = {
        "tracking_data": collector.tracking_data,
        "chunk_metrics": collector.chunk_metrics,
        "span_metrics": collector.span_metrics,
        "metrics": collector.get_metrics(),
    }
    _, of_run = plot(collector)
    _, by_name = plot(**{first: held[first]})
    _, of_metrics = plot(collector.get_metrics())
    plain = held[first]
    if first in ("tracking_data", "metrics"):
        plain = dict(plain)
    _, of_plain = plot(plain)
    assert drawn(by_name) == drawn(of_metrics) == drawn(of_plain) > 0
    # Only a run brings its workers along to the throughput.
    if name != "plot_throughput_timeline":
        assert drawn(of_run) == drawn(by_name)
        assert by_name.get_xlim() == pytest.approx(of_run.get_xlim(), rel=1e-3)


def test_worker_count_is_what_was_sampled(collector: MetricsCollector) -> None:
    tracking = collector.tracking_data
    assert tracking is not None
    _, axes = plots.plot_worker_count_timeline(tracking)
    (line,) = axes.lines
    counts = tracking["worker_counts"]
    times = np.array([time.timestamp() for time in counts])
    assert ys(line) == pytest.approx(list(counts.values()))
    assert xs(line) == pytest.approx(times - times[0], abs=1e-3)
    assert axes.get_ylabel() == "Workers"
    assert axes.get_ylim()[0] == 0


def test_lines_of_workers_are_their_samples(collector: MetricsCollector) -> None:
    tracking = collector.tracking_data
    assert tracking is not None
    for plot, key in (
        (plots.plot_cpu_utilization_per_worker_timeline, "worker_cpu"),
        (plots.plot_occupancy_timeline, "worker_occupancy"),
        (plots.plot_executing_tasks_timeline, "worker_executing"),
        (plots.plot_worker_activity_timeline, "worker_active_tasks"),
    ):
        _, axes = plot(tracking)
        series = tracking[key]
        assert len(axes.lines) == len(series) == 2
        for line, worker in zip(axes.lines, sorted(series), strict=True):
            known = [value for _, value in series[worker] if value is not None]
            assert ys(line) == pytest.approx(known)
            assert str(line.get_label()) in worker


def test_memory_is_a_share_of_the_limit(collector: MetricsCollector) -> None:
    tracking = collector.tracking_data
    assert tracking is not None
    _, axes = plots.plot_memory_utilization_mean_timeline(tracking)
    (mean,) = axes.lines
    shares: dict[Any, list[float]] = {}
    for worker, samples in tracking["worker_memory"].items():
        for (time, used), (_, limit) in zip(
            samples, tracking["worker_memory_limit"][worker], strict=True
        ):
            shares.setdefault(time, []).append(100 * used / limit)
    truth = [np.mean(shares[time]) for time in sorted(shares)]
    assert ys(mean) == pytest.approx(truth)
    (band,) = axes.collections
    highs = np.asarray(band.get_paths()[0].vertices)[:, 1]
    assert highs.max() == pytest.approx(max(max(values) for values in shares.values()))


def test_total_tasks_are_summed_over_workers(collector: MetricsCollector) -> None:
    tracking = collector.tracking_data
    assert tracking is not None
    _, axes = plots.plot_total_active_tasks_timeline(tracking)
    sums: dict[Any, float] = {}
    for samples in tracking["worker_active_tasks"].values():
        for time, tasks in samples:
            sums[time] = sums.get(time, 0) + tasks
    assert ys(axes.lines[0]) == pytest.approx([sums[time] for time in sorted(sums)])


@pytest.mark.parametrize("bin_secs", [None, 0.05, 1000.0])
def test_the_area_under_the_throughput_is_all_that_was_read(
    collector: MetricsCollector, bin_secs: float | None
) -> None:
    for quantity, total in (
        ("data", sum(row["bytes_read"] for row in collector.chunk_metrics) * 8e-9),
        ("events", collector.get_metrics()["total_events"] * 1e-3),
    ):
        figure, axes = plots.plot_throughput_timeline(
            collector, quantity=quantity, bin_secs=bin_secs
        )
        stairs = next(patch for patch in axes.patches if isinstance(patch, StepPatch))
        heights, edges, _ = stairs.get_data()
        assert np.sum(heights * np.diff(edges)) == pytest.approx(total)
        workers = figure.axes[1]
        assert workers.get_ylabel() == "Workers"
        assert ys(workers.lines[0]) == pytest.approx(2)


def test_runtimes_are_those_of_the_chunks(collector: MetricsCollector) -> None:
    rows = collector.chunk_metrics
    _, axes = plots.plot_runtime_distribution(collector)
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert sum(bar.get_height() for bar in bars) == len(rows)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels[:2] == ["first", "second"]

    _, axes = plots.plot_runtime_vs_events(rows)
    points = {
        str(group.get_label()): {tuple(point) for point in np.asarray(group.get_offsets())}
        for group in axes.collections
    }
    for dataset in ("first", "second"):
        assert points[dataset] == {
            (row["num_events"], row["duration"]) for row in rows if row["dataset"] == dataset
        }
    guides = [text.get_text() for text in axes.texts]
    assert 1 <= len(guides) <= 3
    assert all(guide.endswith(" kHz") for guide in guides)


def test_a_rate_guide_has_the_slope_it_names(collector: MetricsCollector) -> None:
    _, axes = plots.plot_runtime_vs_events(collector)
    for line, text in zip(axes.lines, axes.texts, strict=True):
        (_, events), (_, seconds) = xs(line), ys(line)
        rate_khz = float(text.get_text().removesuffix(" kHz").replace(",", ""))
        assert events / seconds / 1000 == pytest.approx(rate_khz)


def test_chunks_say_what_they_read(collector: MetricsCollector) -> None:
    rows = collector.chunk_metrics
    _, axes = plots.plot_branch_access_per_chunk(rows)
    values = np.concatenate([ys(line) for line in axes.lines[:-1]])
    assert sorted(values) == sorted(len(row["accessed_branches"]) for row in rows)
    _, axes = plots.plot_bytes_accessed_per_chunk(rows)
    values = np.concatenate([ys(line) for line in axes.lines[:-1]])
    scale = {"bytes": 1.0, "kB": 1e3, "MB": 1e6}[axes.get_ylabel().split("(")[1].rstrip(")")]
    assert sorted(values * scale) == pytest.approx(sorted(row["bytes_read"] for row in rows))


def test_files_have_their_ratios_and_shares(collector: MetricsCollector) -> None:
    metrics = collector.get_metrics()
    _, axes = plots.plot_compression_ratio_distribution(metrics)
    assert sum(patch.get_height() for patch in axes.patches) == len(metrics["file_metadata"]) == 3  # type: ignore[attr-defined]
    mean = metrics["avg_compression_ratio"]
    assert xs(axes.lines[1])[0] == pytest.approx(mean)
    _, axes = plots.plot_data_access_percentage(metrics)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels == [
        f"of its bytes: mean {metrics['avg_bytes_read_percent']:.3g} %",
        f"of its branches: mean {metrics['avg_branches_read_percent']:.3g} %",
    ]


def test_the_ledger_is_whole(collector: MetricsCollector) -> None:
    ledger = collector.get_metrics()["ledger"]
    _, axes = plots.plot_ledger(collector)
    widths = [patch.get_width() for patch in axes.patches]  # type: ignore[attr-defined]
    assert sum(widths) == pytest.approx(100)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert "unexplained" in names
    largest = max(ledger.values()) / sum(ledger.values()) * 100
    assert widths[0] == pytest.approx(largest)
    assert axes.get_legend() is None


def test_efficiencies_are_the_metrics(collector: MetricsCollector) -> None:
    metrics = collector.get_metrics()
    _, axes = plots.plot_efficiency_summary(metrics)
    widths = [patch.get_width() for patch in axes.patches]  # type: ignore[attr-defined]
    assert widths == pytest.approx(
        [
            metrics["cpu_efficiency"] * 100,
            metrics["cpu_efficiency_fine"] * 100,
            metrics["processor_cpu_percentage"],
            metrics["processor_noncpu_percentage"],
        ]
    )
    _, axes = plots.plot_resource_utilization(metrics)
    widths = [patch.get_width() for patch in axes.patches]  # type: ignore[attr-defined]
    assert widths == pytest.approx(
        [
            100 * metrics["avg_workers"] / metrics["peak_workers"],
            metrics["cpu_utilization_mean_percent"],
            metrics["memory_utilization_mean_percent"],
        ]
    )


def test_tasks_have_their_spans(collector: MetricsCollector) -> None:
    spans = collector.span_metrics
    assert spans is not None
    _, axes = plots.plot_per_task_cpu_io(spans)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert "MuonCounter" in names
    assert "N/A" not in names
    row = names.index("MuonCounter")
    cpu, waiting = axes.containers
    assert cpu[row].get_width() == pytest.approx(
        spans["execute", "MuonCounter", "thread-cpu", "seconds"]
    )
    assert waiting[row].get_width() == pytest.approx(
        spans["execute", "MuonCounter", "thread-noncpu", "seconds"]
    )


def test_scaling_shows_the_fraction_of_the_ideal(
    collector: MetricsCollector, saved: Path, tmp_path: Path
) -> None:
    runs = [
        {"event_rate_wall_khz": rate, "data_rate_gbps": rate / 10, "total_cores": cores}
        for cores, rate in ((8, 30.0), (2, 10.0), (4, 18.0))
    ]
    _, axes = plots.plot_scaling(runs, output_path=tmp_path / "scaling.pdf")
    ideal, measured = axes.lines
    assert list(xs(measured)) == [2, 4, 8]
    assert list(ys(measured)) == [10, 18, 30]
    assert ys(ideal)[1] / xs(ideal)[1] == pytest.approx(5)
    assert sentences(axes) == ["100 %", "90 %", "75 %"]

    _, axes = plots.plot_scaling([collector, saved], quantity="data", against="workers")
    rate = collector.get_metrics()["data_rate_gbps"]
    assert ys(axes.lines[1]) == pytest.approx([rate, rate])
    for one in (saved, str(saved), collector, collector.get_metrics()):
        with pytest.raises(TypeError, match="a list of measurements"):
            plots.plot_scaling(one)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="against is 'cores' or 'workers'"):
        plots.plot_scaling(runs, against="hosts")


def test_the_root_gives_every_plot_and_loads_matplotlib_late() -> None:
    for name in plots.__all__:
        assert getattr(roastcoffea, name) is getattr(plots, name)
        assert getattr(roastcoffea.visualization, name) is getattr(plots, name)
        assert name in dir(roastcoffea)
    with pytest.raises(AttributeError, match="plot_nothing"):
        roastcoffea.plot_nothing  # noqa: B018
    code = (
        "import sys, roastcoffea; "
        "print(sorted({'matplotlib', 'coffea', 'distributed', 'numpy'} & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert out.strip() == "[]"


def test_a_measurement_is_drawn_by_keyword_of_the_original(saved: Path) -> None:
    metrics, _, _ = load_measurement(saved)
    _, axes = plots.plot_worker_count_timeline(metrics["tracking_data"], None, (12, 6), "Mine")
    assert axes.get_title(loc="left") == "Mine"
    assert isinstance(load_measurement(saved), Measurement)
