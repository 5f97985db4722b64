"""Which backends exist, and which one fits a target.

The two built-in ones, ``"dask"`` and ``"local"``, are imported when they are
made. A registered backend is asked before the built-in ones whether a target
is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from roastcoffea.backends.base import AbstractMetricsBackend

BackendFactory = Callable[[Any], AbstractMetricsBackend]
Predicate = Callable[[Any], bool]


@dataclass(frozen=True)
class _Entry:
    """How to make a backend, and how to recognise what it can watch."""

    factory: BackendFactory
    accepts: Predicate | None


def _has_base(target: object, name: str, package: str) -> bool:
    # By name, so that recognising a target never imports the library it is from.
    return any(
        base.__name__ == name and base.__module__.split(".")[0] == package
        for base in type(target).__mro__
    )


def _executor_of(target: Any) -> Any:
    return target.executor if _has_base(target, "Runner", "coffea") else target


def _is_dask(target: Any) -> bool:
    executor = _executor_of(target)
    return _has_base(executor, "Client", "distributed") or _has_base(
        executor, "DaskExecutor", "coffea"
    )


def _is_local(target: Any) -> bool:
    return _has_base(_executor_of(target), "ExecutorBase", "coffea")


def _make_dask(target: Any) -> AbstractMetricsBackend:
    from roastcoffea.backends.dask import DaskMetricsBackend

    executor = _executor_of(target)
    if _has_base(executor, "DaskExecutor", "coffea"):
        if executor.client is None:
            raise ValueError(
                "this DaskExecutor has no client yet, so there is no cluster to watch: "
                "create it with DaskExecutor(client=client)"
            )
        executor = executor.client
    return DaskMetricsBackend(executor)


def _make_local(target: Any) -> AbstractMetricsBackend:
    from roastcoffea.backends.local import LocalMetricsBackend

    return LocalMetricsBackend(target)


_BUILT_IN = {
    "dask": _Entry(_make_dask, _is_dask),
    "local": _Entry(_make_local, _is_local),
}
_registered: dict[str, _Entry] = {}


def register_backend(
    name: str,
    factory: BackendFactory,
    *,
    accepts: Predicate | None = None,
    replace: bool = False,
) -> None:
    """Make a backend known under ``name``.

    ``factory(target)`` builds it. With ``accepts``, it is also chosen by
    itself for each target that ``accepts(target)`` says yes to, before the
    built-in backends are considered; without, only when asked for by name.
    A name that is taken is refused unless ``replace`` is true.
    """
    if not name:
        raise ValueError("a backend needs a name that is not empty")
    if not callable(factory):
        raise TypeError(
            f"the factory of backend {name!r} must be callable with the target "
            f"(the backend class itself will do), not {factory!r}"
        )
    if not replace and name in backend_names():
        raise ValueError(
            f"a backend named {name!r} exists already: choose another name, "
            "or pass replace=True to take its place"
        )
    # Taken out first so that a replacement is asked as the newest of all.
    _registered.pop(name, None)
    _registered[name] = _Entry(factory, accepts)


def backend_names() -> list[str]:
    """List the known backends, sorted."""
    return sorted({*_BUILT_IN, *_registered})


def make_backend(name: str, target: Any) -> AbstractMetricsBackend:
    """Build the backend called ``name`` for ``target``."""
    entry = _registered.get(name) or _BUILT_IN.get(name)
    if entry is None:
        raise ValueError(
            f"unknown backend {name!r}: known are {', '.join(backend_names())}; "
            "add your own with "
            "roastcoffea.backends.register_backend(name, factory)"
        )
    return entry.factory(target)


def choose_backend(target: Any) -> str:
    """Name the backend that can watch ``target``: the newest registered first."""
    candidates = [*reversed(_registered.items()), *_BUILT_IN.items()]
    for name, entry in candidates:
        if entry.accepts is not None and entry.accepts(target):
            return name
    raise TypeError(
        f"no backend can watch a {type(target).__name__}: pass a distributed.Client, "
        "a coffea executor or a coffea Runner, or name one of the backends "
        f"({', '.join(backend_names())}) with backend=..."
    )
