"""Sizes past what fits, and runs of more files than anyone lists."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import load_measurement

PROGRAM = Path(sys.executable).with_name("roastcoffea")


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


def simulate(directory: Path, name: str, *options: str) -> Path:
    done = run("simulate", "-o", directory, "--name", name, *options)
    assert done.returncode == 0, done.stderr
    return directory / name


@pytest.fixture
def too_large(tmp_path: Path) -> Path:
    """A measurement whose manifest tells of more chunks than any machine can hold."""
    path = simulate(tmp_path, "huge", "--chunks", "100", "--workers", "2")
    manifest = path / "measurement.json"
    text = manifest.read_text()
    rows = json.loads(text)["tables"]["chunks"]["rows"]
    before, chunks, after = text.partition('"chunks.parquet"')
    text = before + chunks + after.replace(f'"rows": {rows}', f'"rows": {10**13}', 1)
    body = text[: text.rindex('"crc32"')]
    manifest.write_text(f'{body}"crc32": "{zlib.crc32(body.encode()):08x}"\n}}\n')
    return path


def test_a_table_that_does_not_fit_is_refused(too_large: Path) -> None:
    measurement = load_measurement(too_large)
    assert measurement.table("ticks").num_rows > 0
    with pytest.raises(MemoryError, match=r"table chunks is too large: about \d+\.\d GB") as error:
        measurement.table("chunks")
    assert "are free; read fewer tables" in str(error.value)


def test_the_program_says_what_is_needed_and_what_helps(too_large: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for arguments in (("report", "-o", page), ("export", "-f", "trace", "-o", page)):
        done = run(arguments[0], too_large, *arguments[1:])
        assert done.returncode == 1
        assert "GB of memory are needed" in done.stderr
        assert "hint: go to a machine with more memory" in done.stderr
        assert not page.exists()


def test_show_falls_back_on_the_stored_metrics(too_large: Path) -> None:
    done = run("show", too_large, "--json")
    assert done.returncode == 0
    assert "note: about" in done.stderr
    assert "metrics that the measurement was saved with" in done.stderr
    assert json.loads(done.stdout)["num_successful_chunks"] == 100


def test_a_limit_on_the_address_space_is_seen(tmp_path: Path) -> None:
    path = simulate(tmp_path, "run", "--chunks", "20000", "--workers", "20")
    limited = (
        "import resource, sys\n"
        "from roastcoffea import load_measurement\n"
        "measurement = load_measurement(sys.argv[1])\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "limit = pages * resource.getpagesize() + 5_000_000\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try:\n"
        "    measurement.table('chunks')\n"
        "except MemoryError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "table chunks is too large" in done.stdout


def of_files(path: Path) -> tuple[Any, dict[str, Any]]:
    metrics = load_measurement(path).metrics
    return metrics, json.loads((path / "measurement.json").read_text())["metrics"]


def test_few_files_are_listed_with_the_metrics(tmp_path: Path) -> None:
    metrics, _ = of_files(simulate(tmp_path, "few", "--chunks", "800", "--workers", "4"))
    assert len(dict(metrics)["file_metadata"]) == 100


def test_many_files_are_listed_when_looked_up(tmp_path: Path) -> None:
    path = simulate(tmp_path, "many", "--chunks", "9000", "--workers", "40")
    assert (path / "measurement.json").stat().st_size < 100_000
    metrics, _ = of_files(path)
    assert "file_metadata" not in dict(metrics)
    assert "file_metadata" in metrics
    files = metrics["file_metadata"]
    assert len(files) == len(metrics.get("file_read_metrics")) == 1125
    assert metrics["file_metadata"] is files
    assert metrics["avg_compression_ratio"] == pytest.approx(
        sum(file["compression_ratio"] for file in files.values()) / len(files)
    )
    read = [file["bytes_read"] for file in metrics["file_read_metrics"].values()]
    rows = load_measurement(path).chunk_metrics
    assert 0 < sum(read) <= sum(row["bytes_read"] for row in rows)
    for document in (run("show", path, "--json"), run("export", path, "-f", "json", "-o", "-")):
        assert len(json.loads(document.stdout)["file_metadata"]) == 1125
