"""The README's own code and commands work as they are written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from coffea import processor
from coffea.nanoevents import NanoAODSchema
from distributed import Client

import data
from analysis import DimuonProcessor

README = (data.PROJECT_ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_readme_runs(
    dask_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = data.wide_nanoaod(tmp_path, event_count=400)
    executor = processor.DaskExecutor(client=dask_client, status=False)
    namespace: dict[str, Any] = {
        "__name__": "__main__",
        "client": dask_client,
        "executor": executor,
        "runner": processor.Runner(executor, schema=NanoAODSchema, chunksize=200),
        "fileset": data.fileset({"dimuon": [path]}),
        "processor_instance": DimuonProcessor(),
    }
    python = blocks("python")
    assert len(python) >= 2
    for block in python:
        exec(compile(block, "README.md", "exec"), namespace)
    assert namespace["out"]["cutflow"]["dimuon"]["all"] == 400
    assert namespace["roast"].metrics["sections"]["muons"]["count"] == 2
    assert (tmp_path / "run.html").exists()

    program = Path(sys.executable).with_name("roastcoffea")
    commands = [
        shlex.split(line, comments=True)
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("roastcoffea ")
    ]
    assert len(commands) >= 4
    for _, *words in commands:
        result = subprocess.run(
            [program, *words], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert result.returncode == 0, (words, result.stderr)
        assert result.stdout or result.stderr or "export" in words
