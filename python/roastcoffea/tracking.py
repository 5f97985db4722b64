"""Workers over time, as users read them.

The samples stay in columns in Rust; a series becomes Python objects when it is
asked for, so a long run on many workers costs nothing until someone looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from roastcoffea import _core


class TrackingData(Mapping[str, Any]):
    """Worker samples by series.

    ``data["worker_counts"]`` is ``{time: count}``; the other series are
    ``{worker: [(time, value), ...]}``. Times are aware and in UTC. A series that
    was never sampled is absent.
    """

    def __init__(
        self,
        *,
        ticks: _core.TableBuilder | None = None,
        workers: _core.TableBuilder | None = None,
        tasks: _core.TableBuilder | None = None,
        extra: Mapping[str, Any] | None = None,
        samples: _core.WorkerTracking | None = None,
    ) -> None:
        self.tables = [table for table in (ticks, workers, tasks) if table is not None]
        self.extra = dict(extra or {})
        self._samples = samples or _core.WorkerTracking.of(ticks, workers)
        self._keys: list[str] | None = None
        self._series: dict[str, Any] = {}

    @classmethod
    def from_layout(cls, data: Mapping[str, Any]) -> TrackingData:
        """Take what a custom backend returned, as far as it is in this layout."""
        if isinstance(data, TrackingData):
            return data
        ticks, workers, rest = _core.tracking_tables(dict(data))
        return cls(ticks=ticks, workers=workers, extra=rest)

    @property
    def samples(self) -> _core.WorkerTracking:
        """The samples in columns, for whoever wants arrays."""
        return self._samples

    def __getitem__(self, key: str) -> Any:
        if key in self.extra:
            return self.extra[key]
        if key not in self._series:
            self._series[key] = self._samples.series(key)
        return self._series[key]

    def __iter__(self) -> Iterator[str]:
        if self._keys is None:
            self._keys = [*self._samples.keys(), *self.extra]
        return iter(self._keys)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TrackingData({', '.join(self)})"
