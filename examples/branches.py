"""Which branches the demo's NanoAOD-like files have.

Only names and kinds of value live here; `nanoaod` draws the values. Branches whose values carry
physics (momenta, charges, cross-references) are drawn there one by one, the rest by kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

Kind = Literal["score", "small", "signed", "flag", "code"]

KINDS_BY_COLLECTION: Final[Mapping[str, Mapping[Kind, str]]] = {
    "Muon": {
        "score": "mvaTTH mvaLowPt mvaMuID softMva segmentComp jetPtRelv2",
        "small": (
            "pfRelIso03_all pfRelIso03_chg pfRelIso04_all miniPFRelIso_all miniPFRelIso_chg "
            "tkRelIso jetRelIso ptErr dxyErr dzErr ip3d sip3d bsConstrainedChi2 "
            "bsConstrainedPtErr"
        ),
        "signed": "dxy dz dxybs tunepRelPt",
        "flag": (
            "looseId mediumId mediumPromptId tightId softId softMvaId triggerIdLoose isGlobal "
            "isTracker isPFcand isStandalone inTimeMuon highPurity"
        ),
        "code": (
            "nStations nTrackerLayers highPtId pfIsoId miniIsoId multiIsoId puppiIsoId tkIsoId "
            "mvaMuID_WP tightCharge genPartFlav jetNDauCharged cleanmask"
        ),
    },
    "Electron": {
        "score": "mvaTTH mvaIso mvaNoIso mvaHZZIso r9 jetPtRelv2 scEtOverPt",
        "small": (
            "pfRelIso03_all pfRelIso03_chg miniPFRelIso_all miniPFRelIso_chg jetRelIso hoe sieie "
            "dxyErr dzErr energyErr ip3d sip3d dr03EcalRecHitSumEt dr03HcalDepth1TowerSumEt "
            "dr03TkSumPt dr03TkSumPtHEEP"
        ),
        "signed": "dxy dz deltaEtaSC eInvMinusPInv",
        "flag": (
            "convVeto cutBased_HEEP isPFcand mvaIso_WP80 mvaIso_WP90 mvaNoIso_WP80 mvaNoIso_WP90"
        ),
        "code": (
            "cutBased lostHits seedGain tightCharge vidNestedWPBitmap vidNestedWPBitmapHEEP "
            "genPartFlav jetNDauCharged cleanmask"
        ),
    },
    "Photon": {
        "score": "mvaID r9 esEffSigmaRR esEnergyOverRawE",
        "small": (
            "pfRelIso03_all_quadratic pfRelIso03_chg_quadratic hoe sieie sieip sipip energyErr "
            "trkSumPtHollowConeDR03 trkSumPtSolidConeDR04 pfChargedIso pfPhoIso03 "
            "hoe_PUcorr ecalPFClusterIso hcalPFClusterIso"
        ),
        "signed": "etaWidth phiWidth s4 x_calo y_calo z_calo",
        "flag": (
            "electronVeto isScEtaEB isScEtaEE mvaID_WP80 mvaID_WP90 pixelSeed hasConversionTracks"
        ),
        "code": "cutBased seedGain vidNestedWPBitmap genPartFlav cleanmask",
    },
    "Tau": {
        "score": (
            "rawDeepTau2018v2p5VSe rawDeepTau2018v2p5VSjet rawDeepTau2018v2p5VSmu "
            "rawIso rawIsodR03 rawPNetVSe rawPNetVSjet rawPNetVSmu leadTkPtOverTauPt"
        ),
        "small": "chargedIso neutralIso puCorr photonsOutsideSignalCone ptCorrPNet qConfPNet",
        "signed": "dxy dz leadTkDeltaEta leadTkDeltaPhi",
        "flag": "idAntiEleDeadECal idDecayModeNewDMs idDecayModeOldDMs",
        "code": (
            "decayMode decayModePNet idAntiMu idDeepTau2018v2p5VSe idDeepTau2018v2p5VSjet "
            "idDeepTau2018v2p5VSmu nSVs genPartFlav cleanmask"
        ),
    },
    "Jet": {
        "score": (
            "btagDeepFlavB btagDeepFlavCvB btagDeepFlavCvL btagDeepFlavQG btagPNetB btagPNetCvB "
            "btagPNetCvL btagPNetQvG btagPNetTauVJet btagRobustParTAK4B btagRobustParTAK4CvB "
            "btagRobustParTAK4CvL btagRobustParTAK4QG area"
        ),
        "small": (
            "chEmEF chHEF neEmEF neHEF muEF rawFactor PNetRegPtRawRes hfsigmaEtaEta hfsigmaPhiPhi"
        ),
        "signed": "PNetRegPtRawCorr PNetRegPtRawCorrNeutrino muonSubtrFactor",
        "code": (
            "jetId puId nConstituents nElectrons nMuons nSVs hadronFlavour partonFlavour "
            "hfadjacentEtaStripsSize hfcentralEtaStripSize cleanmask"
        ),
    },
    "FatJet": {
        "score": (
            "btagDDBvLV2 btagDDCvBV2 btagDDCvLV2 btagDeepB btagHbb lsf3 n2b1 n3b1 "
            "particleNetWithMass_H4qvsQCD particleNetWithMass_HbbvsQCD "
            "particleNetWithMass_HccvsQCD particleNetWithMass_QCD particleNetWithMass_TvsQCD "
            "particleNetWithMass_WvsQCD particleNetWithMass_ZvsQCD particleNet_QCD "
            "particleNet_QCD0HF particleNet_QCD1HF particleNet_QCD2HF particleNet_XbbVsQCD "
            "particleNet_XccVsQCD particleNet_XggVsQCD particleNet_XqqVsQCD particleNet_XteVsQCD "
            "particleNet_XtmVsQCD particleNet_XttVsQCD particleNet_massCorr tau1 tau2 tau3 tau4"
        ),
        "small": "area rawFactor msoftdrop",
        "code": "jetId nConstituents nBHadrons nCHadrons hadronFlavour",
    },
    "SubJet": {
        "score": "btagDeepB n2b1 n3b1 tau1 tau2 tau3 tau4",
        "small": "rawFactor area",
        "code": "hadronFlavour nBHadrons nCHadrons",
    },
    "LowPtElectron": {
        "score": "ID embeddedID unbiased ptbiased r9",
        "small": "miniPFRelIso_all miniPFRelIso_chg dxyErr dzErr energyErr hoe sieie",
        "signed": "dxy dz deltaEtaSC eInvMinusPInv",
        "flag": "convVeto",
        "code": "convWP lostHits electronType genPartFlav",
    },
    "FsrPhoton": {"small": "relIso03 dROverEt2"},
    "GenPart": {"code": "status statusFlags"},
    "GenJet": {"code": "hadronFlavour partonFlavour"},
    "GenJetAK8": {"code": "hadronFlavour partonFlavour"},
    "GenVisTau": {"code": "status"},
    "SV": {
        "small": "chi2 dlenSig dxySig ntracksError pAngle",
        "signed": "dlen dxy x y z",
        "code": "ndof ntracks",
    },
}

MISSING_ENERGY_BRANCHES: Final = tuple(
    f"{family}_{quantity}"
    for family in ("MET", "PuppiMET", "RawMET", "RawPuppiMET", "ChsMET", "CaloMET", "TkMET")
    for quantity in ("pt", "phi", "sumEt")
)

FILTER_BRANCHES: Final = tuple(
    f"Flag_{name}"
    for name in (
        "goodVertices globalSuperTightHalo2016Filter HBHENoiseFilter HBHENoiseIsoFilter "
        "EcalDeadCellTriggerPrimitiveFilter BadPFMuonFilter BadPFMuonDzFilter eeBadScFilter "
        "ecalBadCalibFilter hfNoisyHitsFilter METFilters"
    ).split()
)


def fields_by_kind(collection: str) -> Iterator[tuple[Kind, str]]:
    """Yield every field of a collection that is drawn by kind alone."""
    for kind, names in KINDS_BY_COLLECTION[collection].items():
        for name in names.split():
            yield kind, name


def trigger_paths() -> dict[str, tuple[str, int]]:
    """Name each trigger path and the object and threshold (GeV) that make it fire."""
    paths: dict[str, tuple[str, int]] = {}
    for threshold in (17, 20, 24, 27, 30, 50):
        for prefix, suffix in (("IsoMu", ""), ("IsoMu", "_eta2p1"), ("Mu", ""), ("TkMu", "")):
            paths[f"HLT_{prefix}{threshold}{suffix}"] = ("Muon", threshold)
    for threshold in (12, 17, 23, 27, 28, 30, 32, 35, 40, 115):
        for suffix in ("_WPTight_Gsf", "_CaloIdL_TrackIdL_IsoVL"):
            paths[f"HLT_Ele{threshold}{suffix}"] = ("Electron", threshold)
    for threshold in (33, 50, 75, 90, 120, 150, 175, 200):
        for suffix in ("", "_R9Id90_HE10_IsoM"):
            paths[f"HLT_Photon{threshold}{suffix}"] = ("Photon", threshold)
    for threshold in (40, 60, 80, 140, 200, 260, 320, 400, 450, 500):
        for prefix in ("PFJet", "PFJetFwd", "AK8PFJet", "DiPFJetAve"):
            paths[f"HLT_{prefix}{threshold}"] = ("Jet", threshold)
    for threshold in (20, 27, 35, 50, 100, 180):
        paths[f"HLT_MediumChargedIsoPFTau{threshold}_Trk1_eta2p1"] = ("Tau", threshold)
    return paths
