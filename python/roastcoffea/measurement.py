"""A finished measurement, whether it was just made or loaded from disk."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, TextIO

from roastcoffea import _core
from roastcoffea.metrics import Metrics
from roastcoffea.tracking import TrackingData

_PARTS = ("metrics", "tracking_data", "span_metrics", "chunk_metrics", "coffea_report")


def core_metrics(
    core: _core.Measurement,
    values: Mapping[str, Any],
    *,
    raw: Mapping[str, Callable[[], Any]] | None = None,
) -> Metrics:
    """Return a measurement's metrics; those too long to be kept are computed when looked up."""
    late = [key for key in core.deferred_metrics() if values.get(key) is None]
    return Metrics(
        {key: value for key, value in values.items() if key not in late},
        raw={**(raw or {}), **{key: cache(partial(core.file_metric, key)) for key in late}},
    )


class Measurement:
    """What is known of one run.

    ``metrics, start, end = measurement`` unpacks it as the original tool's
    loader did (times in seconds), and ``measurement["metrics"]`` works too.
    """

    def __init__(self, core: _core.Measurement) -> None:
        self._core = core
        self._header = core.header()

    @property
    def id(self) -> str:
        """Unique for every run."""
        return str(self._header["id"])

    @property
    def name(self) -> str:
        """What the user calls it."""
        return str(self._header["name"])

    @property
    def started(self) -> datetime:
        """When the run began (UTC)."""
        started: datetime = self._header["started"]
        return started

    @property
    def ended(self) -> datetime:
        """When the run ended (UTC)."""
        ended: datetime = self._header["ended"]
        return ended

    @property
    def wall_time(self) -> float:
        """Seconds from beginning to end."""
        return float(self._header["wall_secs"])

    @property
    def backend(self) -> str:
        """The backend that watched the run."""
        return str(self._header["backend"])

    @property
    def error(self) -> str | None:
        """``Class: message`` of the exception that ended the run, if one did."""
        error: str | None = self._header["error"]
        return error

    @property
    def notes(self) -> list[str]:
        """Plain sentences on what is missing or limited, and why."""
        return list(self._header["notes"])

    @property
    def provenance(self) -> dict[str, Any]:
        """Versions, host and the like."""
        return dict(self._header["provenance"] or {})

    @property
    def coffea_report(self) -> dict[str, Any] | None:
        """coffea's own report."""
        report: dict[str, Any] | None = self._header["report"]
        return report

    @property
    def custom_metrics(self) -> dict[str, Any] | None:
        """The user's metrics per dataset, as given with the report."""
        custom: dict[str, Any] | None = self._header["custom_metrics"]
        return custom

    @property
    def span_metrics(self) -> dict[tuple[Any, ...], float] | None:
        """Activity seconds, bytes and counts by Dask span key."""
        spans: dict[tuple[Any, ...], float] | None = self._header["spans"]
        return spans

    @property
    def span_completeness(self) -> float | None:
        """Fraction of the workers whose activity is complete in ``span_metrics``."""
        completeness: float | None = self._header["span_completeness"]
        return completeness

    @cached_property
    def metrics(self) -> Metrics:
        """The metrics, as they were when the measurement was made."""
        return core_metrics(
            self._core,
            self._header["metrics"] or {},
            raw={
                "tracking_data": lambda: self.tracking_data,
                "raw_chunk_metrics": lambda: self.chunk_metrics,
                "raw_span_metrics": lambda: self.span_metrics,
            },
        )

    @cached_property
    def tracking_data(self) -> TrackingData | None:
        """Workers over time; ``None`` if they were not tracked."""
        samples = self._core.tracking()
        extra = self._header["tracking_extra"]
        if samples is None and not extra:
            return None
        return TrackingData(samples=samples, extra=extra)

    @cached_property
    def chunk_metrics(self) -> list[dict[str, Any]]:
        """One dict per chunk."""
        return self._core.chunk_rows()

    @property
    def tables(self) -> list[str]:
        """Names of the tables that were recorded."""
        return self._core.table_names()

    def table(self, name: str) -> _core.ArrowTable:
        """Return a table for ``pyarrow.table``, ``polars.DataFrame`` or pandas."""
        return self._core.table(name)

    def save(
        self,
        output_dir: str | os.PathLike[str],
        measurement_name: str | None = None,
        *,
        overwrite: bool = False,
    ) -> Path:
        """Save to ``output_dir/measurement_name`` and return that path."""
        name = self.name if measurement_name is None else measurement_name
        return Path(self._core.save(output_dir, name, overwrite=overwrite))

    def report(
        self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False
    ) -> Path:
        """Write everything as one HTML page and return its path.

        The page needs no network and no other file. Without ``path`` it is
        named after the measurement and written to the current directory. What
        is there already is kept unless ``overwrite`` is true.
        """
        return Path(self._core.write_report(path, overwrite=overwrite))

    def summary(self, *, width: int | None = None, color: bool = False) -> str:
        """Return the summary as text."""
        return self._core.summary_text(width or shutil.get_terminal_size().columns, color)

    def print_summary(self, file: TextIO | None = None) -> None:
        """Print the summary, in colour on a terminal unless ``NO_COLOR`` is set."""
        out = sys.stdout if file is None else file
        color = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        print(self.summary(color=color), file=out)

    def _repr_html_(self) -> str:
        return self._core.summary_html()

    def __iter__(self) -> Iterator[Any]:
        start, end = self._core.start_end or (
            self._header["started_epoch_secs"],
            self._header["started_epoch_secs"] + self.wall_time,
        )
        return iter((self.metrics, start, end))

    def __getitem__(self, part: str) -> Any:
        if part not in _PARTS:
            raise KeyError(f"{part!r}; a measurement has {', '.join(_PARTS)}")
        return getattr(self, part)

    def __repr__(self) -> str:
        return (
            f"<Measurement {self.name!r}: {self.wall_time:.1f} s from "
            f"{self.started:%Y-%m-%d %H:%M:%S} UTC, backend {self.backend}>"
        )
