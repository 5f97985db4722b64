"""Draws NanoAOD-like ROOT files for the demo: seeded, several hundred branches, a real Z peak.

The files stand in for data that cannot be shipped: they have NanoAOD's names, types and
cross-references, so `NanoAODSchema` reads them without a warning, and its price per branch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import awkward as ak
import numpy as np
import numpy.typing as npt
import uproot

from branches import (
    FILTER_BRANCHES,
    MISSING_ENERGY_BRANCHES,
    Kind,
    fields_by_kind,
    trigger_paths,
)
from kinematics import Muons, draw_muons_from_top, draw_muons_from_z

Floats = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int64]

# Raise this when the contents change: files of another version are never read.
GENERATOR_VERSION: Final = 1

EVENTS_PER_BASKET: Final = 5_000

# The mean multiplicity of each collection, for Drell-Yan and for top pairs.
MEAN_COUNTS: Final[Mapping[str, tuple[float, float]]] = {
    "Electron": (0.3, 0.7),
    "Photon": (0.5, 0.7),
    "Tau": (0.2, 0.5),
    "Jet": (2.5, 6.0),
    "FatJet": (0.1, 0.5),
    "SubJet": (0.2, 1.0),
    "LowPtElectron": (0.3, 0.5),
    "FsrPhoton": (0.1, 0.1),
    "GenJet": (2.5, 6.0),
    "GenJetAK8": (0.1, 0.5),
    "GenVisTau": (0.1, 0.3),
    "SV": (0.5, 2.0),
}

PT_SCALE_GEV: Final[Mapping[str, tuple[float, float]]] = {
    # collection: (threshold, mean above it)
    "Electron": (5.0, 20.0),
    "Photon": (5.0, 15.0),
    "Tau": (18.0, 20.0),
    "Jet": (15.0, 30.0),
    "FatJet": (170.0, 60.0),
    "SubJet": (40.0, 50.0),
    "LowPtElectron": (1.0, 4.0),
    "FsrPhoton": (2.0, 5.0),
    "GenJet": (10.0, 30.0),
    "GenJetAK8": (80.0, 60.0),
    "GenVisTau": (10.0, 20.0),
    "SV": (1.0, 8.0),
    "GenPart": (1.0, 15.0),
}

# The fields coffea resolves to another collection, and which one.
CROSS_REFERENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "Muon": {"fsrPhotonIdx": "FsrPhoton", "jetIdx": "Jet"},
    "Electron": {"genPartIdx": "GenPart", "jetIdx": "Jet", "photonIdx": "Photon"},
    "Photon": {"electronIdx": "Electron", "genPartIdx": "GenPart", "jetIdx": "Jet"},
    "Tau": {"genPartIdx": "GenPart", "jetIdx": "Jet"},
    "Jet": {
        "electronIdx1": "Electron",
        "electronIdx2": "Electron",
        "muonIdx1": "Muon",
        "muonIdx2": "Muon",
        "genJetIdx": "GenJet",
    },
    "FatJet": {"genJetAK8Idx": "GenJetAK8", "subJetIdx1": "SubJet", "subJetIdx2": "SubJet"},
    "FsrPhoton": {"muonIdx": "Muon"},
    "GenVisTau": {"genPartIdxMother": "GenPart"},
    "LowPtElectron": {"electronIdx": "Electron", "genPartIdx": "GenPart", "photonIdx": "Photon"},
}

# coffea gives these collections a mass and charge of its own and warns if the file has them.
MASSLESS: Final = frozenset({"Photon", "FsrPhoton"})
CHARGED: Final = frozenset({"Electron", "Tau", "LowPtElectron", "GenVisTau", "SV"})


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One dataset to draw: its process, and how many files and events it has."""

    name: str
    top_pairs: bool
    file_count: int
    events_per_file: int


DEMO_SAMPLES: Final = (
    Sample(name="ZToMuMu", top_pairs=False, file_count=3, events_per_file=10_000),
    Sample(name="TTbar", top_pairs=True, file_count=2, events_per_file=5_000),
)


def trim_mantissa(values: npt.ArrayLike, *, bits: int = 10) -> Floats:
    """Round to few mantissa bits, as NanoAOD does, so that the files compress as theirs do."""
    raw = np.asarray(values, dtype=np.float32).view(np.uint32)
    dropped = 23 - bits
    half = np.uint32(1 << (dropped - 1))
    mask = np.uint32(0xFFFFFFFF ^ ((1 << dropped) - 1))
    trimmed: Floats = ((raw + half) & mask).view(np.float32)
    return trimmed


def draw_kind(random: np.random.Generator, kind: Kind, size: int) -> npt.NDArray[Any]:
    """Draw a field of which only the kind is known."""
    if kind == "flag":
        return random.random(size) < 0.95
    if kind == "code":
        return random.integers(0, 8, size, dtype=np.uint8)
    if kind == "score":
        return trim_mantissa(random.random(size), bits=8)
    if kind == "small":
        return trim_mantissa(random.exponential(0.06, size), bits=8)
    return trim_mantissa(random.normal(0.0, 0.02, size), bits=8)


def draw_indices(random: np.random.Generator, source: Counts, target: Counts) -> npt.NDArray[Any]:
    """Draw, for each source object, the index of a target in its event, or -1 for none."""
    targets = np.repeat(target, source)
    index: npt.NDArray[np.int16] = np.floor(
        random.random(targets.size) * (targets + 1) - 1.0
    ).astype(np.int16)
    return index


def descending_within_events(values: Floats, counts: Counts) -> Floats:
    """Sort each event's values from high to low, as NanoAOD orders its objects by momentum."""
    event = np.repeat(np.arange(counts.size), counts)
    return values[np.lexsort((-values, event))]


def leading(values: Floats, counts: Counts) -> Floats:
    """Return each event's first value, or 0 where it has none."""
    first = np.zeros(counts.size, dtype=np.float32)
    filled = counts > 0
    first[filled] = values[(np.cumsum(counts) - counts)[filled]]
    return first


def draw_collection(
    random: np.random.Generator, name: str, counts: Mapping[str, Counts]
) -> dict[str, npt.NDArray[Any]]:
    """Draw one collection's flat fields: momenta, cross-references, then the rest by kind."""
    own = counts[name]
    size = int(own.sum())
    threshold, mean = PT_SCALE_GEV[name]
    drawn_pt = np.float32(threshold) + random.exponential(mean, size).astype(np.float32)
    pt = descending_within_events(drawn_pt, own)
    fields: dict[str, npt.NDArray[Any]] = {
        "pt": trim_mantissa(pt, bits=12),
        "eta": trim_mantissa(np.clip(random.normal(0.0, 1.6, size), -4.7, 4.7), bits=12),
        "phi": trim_mantissa(random.uniform(-np.pi, np.pi, size), bits=12),
    }
    if name not in MASSLESS:
        fields["mass"] = trim_mantissa(0.1 * pt)
    if name in CHARGED:
        fields["charge"] = random.choice(np.array([-1, 1], dtype=np.int32), size)
    for field, target in CROSS_REFERENCES.get(name, {}).items():
        fields[field] = draw_indices(random, own, counts[target])
    for kind, field in fields_by_kind(name):
        fields[field] = draw_kind(random, kind, size)
    if name == "Electron":
        fields["pdgId"] = (-11 * fields["charge"]).astype(np.int32)
    return fields


def draw_generated(
    random: np.random.Generator, muons: Muons, counts: Mapping[str, Counts], *, top_pairs: bool
) -> dict[str, npt.NDArray[Any]]:
    """Draw the generator's record: the boson or top first, its muons next, soft particles last."""
    own = counts["GenPart"]
    fields = draw_collection(random, "GenPart", counts)
    size = fields["pt"].size
    position = np.arange(size) - np.repeat(np.cumsum(own) - own, own)
    muon_count = np.repeat(muons.counts, own)
    is_muon = (position >= 1) & (position <= muon_count)
    pdg_id = random.choice(np.array([21, 1, -1, 2, -2, 211, -211, 22], dtype=np.int32), size)
    pdg_id[position == 0] = 6 if top_pairs else 23
    pdg_id[is_muon] = -13 * muons.charge
    for field, values in (("pt", muons.pt), ("eta", muons.eta), ("phi", muons.phi)):
        fields[field][is_muon] = trim_mantissa(values, bits=12)
    fields["mass"][is_muon] = np.float32(0.10566)
    mother = (random.random(size) * position).astype(np.int16)
    mother[is_muon] = 0
    mother[position == 0] = -1
    return {**fields, "pdgId": pdg_id, "genPartIdxMother": mother}


def draw_reconstructed_muons(
    random: np.random.Generator, muons: Muons, counts: Mapping[str, Counts]
) -> dict[str, npt.NDArray[Any]]:
    """Give the drawn muons NanoAOD's fields."""
    size = muons.pt.size
    position = np.arange(size) - np.repeat(np.cumsum(muons.counts) - muons.counts, muons.counts)
    fields: dict[str, npt.NDArray[Any]] = {
        "pt": trim_mantissa(muons.pt, bits=14),
        "eta": trim_mantissa(muons.eta, bits=14),
        "phi": trim_mantissa(muons.phi, bits=14),
        "mass": np.full(size, 0.10566, dtype=np.float32),
        "charge": muons.charge,
        "pdgId": (-13 * muons.charge).astype(np.int32),
        "genPartIdx": (position + 1).astype(np.int16),
    }
    for field, target in CROSS_REFERENCES["Muon"].items():
        fields[field] = draw_indices(random, muons.counts, counts[target])
    for kind, field in fields_by_kind("Muon"):
        fields[field] = draw_kind(random, kind, size)
    return fields


def draw_events(
    random: np.random.Generator, event_count: int, *, top_pairs: bool, first_event: int = 0
) -> dict[str, Any]:
    """Draw whole events: a mapping of branch or collection name to its array."""
    muons = (draw_muons_from_top if top_pairs else draw_muons_from_z)(random, event_count)
    counts: dict[str, Counts] = {
        name: random.poisson(means[top_pairs], event_count) for name, means in MEAN_COUNTS.items()
    }
    counts["Muon"] = muons.counts
    counts["GenPart"] = 1 + muons.counts + random.poisson(8.0, event_count)

    collections = {name: draw_collection(random, name, counts) for name in MEAN_COUNTS}
    collections["Muon"] = draw_reconstructed_muons(random, muons, counts)
    collections["GenPart"] = draw_generated(random, muons, counts, top_pairs=top_pairs)

    events: dict[str, Any] = {
        "run": np.ones(event_count, dtype=np.uint32),
        "luminosityBlock": np.full(event_count, 1 + first_event // 1_000, dtype=np.uint32),
        "event": np.arange(first_event + 1, first_event + 1 + event_count, dtype=np.uint64),
        "genWeight": np.ones(event_count, dtype=np.float32),
        "PV_npvs": random.poisson(35, event_count).astype(np.uint8),
        "PV_npvsGood": random.poisson(28, event_count).astype(np.uint8),
        "Pileup_nTrueInt": trim_mantissa(random.normal(36.0, 6.0, event_count)),
    }
    missing_scale = 45.0 if top_pairs else 15.0
    for branch in MISSING_ENERGY_BRANCHES:
        if branch.endswith("_phi"):
            events[branch] = trim_mantissa(random.uniform(-np.pi, np.pi, event_count))
        else:
            events[branch] = trim_mantissa(random.rayleigh(missing_scale, event_count))
    for branch in FILTER_BRANCHES:
        events[branch] = random.random(event_count) < 0.998
    leading_pt = {name: leading(fields["pt"], counts[name]) for name, fields in collections.items()}
    for path, (collection, threshold) in trigger_paths().items():
        fires = leading_pt[collection] > threshold
        events[path] = fires & (random.random(event_count) < 0.93)
    for name, fields in collections.items():
        events[name] = ak.unflatten(ak.Array(fields), counts[name])
    return events


def write_file(path: Path, *, event_count: int, top_pairs: bool, seed: int) -> None:
    """Write one file whole: to a temporary name first, so that a half-written one is never read."""
    random = np.random.default_rng(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with uproot.recreate(unfinished, compression=uproot.ZSTD(1)) as file:
            tree = None
            for first_event in range(0, event_count, EVENTS_PER_BASKET):
                size = min(EVENTS_PER_BASKET, event_count - first_event)
                events = draw_events(random, size, top_pairs=top_pairs, first_event=first_event)
                if tree is None:
                    types = {name: ak.type(array).content for name, array in events.items()}
                    tree = file.mktree("Events", types)
                tree.extend(events)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def make_fileset(
    directory: Path,
    *,
    samples: tuple[Sample, ...] = DEMO_SAMPLES,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, dict[str, Any]]:
    """Return a coffea fileset of the samples, drawing the files that `directory` does not hold.

    `progress` is called with the number of files present and wanted, after each file drawn.
    """
    cache = directory / f"v{GENERATOR_VERSION}"
    wanted = [
        (sample, cache / f"{sample.name}-{sample.events_per_file}-{index}.root", index)
        for sample in samples
        for index in range(sample.file_count)
    ]
    for done, (sample, path, index) in enumerate(wanted, start=1):
        if path.exists():
            continue
        write_file(
            path,
            event_count=sample.events_per_file,
            top_pairs=sample.top_pairs,
            seed=1_000 * int(sample.top_pairs) + index,
        )
        if progress is not None:
            progress(done, len(wanted))
    return {
        sample.name: {
            "files": {str(path): "Events" for owner, path, _ in wanted if owner is sample},
            "metadata": {"is_mc": True},
        }
        for sample in samples
    }
