"""Fixtures shared by the tests: real files, a real cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

import data


@pytest.fixture(scope="session")
def small_fileset(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Two datasets of different sizes, three small files in all."""
    directory = tmp_path_factory.mktemp("small")
    return data.fileset(
        {
            "first": [
                data.small_root_file(directory / "first-0.root", event_count=1_000, seed=1),
                data.small_root_file(directory / "first-1.root", event_count=1_000, seed=2),
            ],
            "second": [data.small_root_file(directory / "second-0.root", event_count=600, seed=3)],
        }
    )


@pytest.fixture(scope="session")
def wide_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One NanoAOD file with several hundred branches: a reference file, or one drawn here."""
    reference = data.reference_path("nano_tt_v12.root")
    return reference or data.wide_nanoaod(tmp_path_factory.mktemp("wide"))


@pytest.fixture(scope="session")
def wide_fileset(wide_file: Path) -> dict[str, dict[str, Any]]:
    """The wide file as a fileset of one dataset."""
    return data.fileset({"wide": [wide_file]})


@pytest.fixture(scope="module")
def dask_client() -> Iterator[Client]:
    """A client of a cluster with two worker processes, shared by one module's tests."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
