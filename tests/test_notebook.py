"""How collectors, measurements and plots display themselves in a real notebook."""

from __future__ import annotations

import re
from typing import Any

import nbclient
import nbformat
import pytest

import data
from roastcoffea import _core
from roastcoffea.measurement import Measurement

# Jupyter's own packages warn of their own futures; the kernel is another process anyway.
pytestmark = pytest.mark.filterwarnings("default")

CELLS = [
    """
import warnings
warnings.filterwarnings("error", module="roastcoffea")
from coffea.nanoevents import BaseSchema
from coffea.processor import IterativeExecutor, Runner
from processors import MuonCounter
from roastcoffea import MetricsCollector, load_measurement, plot_ledger, plot_runtime_vs_events
runner = Runner(IterativeExecutor(status=False), schema=BaseSchema, chunksize=250)
fileset = {"<b>muons</b>": {"files": {FILE: "Events"}}}
collector = MetricsCollector(
    runner, "saved", measurement_name="tiny", worker_tracking_interval=0.05
)
""",
    "collector",
    """
with collector:
    display(collector)
    runner(fileset, MuonCounter())
""",
    "collector",
    'load_measurement("saved/tiny")',
    "plot_runtime_vs_events(collector)",
    'fig, ax = plot_ledger(collector, output_path="ledger.png")',
]


def html_of(cell: Any) -> list[str]:
    return [
        output.data["text/html"] for output in cell.outputs if "text/html" in output.get("data", {})
    ]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Any:
    directory = tmp_path_factory.mktemp("notebook")
    file = data.small_root_file(directory / "muons.root")
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS]
    paths = [str(data.PROJECT_ROOT / "tests"), str(data.PROJECT_ROOT / "examples")]
    cells[0].source = f"import sys; sys.path[:0] = {paths}; FILE = {str(file)!r}\n{cells[0].source}"
    book = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(
        book, timeout=150, resources={"metadata": {"path": str(directory)}}
    )
    client.execute()
    nbformat.write(book, directory / "executed.ipynb")
    return book


@pytest.mark.timeout(300)
def test_a_collector_says_how_far_it_is(notebook: Any) -> None:
    assert html_of(notebook.cells[1]) == ["<p><b>MetricsCollector</b> (local): not started</p>"]
    during = html_of(notebook.cells[2])[0]  # before the progress bar of coffea
    assert re.fullmatch(r"<p><b>MetricsCollector</b> \(local\): running for \d+\.\d s</p>", during)


def test_a_run_shows_headline_ledger_and_tables(notebook: Any) -> None:
    (of_collector,), (of_measurement,) = (html_of(cell) for cell in notebook.cells[3:5])
    for html in (of_collector, of_measurement):
        assert len(html.encode()) < 60_000
        assert "<script" not in html
        assert "tiny" in html
        assert "Wall time" in html
        assert re.search(r"Where [\d.,]+ core-seconds went", html)
        assert 'bgcolor="#' in html
        assert "&lt;b&gt;muons&lt;/b&gt;" in html
        assert "<b>muons</b>" not in html
    assert of_collector == of_measurement


def test_a_plot_is_shown_once(notebook: Any) -> None:
    for cell in notebook.cells[5:7]:
        pictures = [output for output in cell.outputs if "image/png" in output.get("data", {})]
        assert len(pictures) == 1


def test_a_display_stays_small_whatever_a_run_holds() -> None:
    long = "<i>" + "é" * 10_000
    metrics = {
        "wall_time": 1.0,
        "per_dataset": {
            f"{long}{n}": {"num_chunks": n, "total_duration": 1.0} for n in range(3000)
        },
        "branches": {f"{long}{n}": {"seconds": 1.0} for n in range(3000)},
        **{f"own {long} {n}": long for n in range(3000)},
    }
    header = {
        "id": "x",
        "name": long,
        "started_ns": 0,
        "wall_secs": 1.0,
        "backend": "local",
        "error": f"ValueError: {long}",
        "provenance": {"host": long},
    }
    core = _core.Measurement.make(header, []).with_metrics(
        metrics, [f"{long} {n}" for n in range(500)]
    )
    html = Measurement(core)._repr_html_()
    assert len(html.encode()) < 60_000
    assert "<i>" not in html
    assert "and 2970 more" in html
    assert "and 485 more" in html
