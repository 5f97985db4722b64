"""Which chunk it is, and where it runs."""

from __future__ import annotations

import os
import socket
import sys
import uuid
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from roastcoffea.warn import warn_once


def identity_of_item(item: Any) -> dict[str, Any]:
    """Identify a chunk from coffea's work item."""
    raw = getattr(item, "fileuuid", None)
    return {
        "dataset": _text(getattr(item, "dataset", None)),
        "file": _text(getattr(item, "filename", None)),
        "uuid": uuid_text(raw) if isinstance(raw, bytes) and len(raw) == 16 else None,
        "tree": _text(getattr(item, "treename", None)),
        "entry_start": _whole(getattr(item, "entrystart", None)),
        "entry_stop": _whole(getattr(item, "entrystop", None)),
    }


def identity_of_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Identify a chunk from the metadata of its events."""
    return {
        "dataset": _text(metadata.get("dataset")),
        "file": _text(metadata.get("filename")),
        "uuid": _text(metadata.get("fileuuid") or None),
        "tree": _text(metadata.get("treename")),
        "entry_start": _whole(metadata.get("entrystart")),
        "entry_stop": _whole(metadata.get("entrystop")),
    }


def metadata_of(events: Any) -> Mapping[str, Any]:
    """Return the metadata of events; nothing, with a warning, if they have none."""
    metadata = getattr(events, "metadata", None)
    if isinstance(metadata, Mapping):
        return metadata
    warn_once("these events have no metadata, so their dataset and file are missing")
    return {}


def where() -> dict[str, Any]:
    """Say where this chunk runs: worker, host and, on Dask, the task's key."""
    worker: str = f"pid {os.getpid()}"
    task_key: str | None = None
    distributed = sys.modules.get("distributed.worker")
    if distributed is not None:
        try:
            worker = distributed.get_worker().address
            task_key = str(distributed.thread_state.key)
        except (ValueError, AttributeError):
            # Dask is loaded, but this is not one of its workers.
            task_key = None
    return {"worker": worker, "host": _host(), "task_key": task_key}


@lru_cache(maxsize=1_000)
def uuid_text(raw: bytes) -> str:
    """Write a UUID as uproot does, which takes a while."""
    return str(uuid.UUID(bytes=raw))


@lru_cache(maxsize=1)
def _host() -> str:
    return socket.gethostname()


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _whole(value: Any) -> int | None:
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError):
        return None
