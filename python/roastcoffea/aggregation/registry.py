"""Metrics that users derive from the ones in the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from roastcoffea import _core

Derivation = Callable[[Mapping[str, Any]], Any]
_F = TypeVar("_F", bound=Derivation)

_derivations: dict[str, Derivation] = {}


def register_metric(name: str, *, replace: bool = False) -> Callable[[_F], _F]:
    """Add a derived metric to every measurement made from now on.

    The function gets the metrics (aliases work) and returns the value. One that
    fails, for instance because a metric it needs is missing, gives ``None`` and
    a note.

    >>> @register_metric("events_per_worker")
    ... def events_per_worker(metrics):
    ...     return metrics["total_events"] / metrics["avg_workers"]
    """
    if not isinstance(name, str) or not name:
        raise TypeError("a metric's name is a string that is not empty")
    if _core.canonical_key(name) is not None:
        raise ValueError(f"{name!r} is a metric of roastcoffea's own: choose another name")
    if name in _derivations and not replace:
        raise ValueError(
            f"a metric {name!r} is registered already: pass replace=True to replace it"
        )

    def register(function: _F) -> _F:
        if not callable(function):
            raise TypeError(f"a derived metric is a function of the metrics, not {function!r}")
        _derivations[name] = function
        return function

    return register


def unregister_metric(name: str) -> None:
    """Take a derived metric away again."""
    if name not in _derivations:
        raise KeyError(f"no derived metric {name!r}")
    del _derivations[name]


def derive(metrics: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Compute the derived metrics; the second value says which ones failed."""
    values: dict[str, Any] = {}
    notes = []
    for name, function in _derivations.items():
        try:
            values[name] = function(metrics)
        except Exception as error:  # noqa: BLE001
            values[name] = None
            notes.append(
                f"The derived metric {name} could not be computed: {type(error).__name__}: {error}."
            )
    return values, notes
