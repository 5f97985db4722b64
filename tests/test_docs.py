"""The code and the commands of the documentation work as they are written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from coffea import processor
from coffea.nanoevents import NanoAODSchema
from distributed import Client
from matplotlib import pyplot as plt

import data
import runs
from analysis import DimuonProcessor
from roastcoffea.aggregation import backends as parsers
from roastcoffea.aggregation import registry as derivations
from roastcoffea.backends import registry

DOCS = data.PROJECT_ROOT / "docs"
PROGRAM = Path(sys.executable).with_name("roastcoffea")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
#: How a block says that it is not run: its first line, with the reason.
NOT_RUN = re.compile(r"# not run here: (\S.*)\n")


def blocks(page: Path, language: str) -> Iterator[tuple[int, str]]:
    """Each block of a language that is to run, with the line it starts on."""
    text = page.read_text()
    for block in BLOCK.finditer(text):
        if block[1] == language and not NOT_RUN.match(block[2]):
            yield text.count("\n", 0, block.start(2)), block[2]


def run_python(page: Path, namespace: dict[str, Any]) -> int:
    """Run the page's Python blocks as one script; tracebacks show the page's own lines."""
    found = list(blocks(page, "python"))
    for line, code in found:
        exec(compile("\n" * line + code, page, "exec"), namespace)
    return len(found)


def run_commands(page: Path) -> int:
    """Run the page's commands of the program in the current directory."""
    count = 0
    for line, block in blocks(page, "sh"):
        for number, command in enumerate(block.splitlines(), start=line + 1):
            words = shlex.split(command, comments=True)
            if words[:1] != ["roastcoffea"]:
                continue
            done = subprocess.run(
                [PROGRAM, *words[1:]], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{page.name}:{number}: {command}\n{done.stderr}"
            count += 1
    return count


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def clean_registries() -> Iterator[None]:
    yield
    registry._registered.clear()
    parsers._parsers.clear()
    derivations._derivations.clear()


@pytest.fixture(scope="module")
def fileset(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = data.wide_nanoaod(tmp_path_factory.mktemp("dimuon"), event_count=200)
    return data.fileset({"dimuon": [path]})


@pytest.fixture
def an_analysis(dask_client: Client, fileset: dict[str, Any], here: Path) -> dict[str, Any]:
    """What a reader of the quickstart has already."""
    executor = processor.DaskExecutor(client=dask_client, status=False)
    return {
        "__name__": "__main__",
        "client": dask_client,
        "runner": processor.Runner(executor, schema=NanoAODSchema, chunksize=100),
        "fileset": fileset,
        "processor_instance": DimuonProcessor(),
    }


def test_quickstart(an_analysis: dict[str, Any]) -> None:
    page = DOCS / "quickstart.md"
    assert run_python(page, an_analysis) >= 4
    assert an_analysis["out"]["cutflow"]["dimuon"]["all"] == 200
    assert an_analysis["measurement"].metrics["total_events"] == 200
    assert Path("measurements/second-look/measurement.json").exists()
    assert run_commands(page) >= 1


def test_custom(an_analysis: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_python(DOCS / "custom.md", an_analysis) >= 7
    roast, collector = an_analysis["roast"], an_analysis["collector"]
    assert [chunk["num_events"] for chunk in roast.chunk_metrics] == [100, 100]
    assert collector.metrics["farm_nodes"] == 12
    printed = capsys.readouterr().out
    assert "'selection_collections'" in printed
    assert "2.0 1100000000" in printed
    assert printed.endswith("12\n0.5\n")


def test_tutorial(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = DOCS / "tutorial.md"
    namespace: dict[str, Any] = {"__name__": "__main__"}
    try:
        assert run_python(page, namespace) >= 10
    finally:
        for name in ("client", "cluster"):
            if name in namespace:
                namespace[name].close()
    metrics, collector = namespace["metrics"], namespace["collector"]
    assert metrics["total_events"] == 900
    assert metrics["num_successful_chunks"] == len(collector.chunk_metrics) == 3
    assert set(namespace["out"]["cutflow"]) == {"ZToMuMu", "TTbar"}
    sections = namespace["sections"]
    assert set(sections) == {"muons", "muons: read", "jets"}
    assert sections["muons"]["count"] == sections["jets"]["memory_count"] == 3
    assert sections["muons: read"]["bytes"] > 0
    assert "900 events in" in capsys.readouterr().out
    assert run_commands(page) >= 2


@pytest.mark.parametrize(
    ("page", "names", "files"),
    [
        ("report.md", ["run"], ["run.html", "run-again.html"]),
        ("plots.md", ["run"], ["ledger.pdf", "chunks.png"]),
        (
            "compare.md",
            ["before", "after", "workers-4", "workers-8", "workers-16"],
            ["comparison.md", "comparison.json", "scaling.png"],
        ),
    ],
)
@pytest.mark.usefixtures("here")
def test_pages_on_simulated_runs(page: str, names: list[str], files: list[str]) -> None:
    runs.simulate(Path("measurements"), *names)
    assert run_commands(DOCS / page) + run_python(DOCS / page, {"__name__": "__main__"}) >= 2
    plt.close("all")
    for file in files:
        assert Path(file).stat().st_size > 500


def test_blocks_that_do_not_run_say_why(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n# not run here: needs a GPU\nfirst\n```\n"
        "```python\n# not run here:\nsecond\n```\n\n```sh\nls\n```\n"
    )
    assert [(line, code.split()[-1]) for line, code in blocks(page, "python")] == [(5, "second")]
