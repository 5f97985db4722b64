"""Column reads of one chunk, timed branch by branch.

coffea's virtual arrays look their mapping up when they are read, so stand-ins
set on that one mapping object see every read of the chunk and nothing else.
"""

from __future__ import annotations

from typing import Any

from roastcoffea import _core
from roastcoffea.files import FileFacts
from roastcoffea.warn import warn_once

_EXECUTORS = {"decompression_executor": "decompress", "interpretation_executor": "interpret"}


class Watch:
    """What a chunk had read before ``process()`` began, and the source that counts it."""

    def __init__(self, source: Any, facts: FileFacts | None, recorder: _core.ChunkRecorder) -> None:
        self._source = source
        self._facts = facts
        self._recorder = recorder
        self._setup_bytes = counter(source, "num_requested_bytes")

    def close(self) -> dict[str, Any]:
        """Return what was read for the whole chunk, setup included."""
        if self._facts is not None:
            try:
                self._facts.tell(self._recorder)
            except Exception as error:  # noqa: BLE001
                warn_once(f"the size of a file could not be told: {error!r}")
        return {
            "bytes_read": counter(self._source, "num_requested_bytes"),
            "setup_bytes": self._setup_bytes,
            "requests": counter(self._source, "num_requests"),
        }


def watch(events: Any, recorder: _core.ChunkRecorder) -> Watch:
    """Describe a chunk and time its column reads, as far as these events allow."""
    try:
        recorder.set_num_events(len(events))
    except TypeError:
        warn_once("these events have no length, so their number is missing")
    factory = events_factory(events)
    source = source_of(factory)
    facts = None
    try:
        mapping = factory._mapping
        facts = FileFacts(mapping)
        _stand_in(mapping, recorder, source)
    except Exception as error:  # noqa: BLE001
        warn_once(f"column reads of these events cannot be seen: {error!r}")
    return Watch(source, facts, recorder)


def events_factory(events: Any) -> Any:
    """Return the factory behind coffea's events, if there is one."""
    attrs = getattr(events, "attrs", None)
    return attrs.get("@events_factory") if attrs is not None else None


def source_of(factory: Any) -> Any:
    """Return what counts the bytes read from a factory's file; Parquet has none."""
    file = getattr(factory, "file_handle", None)
    return getattr(getattr(file, "file", file), "source", None)


def _stand_in(mapping: Any, recorder: _core.ChunkRecorder, source: Any) -> None:
    for attribute, kind in _EXECUTORS.items():
        executor = getattr(mapping, attribute, None)
        if executor is not None:
            timed = _core.TimedExecutor(recorder, executor, kind, inline=_is_inline(executor))
            setattr(mapping, attribute, timed)
    preloaded = getattr(mapping, "preloaded_arrays", None)
    names = frozenset(getattr(preloaded, "fields", preloaded) or ())
    mapping.extract_column = _core.ColumnReader(
        recorder, mapping.extract_column, source, preloaded=names
    )
    cache = getattr(mapping, "_buffer_cache", None)
    if cache is not None:
        mapping._buffer_cache = _WatchedCache(cache, recorder)


def _is_inline(executor: Any) -> bool:
    """Tell uproot's executor that runs a task in ``submit``, the one coffea uses by default."""
    kind = type(executor)
    return (kind.__module__, kind.__qualname__) == ("uproot.source.futures", "TrivialExecutor")


class _WatchedCache:
    """Stands in for a buffer cache and counts what it answers."""

    def __init__(self, cache: Any, recorder: _core.ChunkRecorder) -> None:
        self._cache = cache
        self._recorder = recorder

    def __getitem__(self, key: Any) -> Any:
        value = self._cache[key]
        self._recorder.note_cached()
        return value

    def get(self, key: Any, default: Any = None) -> Any:
        value = self._cache.get(key, default)
        if value is not default:
            self._recorder.note_cached()
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        self._cache[key] = value

    def __contains__(self, key: Any) -> bool:
        return key in self._cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)


def time_tree(file: Any, recorder: _core.ChunkRecorder) -> None:
    """Time the parsing of the tree: the first object that is taken out of the file."""
    original = type(file)
    if not (hasattr(original, "iteritems") and hasattr(original, "__getitem__")):
        return  # a Parquet file has no tree to parse
    try:
        file._roastcoffea_recorder = recorder
        file.__class__ = _timing_classes.get(original) or _timing_class(original)
    except (AttributeError, TypeError) as error:
        warn_once(f"the parsing of trees cannot be timed: {error!r}")


_timing_classes: dict[type, type] = {}


def _timing_class(original: type) -> type:
    """Make a class of files whose first object is timed, after which they are as they were."""

    def get(self: Any, where: Any) -> Any:
        recorder = self.__dict__.pop("_roastcoffea_recorder")
        self.__class__ = original
        recorder.start_phase("tree")
        try:
            return self[where]
        finally:
            recorder.start_phase("events")

    members = {"__getitem__": get, "__module__": original.__module__}
    made = _timing_classes[original] = type(original.__name__, (original,), members)
    return made


def counter(source: Any, name: str) -> int | None:
    """Read one of uproot's counters."""
    value = getattr(source, name, None)
    return value if isinstance(value, int) else None
