"""Processors of the tests, in a module that worker processes can import."""

from __future__ import annotations

import time
from typing import Any

import awkward as ak
import numpy as np
from coffea import processor


class MuonCounter(processor.ProcessorABC):
    """Count events and muons, and fill a coarse spectrum."""

    def process(self, events: Any) -> dict[str, Any]:
        pt = ak.to_numpy(
            ak.flatten(events.Muon_pt if "Muon_pt" in events.fields else events.Muon.pt)
        )
        spectrum, _ = np.histogram(pt, bins=20, range=(0, 200))
        return {
            "events": len(events),
            "muons": len(pt),
            "spectrum": spectrum,
            "datasets": {events.metadata["dataset"]: len(events)},
        }

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class _Hidden(MuonCounter):
    """A class name that Dask strips of its underscore."""


class Accumulators(processor.ProcessorABC):
    """Return coffea's own accumulator types."""

    def process(self, events: Any) -> Any:
        return processor.dict_accumulator(
            {
                "events": processor.value_accumulator(int, len(events)),
                "files": processor.set_accumulator({events.metadata["filename"]}),
            }
        )

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class JustANumber(processor.ProcessorABC):
    """Return something that is no mapping."""

    def process(self, events: Any) -> int:
        return len(events)

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Failing(MuonCounter):
    """Fail on one file."""

    def __init__(self, bad_name: str) -> None:
        self.bad_name = bad_name

    def process(self, events: Any) -> dict[str, Any]:
        if self.bad_name in events.metadata["filename"]:
            raise ZeroDivisionError("this file is cursed")
        return super().process(events)


class Metrology(processor.ProcessorABC):
    """Burn a known CPU time, sleep a known time and read known columns."""

    def __init__(self, cpu_secs: float, sleep_secs: float) -> None:
        self.cpu_secs = cpu_secs
        self.sleep_secs = sleep_secs

    def process(self, events: Any) -> dict[str, Any]:
        burn(self.cpu_secs)
        time.sleep(self.sleep_secs)
        total = float(np.sum(ak.to_numpy(events.MET_pt)))
        return {"events": len(events), "met": total}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


def burn(cpu_secs: float) -> None:
    """Use so much CPU time of this thread, however busy the machine is."""
    end = time.thread_time() + cpu_secs
    while time.thread_time() < end:
        sum(range(500))


def count_events(events: Any) -> dict[str, Any]:
    """Be a processor that is a plain function."""
    return {"events": len(events), "met": float(np.sum(ak.to_numpy(events.MET_pt)))}
