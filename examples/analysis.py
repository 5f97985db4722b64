"""The demo's analysis: opposite-sign dimuons, the jets beside them, and a cutflow per dataset.

It knows nothing of roastcoffea: measuring a run takes no change to its processor.
"""

from __future__ import annotations

from typing import Any, Final

import awkward as ak
import hist
import numpy as np
from coffea import processor

MASS_BIN_GEV: Final = 0.5


class DimuonProcessor(processor.ProcessorABC):
    """Fill the dimuon mass and leading-jet spectra of events with two opposite-sign muons."""

    def process(self, events: Any) -> dict[str, Any]:
        """Select the dimuon events of one chunk and fill its histograms."""
        dataset = events.metadata["dataset"]
        cutflow = {"all": len(events)}

        events = events[events.HLT.IsoMu24 | events.HLT.Mu50]
        cutflow["trigger"] = len(events)

        good_muon = (
            (events.Muon.pt > 20)
            & (abs(events.Muon.eta) < 2.4)
            & events.Muon.mediumId
            & (events.Muon.pfRelIso04_all < 0.25)
        )
        muons = events.Muon[good_muon]
        two_muons = ak.num(muons) == 2
        events, muons = events[two_muons], muons[two_muons]
        cutflow["two muons"] = len(events)

        opposite_sign = ak.sum(muons.charge, axis=1) == 0
        events, muons = events[opposite_sign], muons[opposite_sign]
        cutflow["opposite sign"] = len(events)

        dimuon = muons[:, 0] + muons[:, 1]
        mass_histogram: hist.Hist[Any] = hist.Hist(
            hist.axis.StrCategory([], growth=True, name="dataset"),
            hist.axis.Regular(120, 60, 120, name="mass", label="dimuon mass [GeV]"),
        )
        mass_histogram.fill(dataset=dataset, mass=dimuon.mass)

        jets = events.Jet[(events.Jet.pt > 30) & (abs(events.Jet.eta) < 2.5)]
        # A jet that is one of the muons again must not count as a jet.
        distance = jets.metric_table(muons)
        jets = jets[ak.all(distance > 0.4, axis=2)]
        leading_jet = ak.firsts(jets)
        has_jet = ~ak.is_none(leading_jet)
        jet_histogram: hist.Hist[Any] = hist.Hist(
            hist.axis.StrCategory([], growth=True, name="dataset"),
            hist.axis.Regular(50, 30, 280, name="pt", label="leading jet pt [GeV]"),
        )
        jet_histogram.fill(dataset=dataset, pt=leading_jet.pt[has_jet])
        cutflow["with a jet"] = int(ak.sum(has_jet))
        cutflow["with a b jet"] = int(ak.sum(ak.any(jets.btagDeepFlavB > 0.95, axis=1)))

        return {
            "dimuon_mass": mass_histogram,
            "leading_jet_pt": jet_histogram,
            "cutflow": {dataset: cutflow},
        }

    def postprocess(self, accumulator: dict[str, Any]) -> dict[str, Any]:
        """Leave the accumulated output as it is."""
        return accumulator


def peak_mass_gev(mass_histogram: hist.Hist[Any], *, dataset: str) -> float:
    """Find where the dimuon mass peaks: the mean around the highest bin."""
    counts = mass_histogram.values()[mass_histogram.axes["dataset"].index(dataset)]
    centers = mass_histogram.axes["mass"].centers
    highest = centers[int(np.argmax(counts))]
    near = np.abs(centers - highest) < 6 * MASS_BIN_GEV
    return float(np.average(centers[near], weights=counts[near]))
