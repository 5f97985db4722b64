"""``@track_metrics``: a processor that records its own chunks.

The rows ride in the processor's output under one key, through coffea's own
reduction, and are taken out again by
:meth:`MetricsCollector.extract_metrics_from_output`. Where the collector was
given the Runner or the executor, it records every chunk by itself; the
decorator then adds no rows of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from types import MethodType
from typing import Any

from roastcoffea import _core, recording
from roastcoffea.current_chunk import current_chunk_on
from roastcoffea.warn import warn_once

#: The key under which rows ride in the output.
OUTPUT_KEY = "__roastcoffea_metrics__"
#: The switch, on the instance or its class; the collector sets and clears it.
SWITCH = "_roastcoffea_collect_metrics"


class track_metrics:  # noqa: N801
    """Decorate ``process()`` to record each chunk.

    >>> class MyProcessor(processor.ProcessorABC):
    ...     @track_metrics
    ...     def process(self, events): ...
    """

    def __init__(self, process: Callable[..., Any]) -> None:
        if not callable(process):
            raise TypeError(
                "@track_metrics decorates a process() method; write it without parentheses"
            )
        functools.update_wrapper(self, process)
        self._process = process

    def __set_name__(self, owner: type, name: str) -> None:
        # Rows reach the collector by themselves; the list is here for code that hands it over.
        if not hasattr(owner, "_chunk_metrics"):
            owner._chunk_metrics = []  # type: ignore[attr-defined]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run ``process()``; record it if it is switched on and nobody else does."""
        if len(args) < 2:
            return self._process(*args, **kwargs)
        processor, events = args[0], args[1]
        if _core.current_chunk() is not None:
            with current_chunk_on(processor):
                return self._process(*args, **kwargs)
        if not getattr(processor, SWITCH, False):
            return self._process(*args, **kwargs)
        output, log = recording.record_process(
            functools.partial(self._process, *args, **kwargs), processor, events
        )
        return _with_rows(output, log)


@contextmanager
def collecting(processor: Any) -> Iterator[None]:
    """Switch a decorated processor on for the time of a run."""
    missing = object()
    before = getattr(processor, "__dict__", {}).get(SWITCH, missing)
    try:
        setattr(processor, SWITCH, True)
    except (AttributeError, TypeError):
        warn_once(f"a {type(processor).__name__} takes no attributes, so it cannot be switched on")
        yield
        return
    try:
        yield
    finally:
        if before is missing:
            delattr(processor, SWITCH)
        else:
            setattr(processor, SWITCH, before)


def _with_rows(output: Any, log: _core.ChunkLog | None) -> Any:
    """Put the rows into a dict-like output; any other output is left as it is."""
    if log is None or not isinstance(output, MutableMapping):
        return output
    try:
        if OUTPUT_KEY in output:
            output[OUTPUT_KEY] = output[OUTPUT_KEY] + log
        else:
            output[OUTPUT_KEY] = log
    except Exception as error:  # noqa: BLE001
        warn_once(f"chunk rows do not fit into this output: {error!r}")
    return output
