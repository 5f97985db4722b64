"""Where the tests' ROOT and Parquet files come from.

Reference files lie beside the checkout in `shared/data`. A test that does not find them draws
files of its own, so that every test runs on every machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import awkward as ak
import numpy as np
import uproot

import nanoaod

PROJECT_ROOT: Final = Path(__file__).resolve().parent.parent
SHARED_DATA: Final = PROJECT_ROOT.parent / "shared" / "data"


def reference_path(name: str) -> Path | None:
    """Return a reference file or directory by name, or None where it is not installed."""
    path = SHARED_DATA / name
    return path if path.exists() else None


def wide_nanoaod(directory: Path, *, event_count: int = 200, seed: int = 7) -> Path:
    """Draw one NanoAOD-like file with several hundred branches, once per directory."""
    path = directory / f"wide-{event_count}-{seed}.root"
    if not path.exists():
        nanoaod.write_file(path, event_count=event_count, top_pairs=True, seed=seed)
    return path


def small_root_file(path: Path, *, event_count: int = 1_000, seed: int = 1) -> Path:
    """Write a file with a handful of branches: quick to make, for tests that need many of them.

    It has the event's identity, a scalar and a jagged Muon collection in two baskets; read it with
    `BaseSchema`, or with `NanoAODSchema` and its complaints about missing cross-references.
    """
    random = np.random.default_rng(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    with uproot.recreate(path) as file:
        first_half = event_count // 2
        tree = None
        for first, size in ((0, first_half), (first_half, event_count - first_half)):
            events = small_events(random, size, first_event=first)
            if tree is None:
                types = {name: ak.type(array).content for name, array in events.items()}
                tree = file.mktree("Events", types)
            tree.extend(events)
    return path


def small_formats(directory: Path, *, event_count: int = 40) -> dict[str, Path]:
    """Write the same few columns as a TTree, an RNTuple and a Parquet file."""
    random = np.random.default_rng(5)
    columns = {
        "MET_pt": random.rayleigh(30.0, event_count).astype(np.float32),
        "Muon_pt": ak.unflatten(
            random.exponential(30.0, 2 * event_count).astype(np.float32),
            [1, 3] * (event_count // 2),
        ),
    }
    table = ak.zip(columns, depth_limit=1)
    paths = {
        "ttree": directory / "tree.root",
        "rntuple": directory / "ntuple.root",
        "parquet": directory / "table.parquet",
    }
    with uproot.recreate(paths["ttree"]) as file:
        types = {name: ak.type(ak.Array(array)).content for name, array in columns.items()}
        file.mktree("Events", types).extend(columns)
    with uproot.recreate(paths["rntuple"]) as file:
        file.mkrntuple("Events", table)
    ak.to_parquet(table, paths["parquet"])
    return paths


def small_events(
    random: np.random.Generator, event_count: int, *, first_event: int
) -> dict[str, Any]:
    counts = random.poisson(1.5, event_count)
    size = int(counts.sum())
    muons = ak.Array(
        {
            "pt": random.exponential(30.0, size).astype(np.float32),
            "eta": random.normal(0.0, 1.2, size).astype(np.float32),
            "phi": random.uniform(-np.pi, np.pi, size).astype(np.float32),
            "mass": np.full(size, 0.10566, dtype=np.float32),
            "charge": random.choice(np.array([-1, 1], dtype=np.int32), size),
        }
    )
    return {
        "run": np.ones(event_count, dtype=np.uint32),
        "luminosityBlock": np.ones(event_count, dtype=np.uint32),
        "event": np.arange(first_event, first_event + event_count, dtype=np.uint64),
        "MET_pt": random.rayleigh(30.0, event_count).astype(np.float32),
        "Muon": ak.unflatten(muons, counts),
    }


def fileset(paths_by_dataset: dict[str, list[Path]]) -> dict[str, dict[str, Any]]:
    """Put files into coffea's form."""
    return {
        dataset: {"files": {str(path): "Events" for path in paths}}
        for dataset, paths in paths_by_dataset.items()
    }
