"""Processors of the tests, in a module that worker processes can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
from coffea import processor

from roastcoffea import (
    BaseInstrumentationContext,
    track_bytes,
    track_memory,
    track_metrics,
    track_time,
)


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


class SelfTimed(Metrology):
    """Say as well what CPU time the whole of it took, by Python's own clock."""

    def process(self, events: Any) -> dict[str, Any]:
        began = time.thread_time()
        out = super().process(events)
        return {**out, "cpu_secs": [time.thread_time() - began]}


def burn(cpu_secs: float) -> None:
    """Use so much CPU time of this thread, however busy the machine is."""
    end = time.thread_time() + cpu_secs
    while time.thread_time() < end:
        sum(range(500))


def count_events(events: Any) -> dict[str, Any]:
    """Be a processor that is a plain function."""
    return {"events": len(events), "met": float(np.sum(ak.to_numpy(events.MET_pt)))}


class Undecorated(processor.ProcessorABC):
    """Read two columns, in sections, with no decorator."""

    def process(self, events: Any) -> dict[str, Any]:
        with track_time(self, "select"):
            total = float(np.sum(ak.to_numpy(column(events, "MET_pt"))))
            for _ in range(2):
                with track_time(self, "inner"):
                    pass
        with track_memory(self, "fill"):
            muons = len(ak.to_numpy(ak.flatten(column(events, "Muon_pt"))))
        return {"events": len(events), "met": total, "muons": muons}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Decorated(Undecorated):
    """The same, decorated, with a key and a metric of the user's own."""

    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        if hasattr(self, "_roastcoffea_current_chunk"):
            self._roastcoffea_current_chunk["custom_count"] = 42
        with Custom(self, "mine"):
            return super().process(events)


class Custom(BaseInstrumentationContext):
    """A user's own context."""

    def __exit__(self, *exception: Any) -> None:
        self.record_metric("my_metric", 7.5)


class FailingOnce(Undecorated):
    """Fail the first attempt at each chunk of one file."""

    def __init__(self, bad_name: str, scratch: str) -> None:
        self.bad_name = bad_name
        self.scratch = scratch

    def process(self, events: Any) -> dict[str, Any]:
        metadata = events.metadata
        if self.bad_name in metadata["filename"]:
            flag = Path(self.scratch) / f"{metadata['entrystart']}"
            if not flag.exists():
                flag.touch()
                burn(0.05)
                raise ZeroDivisionError("not yet")
        return super().process(events)


class KillsItsWorker(Undecorated):
    """Kill the process on the first attempt at one chunk."""

    def __init__(self, scratch: str) -> None:
        self.scratch = scratch

    def process(self, events: Any) -> dict[str, Any]:
        flag = Path(self.scratch) / "killed"
        if events.metadata["entrystart"] == 500 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)
        return super().process(events)


class Slots(processor.ProcessorABC):
    """A processor without a ``__dict__`` of its own to speak of."""

    __slots__ = ("frozen",)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("frozen")

    def process(self, events: Any) -> dict[str, Any]:
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Allocating(processor.ProcessorABC):
    """Allocate and free a known amount of memory."""

    def process(self, events: Any) -> dict[str, Any]:
        block = np.ones(40_000_000)  # 320 MB
        total = float(block[::4096].sum())
        time.sleep(0.05)
        del block
        return {"events": len(events), "total": total}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class SlowSection(processor.ProcessorABC):
    """One slow section among quick ones."""

    def process(self, events: Any) -> dict[str, Any]:
        for name in ("quick", "slow", "quick"):
            with track_time(self, name):
                time.sleep(0.1 if name == "slow" else 0.002)
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class HardSections(processor.ProcessorABC):
    """Sections of every unreasonable kind."""

    def process(self, events: Any) -> dict[str, Any]:
        with track_time(self, 17):
            pass
        with track_time(self, "x" * 100_000):
            pass
        for index in range(100_000):
            with track_time(self, f"many {index}"):
                pass
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


def column(events: Any, name: str) -> Any:
    """Take a branch from events of any schema or format."""
    if name in events.fields:
        return events[name]
    collection, _, attribute = name.partition("_")
    return events[collection][attribute]


class DecoratedAccumulators(Accumulators):
    """coffea's own accumulator types, decorated."""

    @track_metrics
    def process(self, events: Any) -> Any:
        return super().process(events)


class FirstHalfOnly(processor.ProcessorABC):
    """Read other branches in the first chunk of a file than in the later ones."""

    def process(self, events: Any) -> dict[str, Any]:
        name = "MET_pt" if events.metadata["entrystart"] == 0 else "luminosityBlock"
        return {"events": len(events), "sum": float(np.sum(ak.to_numpy(events[name])))}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class CountsBytes(processor.ProcessorABC):
    """Count the bytes of one column, and let an error pass through a section."""

    def process(self, events: Any) -> dict[str, Any]:
        with track_bytes(self, events, "met"):
            total = float(np.sum(ak.to_numpy(events.MET_pt)))
        try:
            with track_time(self, "broken"):
                raise KeyError("inside")
        except KeyError:
            total += 0.0
        return {"events": len(events), "met": total}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Straggling(processor.ProcessorABC):
    """Take long over one chunk, the last one."""

    def process(self, events: Any) -> dict[str, Any]:
        time.sleep(2.5 if events.metadata["entrystart"] == 500 else 0.1)
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class ReadsAll(processor.ProcessorABC):
    """Read every column."""

    def process(self, events: Any) -> dict[str, Any]:
        for name in events.fields:
            ak.to_numpy(ak.flatten(events[name], axis=None))
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class WaitsPerEvent(processor.ProcessorABC):
    """Take a known time for every event, without needing a core for it."""

    def __init__(self, secs_per_event: float) -> None:
        self.secs_per_event = secs_per_event

    def process(self, events: Any) -> dict[str, Any]:
        time.sleep(self.secs_per_event * len(events))
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class WaitsForFile(MuonCounter):
    """Say that it has begun, and go on when it is told to."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def process(self, events: Any) -> dict[str, Any]:
        directory = Path(self.directory)
        (directory / "begun").touch()
        while not (directory / "go").exists():
            time.sleep(0.01)
        return super().process(events)
