"""The metrics dict: every key of the catalog, and every alias of a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from roastcoffea import _core


class Metrics(dict[str, Any]):
    """Metrics by key; a missing metric is ``None``.

    Iterating gives each metric once. Looking up, ``get`` and ``in`` also
    understand a metric's other names (``core_efficiency`` for
    ``cpu_efficiency``). The raw data behind the metrics can be looked up as
    ``tracking_data``, ``raw_chunk_metrics`` and ``raw_span_metrics``, and so can
    ``file_metadata`` and ``file_read_metrics`` of a run with more than 200 files,
    which are computed then.
    """

    def __init__(
        self,
        values: Mapping[str, Any] = {},
        *,
        raw: Mapping[str, Callable[[], Any]] | None = None,
    ) -> None:
        super().__init__(values)
        self._raw = dict(raw or {})

    def __missing__(self, key: str) -> Any:
        canonical = _core.canonical_key(key)
        if canonical is not None and dict.__contains__(self, canonical):
            return dict.__getitem__(self, canonical)
        if key in self._raw:
            return self._raw[key]()
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        if dict.__contains__(self, key):
            return True
        if not isinstance(key, str):
            return False
        canonical = _core.canonical_key(key)
        return (canonical is not None and dict.__contains__(self, canonical)) or key in self._raw

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value under a key or alias, or ``default``."""
        return self[key] if key in self else default  # noqa: SIM401

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return Metrics, (dict(self),)
