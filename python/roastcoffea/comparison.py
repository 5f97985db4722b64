"""Runs compared with each other: what changed, and how throughput grows with cores."""

from __future__ import annotations

import json
import os
import shutil
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from roastcoffea import _core
from roastcoffea.export.measurements import load_measurement
from roastcoffea.measurement import Measurement

if TYPE_CHECKING:
    from typing import TypeAlias

    from roastcoffea.collector import MetricsCollector

    Source: TypeAlias = str | os.PathLike[str] | Measurement | MetricsCollector


class Comparison:
    """One or more runs compared with a base, as :func:`compare` makes it.

    A number is better or worse only beyond its noise; see ``rows`` for the bounds.
    """

    def __init__(self, core: _core.Comparison) -> None:
        self._core = core

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._core.to_json())
        return document

    @property
    def verdict(self) -> str:
        """The sentence to know first, one for each run compared with the base."""
        return "\n".join(found["verdict"] for found in self._document["comparisons"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every number in both runs, one dict each.

        ``run`` is the name of the run compared with the base, ``change`` is relative to the base,
        and a change between ``noise_low`` and ``noise_high`` is noise. Both are ``None`` where the
        noise is not known; then the verdict is ``changed``.
        """
        return [
            {"run": found["new"]["name"], **row}
            for found in self._document["comparisons"]
            for row in found["rows"]
        ]

    @property
    def worse(self) -> list[dict[str, Any]]:
        """The rows that are worse beyond noise."""
        return [row for row in self.rows if row["verdict"] == "worse"]

    @property
    def better(self) -> list[dict[str, Any]]:
        """The rows that are better beyond noise."""
        return [row for row in self.rows if row["verdict"] == "better"]

    @property
    def differences(self) -> list[dict[str, Any]]:
        """What is not the same in the runs, and may be behind any change."""
        return [
            {"run": found["new"]["name"], **difference}
            for found in self._document["comparisons"]
            for difference in found["differences"]
        ]

    def to_text(
        self, *, width: int | None = None, color: bool = False, everything: bool = False
    ) -> str:
        """Return it for a terminal; with ``everything``, rows that stayed the same too."""
        return self._core.text(width or shutil.get_terminal_size().columns, color, everything)

    def to_markdown(self, *, everything: bool = False) -> str:
        """Return it as Markdown; with ``everything``, rows that stayed the same too."""
        return self._core.markdown(everything)

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return self._core.to_json()

    def _repr_html_(self) -> str:
        return self._core.html()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict}>"


class Scaling:
    """Several runs by size, as :func:`scaling` makes it."""

    def __init__(self, core: _core.Scaling) -> None:
        self._core = core

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._core.to_json())
        return document

    @property
    def verdict(self) -> str:
        """What to know first, in one sentence."""
        return str(self._document["verdict"])

    @property
    def points(self) -> list[dict[str, Any]]:
        """Cores, throughput, speed-up and efficiency of each run, the smallest first."""
        return list(self._document["points"])

    @property
    def serial_fraction(self) -> float | None:
        """Share of the work that more cores do not speed up; ``None`` if it cannot be fitted."""
        fraction: float | None = self._document["serial_fraction"]
        return fraction

    @property
    def serial_fraction_error(self) -> float | None:
        """Standard error of the serial fraction."""
        error: float | None = self._document["serial_fraction_error"]
        return error

    @property
    def stoppers(self) -> list[dict[str, Any]] | None:
        """Rows of the ledger that grew from the smallest run to the largest.

        ``None`` where the ledger of either is missing.
        """
        stoppers: list[dict[str, Any]] | None = self._document["stoppers"]
        return stoppers

    def to_text(self, *, width: int | None = None, color: bool = False) -> str:
        """Return it for a terminal."""
        return self._core.text(width or shutil.get_terminal_size().columns, color)

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        return self._core.markdown()

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return self._core.to_json()

    def _repr_html_(self) -> str:
        return self._core.html()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Scaling: {self.verdict}>"


def compare(base: Source, *new: Source, seed: int = 0) -> Comparison:
    """Compare runs with a base, metric by metric and part by part.

    Each may be a directory, a loaded measurement or a collector whose run has ended. The same
    ``seed`` gives the same result.
    """
    if not new:
        raise ValueError("name at least one run to compare: compare(base, new)")
    first, *others = _measurements(base, *new)
    return Comparison(_core.compare(first, others, seed))


def scaling(*measurements: Source) -> Scaling:
    """Put runs of different sizes in a row: throughput, efficiency, and what stops it."""
    return Scaling(_core.scaling(_measurements(*measurements)))


def _measurements(*sources: Source) -> list[_core.Measurement]:
    found = [_measurement(source) for source in sources]
    ids = [measurement.id for measurement in found]
    for measurement in found:
        if ids.count(measurement.id) > 1:
            raise ValueError(f"the run {measurement.name!r} is given twice; name each run once")
    return [measurement._core for measurement in found]


def _measurement(source: Source) -> Measurement:
    if isinstance(source, Measurement):
        return source
    if isinstance(source, str | os.PathLike):
        return load_measurement(source)
    measurement = getattr(source, "measurement", None)
    if not isinstance(measurement, Measurement):
        raise TypeError(
            f"{type(source).__name__} is not a run: give a directory, a measurement or a collector"
        )
    return measurement
