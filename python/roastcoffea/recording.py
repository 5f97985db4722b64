"""Recording chunks on a worker: coffea's own work function, watched from inside.

coffea opens the file, builds the events and calls the processor in one function
of its own. That function is given a stand-in for the processor, through which
the moment ``process()`` begins and ends is seen, and a buffer cache function
that coffea calls right after opening the file. Only objects made for this one
chunk are touched; no class is changed. Anything that goes wrong in here costs
columns, never the user's chunk.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from roastcoffea import _core, columns
from roastcoffea.attach import MARK
from roastcoffea.carriers import Carrier, make_carrier
from roastcoffea.current_chunk import current_chunk_on
from roastcoffea.identity import identity_of_item, identity_of_metadata, metadata_of, where
from roastcoffea.warn import warn_once


class RecordedWork:
    """coffea's work function with every call recorded; for processes of this machine."""

    def __init__(self, work: Callable[..., Any], place: Any, *, packs: bool) -> None:
        self._work = work
        self._place = place
        self._packs = packs

    def __call__(self, item: Any) -> Any:
        """Run one attempt at one chunk."""
        return record_attempt(self._work, item, "spool", self._place, packs=self._packs)


def record_attempt(
    work: Callable[..., Any], item: Any, kind: str, place: Any, *, packs: bool
) -> Any:
    """Run one attempt at one chunk and send its row away, whatever becomes of it.

    ``packs`` says that the output is pickled right after, in the same thread.
    """
    try:
        carrier = make_carrier(kind, place)
        attempt = _Attempt(work, item)
    except Exception as error:  # noqa: BLE001
        warn_once(f"chunks cannot be recorded here: {error!r}")
        return work(item)
    try:
        result = attempt.run()
    except BaseException as error:
        _send(attempt.finish(error=error), carrier, task_ends_well=False)
        raise
    log = attempt.finish(result=result)
    if packs and type(result) is dict and log is not None and attempt.ended is not None:
        result[MARK] = _Mark(log, carrier, attempt.nonce, attempt.ended)
    else:
        _send(log, carrier, task_ends_well=True)
    return result


def _send(log: _core.ChunkLog | None, carrier: Carrier, *, task_ends_well: bool) -> None:
    if log is None:
        return
    try:
        carrier.send(log.to_bytes(), task_ends_well=task_ends_well)
    except Exception as failure:  # noqa: BLE001
        warn_once(f"the row of a chunk was lost: {failure!r}")


class _Attempt:
    """One attempt at one chunk through coffea's work function."""

    def __init__(self, work: Callable[..., Any], item: Any) -> None:
        self._work = work
        self._item = item
        chunk = item[0] if isinstance(item, tuple) else item
        self._recorder = _core.ChunkRecorder(**identity_of_item(chunk), **where())
        self.nonce = self._recorder.nonce
        self.ended: tuple[int, int] | None = None
        self._columns: columns.Watch | None = None
        self._called = False

    def run(self) -> Any:
        try:
            work, item = self._watched()
        except Exception as error:  # noqa: BLE001
            warn_once(f"this coffea builds chunks in a way not known here: {error!r}")
            work, item = self._work, self._item
        self._recorder.start_phase("open")
        return work(item)

    def _watched(self) -> tuple[Callable[..., Any], Any]:
        """Return the work function and its item with our stand-ins in place."""
        work, item = self._work, self._item
        if not isinstance(work, partial):
            raise TypeError(f"unexpected work function {work!r}")
        keywords = dict(work.keywords)
        if isinstance(item, tuple):
            chunk, packed = item
            item = (chunk, self._stand_in(packed))
        else:
            keywords["processor_instance"] = self._stand_in(keywords["processor_instance"])
        cache_function = keywords.get("cache_function")
        if cache_function is not None:
            keywords["cache_function"] = partial(self._file_is_open, cache_function)
        return partial(work.func, *work.args, **keywords), item

    def _stand_in(self, packed: Any) -> _Processor:
        processor = packed
        if isinstance(packed, bytes):
            import cloudpickle
            import lz4.frame

            processor = cloudpickle.loads(lz4.frame.decompress(packed))
        return _Processor(processor, self._process)

    def _file_is_open(self, cache_function: Callable[[], Any]) -> Any:
        """Called by coffea between opening the file and building the events."""
        cache = cache_function()
        self._recorder.start_phase("events")
        columns.time_tree(sys._getframe(1).f_locals.get("file"), self._recorder)
        return cache

    def _process(self, call: Callable[[Any], Any], processor: Any, events: Any) -> Any:
        self._called = True
        recorder = self._recorder
        self._columns = columns.watch(events, recorder)
        with current_chunk_on(processor):
            recorder.start_phase("process")
            try:
                return call(events)
            finally:
                recorder.start_phase("serialize")
                self.ended = (time.perf_counter_ns(), time.thread_time_ns())

    def finish(
        self, *, result: Any = None, error: BaseException | None = None
    ) -> _core.ChunkLog | None:
        try:
            replayed = error is None and not self._called and isinstance(result, dict)
            if replayed:
                _describe_replay(self._recorder, result)
            read = self._columns.close() if self._columns is not None else {}
            return self._recorder.finish(
                error=None if error is None else error_class(error), replayed=replayed, **read
            )
        except Exception as failure:  # noqa: BLE001
            warn_once(f"the row of a chunk was lost: {failure!r}")
            return None


class _Processor:
    """Stands in for a processor; calls ``around`` where coffea calls ``process``."""

    __slots__ = ("_roast_around", "_roast_processor")

    def __init__(self, processor: Any, around: Callable[..., Any]) -> None:
        self._roast_processor = processor
        self._roast_around = around

    # coffea, and checkpointers, ask what kind of processor it is.
    __class__ = property(lambda self: type(self._roast_processor))

    def process(self, events: Any) -> Any:
        processor = self._roast_processor
        return self._roast_around(processor.process, processor, events)

    def __call__(self, events: Any) -> Any:
        processor = self._roast_processor
        return self._roast_around(processor, processor, events)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._roast_processor, name)

    def __reduce__(self) -> Any:
        return _itself, (self._roast_processor,)


def _itself(processor: Any) -> Any:
    return processor


class _Mark:
    """Sends a row when the output beside it has been packed, and turns into 0 on the way."""

    def __init__(
        self, log: _core.ChunkLog, carrier: Carrier, nonce: bytes, ended: tuple[int, int]
    ) -> None:
        self._log: _core.ChunkLog | None = log
        self._carrier = carrier
        self._nonce = nonce
        self._ended = ended
        self._thread = threading.get_ident()

    def __reduce__(self) -> Any:
        log, self._log = self._log, None
        # Pickled elsewhere and later, it was not packed here.
        if log is not None and self._thread == threading.get_ident():
            wall_ns, cpu_ns = self._ended
            took_ns = time.perf_counter_ns() - wall_ns, time.thread_time_ns() - cpu_ns
            try:
                log.set_serialize(self._nonce, *took_ns)
            except Exception as error:  # noqa: BLE001
                warn_once(f"how long an output took to pack was lost: {error!r}")
        _send(log, self._carrier, task_ends_well=True)
        return int, ()

    def send_unpacked(self) -> None:
        """Send the row of an output that is used without having been packed."""
        log, self._log = self._log, None
        _send(log, self._carrier, task_ends_well=False)

    def __add__(self, other: Any) -> int:
        self.send_unpacked()
        if isinstance(other, _Mark):
            other.send_unpacked()
        return 0

    __radd__ = __iadd__ = __add__

    def __deepcopy__(self, memo: Any) -> int:
        self.send_unpacked()
        return 0


def record_process(
    process: Callable[[], Any], processor: Any, events: Any
) -> tuple[Any, _core.ChunkLog | None]:
    """Record a decorated ``process()`` that nobody else is recording."""
    try:
        recorder = _core.ChunkRecorder(**identity_of_metadata(metadata_of(events)), **where())
        watch = columns.watch(events, recorder)
    except Exception as error:  # noqa: BLE001
        warn_once(f"chunks cannot be recorded here: {error!r}")
        return process(), None
    error_name: str | None = None
    try:
        with current_chunk_on(processor):
            recorder.start_phase("process")
            output = process()
    except BaseException as error:
        error_name = error_class(error)
        raise
    finally:
        log = recorder.finish(error=error_name, **watch.close())
    return output, log


def error_class(error: BaseException) -> str:
    """Name the error itself rather than the plain one that coffea wraps around it."""
    cause = error
    while type(cause) is Exception and cause.__cause__ is not None:
        cause = cause.__cause__
    return type(cause).__name__


def _describe_replay(recorder: _core.ChunkRecorder, result: dict[str, Any]) -> None:
    """Note what a checkpointed result contributes to coffea's report."""
    metrics = result.get("metrics")
    if not isinstance(metrics, dict):
        return
    if isinstance(metrics.get("entries"), int):
        recorder.set_num_events(metrics["entries"])
    known = ("bytesread", "entries", "processtime")
    recorder.set_extra("replayed_report", {key: metrics[key] for key in known if key in metrics})
