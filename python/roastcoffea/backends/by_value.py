"""Things of this package that unpickle where roastcoffea is absent."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

from roastcoffea.backends import remote, remote_work, remote_worker

_lock = threading.Lock()


class ByValue:
    """A function of one of the ``remote`` modules, with all it needs."""

    _packed: dict[str, bytes] = {}  # noqa: RUF012

    def __init__(self, function: Callable[..., Any]) -> None:
        if function.__name__ not in self._packed:
            self._packed[function.__name__] = packed_by_value(function)
        self._payload = self._packed[function.__name__]

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        return pickle.loads, (self._payload,)


def packed_by_value(thing: Any) -> bytes:
    """Pickle something with the code of the ``remote`` modules in it."""
    import cloudpickle

    modules = (remote, remote_work, remote_worker)
    # What is registered is so for the whole process.
    with _lock:
        for module in modules:
            cloudpickle.register_pickle_by_value(module)
        try:
            packed: bytes = cloudpickle.dumps(thing)
        finally:
            for module in modules:
                cloudpickle.unregister_pickle_by_value(module)
    return packed


def work_by_value(
    work: Callable[..., Any],
    *,
    name: str | None = None,
    topic: str | None = None,
    packs: bool = False,
) -> Callable[..., Any]:
    """Let a work function be recorded under ``topic``, or go by ``name``, anywhere on a cluster."""
    made = remote_work.Work()
    made.builder = _work_builder()
    made.work, made.topic, made.packs = work, topic, packs
    if name is not None:
        made.__name__ = made.__qualname__ = name
    return cast("Callable[..., Any]", made)


@lru_cache(maxsize=1)
def _work_builder() -> bytes:
    return packed_by_value(_EmptyWork())


class _EmptyWork:
    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return remote_work.roastcoffea_empty_work, ()
