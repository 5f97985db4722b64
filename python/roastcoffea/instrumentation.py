"""Sections inside ``process()``: time, memory and bytes of any stretch of code.

Each belongs to the chunk that the calling thread is working on. Outside of a
chunk, or where nobody is measuring, they do nothing.

>>> with track_time(self, "jet_selection"):
...     jets = events.Jet[events.Jet.pt > 30]
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from roastcoffea import _core
from roastcoffea._core import track_time
from roastcoffea.columns import events_factory, source_of

__all__ = [
    "BaseInstrumentationContext",
    "track_bytes",
    "track_memory",
    "track_section",
    "track_time",
]

#: The older name of :func:`track_time`.
track_section = track_time


def track_memory(processor: Any, name: str) -> _core.Section:  # noqa: ARG001
    """Note the process's memory before and after a section of ``process()``."""
    return _core.Section(name, "memory")


def track_bytes(processor: Any, events: Any, name: str) -> _core.Section:  # noqa: ARG001
    """Count the bytes that a section of ``process()`` asks the input file for."""
    return _core.Section(name, "bytes", source_of(events_factory(events)))


class BaseInstrumentationContext:
    """Base of users' own contexts.

    Override ``__enter__`` and ``__exit__`` and call :meth:`record_metric`; the
    value appears in the chunk's ``custom_metrics``.
    """

    def __init__(self, processor: Any = None, name: str = "") -> None:
        self.processor = processor
        self.name = name

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> Any:
        return None

    def record_metric(self, name: str, value: Any) -> None:
        """Put a value into the current chunk's ``custom_metrics``."""
        chunk = _core.current_chunk()
        if chunk is not None:
            chunk.set_custom(str(name), value)
