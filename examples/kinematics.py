"""The physics of the demo's muons: Z bosons that decay and recoil, and muons of top pairs.

Kept apart from the file writer because this is what makes the demo's mass peak a real one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Z_MASS_GEV: Final = 91.19
Z_WIDTH_GEV: Final = 2.495
MUON_PT_MIN_GEV: Final = 5.0
MUON_ABS_ETA_MAX: Final = 2.4
MUON_PT_RESOLUTION: Final = 0.012


@dataclass(frozen=True, kw_only=True)
class Muons:
    """The muons of many events, flat, ordered by event and then by falling momentum."""

    counts: npt.NDArray[np.int64]
    pt: Floats
    eta: Floats
    phi: Floats
    charge: npt.NDArray[np.int32]


def select_and_order(
    event: npt.NDArray[np.int64],
    pt: Floats,
    eta: Floats,
    phi: Floats,
    charge: npt.NDArray[np.int32],
    *,
    event_count: int,
) -> Muons:
    """Keep the muons a detector would see and put them in NanoAOD's order."""
    seen = (pt > MUON_PT_MIN_GEV) & (np.abs(eta) < MUON_ABS_ETA_MAX)
    order = np.flatnonzero(seen)
    order = order[np.lexsort((-pt[order], event[order]))]
    return Muons(
        counts=np.bincount(event[order], minlength=event_count).astype(np.int64),
        pt=pt[order],
        eta=eta[order],
        phi=phi[order],
        charge=charge[order],
    )


def draw_muons_from_z(random: np.random.Generator, event_count: int) -> Muons:
    """Draw Z bosons of Breit-Wigner mass, decay each to two muons, boost and smear them."""
    # A Cauchy distribution has no variance: redraw its tails by folding them into the window.
    low, high = np.arctan((np.array([60.0, 120.0]) - Z_MASS_GEV) / (0.5 * Z_WIDTH_GEV))
    mass = Z_MASS_GEV + 0.5 * Z_WIDTH_GEV * np.tan(random.uniform(low, high, event_count))
    boson_pt = random.gamma(1.6, 9.0, event_count)
    boson_phi = random.uniform(-np.pi, np.pi, event_count)
    rapidity = np.clip(random.normal(0.0, 1.3, event_count), -3.0, 3.0)

    # In the boson's frame the muons leave back to back with half its mass each.
    cos_theta = random.uniform(-1.0, 1.0, event_count)
    sin_theta = np.sqrt(1.0 - cos_theta**2)
    decay_phi = random.uniform(-np.pi, np.pi, event_count)
    direction = np.stack(
        [sin_theta * np.cos(decay_phi), sin_theta * np.sin(decay_phi), cos_theta], axis=1
    )
    transverse_mass = np.hypot(mass, boson_pt)
    boson_energy = transverse_mass * np.cosh(rapidity)
    boson_momentum = np.stack(
        [
            boson_pt * np.cos(boson_phi),
            boson_pt * np.sin(boson_phi),
            transverse_mass * np.sinh(rapidity),
        ],
        axis=1,
    )
    momenta = []
    for sign in (1.0, -1.0):
        at_rest = sign * 0.5 * mass[:, None] * direction
        along = np.sum(at_rest * boson_momentum, axis=1)
        gain = (along / (boson_energy + mass) + 0.5 * mass) / mass
        momenta.append(at_rest + gain[:, None] * boson_momentum)
    px, py, pz = np.concatenate(momenta).T
    pt = np.hypot(px, py)
    event = np.tile(np.arange(event_count), 2)
    charge = np.repeat(np.array([1, -1], dtype=np.int32), event_count)
    return select_and_order(
        event,
        pt * random.normal(1.0, MUON_PT_RESOLUTION, pt.size),
        np.arcsinh(pz / pt),
        np.arctan2(py, px),
        charge,
        event_count=event_count,
    )


def draw_muons_from_top(random: np.random.Generator, event_count: int) -> Muons:
    """Draw the muons of top pairs: each W gives one a quarter of the time, with no mass peak."""
    has_muon = random.random((event_count, 2)) < 0.25
    event, which = np.nonzero(has_muon)
    size = event.size
    return select_and_order(
        event,
        8.0 + random.exponential(38.0, size),
        random.normal(0.0, 1.2, size),
        random.uniform(-np.pi, np.pi, size),
        np.where(which == 0, 1, -1).astype(np.int32),
        event_count=event_count,
    )
