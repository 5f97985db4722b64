"""What the scheduler asks of its workers.

Shipped by value like :mod:`.remote`: a worker need not have roastcoffea to
report its last seconds, or to say that it does not have it.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any


def roastcoffea_probe() -> None:
    """Raise if chunks cannot be recorded on this worker; get ready for it if they can."""
    from roastcoffea import recording  # noqa: F401
    from roastcoffea.backends import remote_work  # noqa: F401


def roastcoffea_pause() -> None:
    """Stand in for the worker's regular heartbeat while ours is under way."""


async def roastcoffea_report(wait_secs: float, dask_worker: Any = None) -> None:
    """Send this worker's measurements to the scheduler now; raise if that failed.

    A heartbeat takes the measurements away when it begins and delivers them
    when it ends. One that is already under way must therefore end first, and
    no other may begin while ours runs: the worker would close itself. Whoever
    asked waits for ``wait_secs``, and so does this.
    """
    regular = dask_worker.periodic_callbacks["heartbeat"]
    deadline = time.monotonic() + wait_secs
    while getattr(regular.callback, "__name__", "") == "roastcoffea_pause":
        if time.monotonic() > deadline:
            raise TimeoutError("another report of this worker does not end")
        await asyncio.sleep(0.005)
    heartbeat = regular.callback
    regular.callback = roastcoffea_pause
    try:
        while under_way := _heartbeats_under_way(dask_worker, regular):
            done, _ = await asyncio.wait(under_way, timeout=max(0.0, deadline - time.monotonic()))
            if not done:
                raise TimeoutError(
                    f"the worker's regular heartbeat did not end within {wait_secs:.1f} s"
                )
        before = dask_worker.scheduler_delay
        await dask_worker.heartbeat()
        # Worker.heartbeat logs a lost connection and returns; only a reply from
        # the scheduler puts a new number here.
        if dask_worker.scheduler_delay is before:
            raise ConnectionError("the scheduler did not answer the heartbeat")
    finally:
        regular.callback = heartbeat


def _heartbeats_under_way(worker: Any, regular: Any) -> list[asyncio.Task[Any]]:
    # The next one is armed when the last one has ended. Looking through all tasks
    # is for the rest: with many workers in one process it would take long.
    next_is_due_at = getattr(getattr(regular, "_timeout", None), "when", None)
    if next_is_due_at is not None and next_is_due_at() > asyncio.get_running_loop().time():
        return []
    code = type(worker).heartbeat.__code__
    found = []
    for task in asyncio.all_tasks():
        coroutine: Any = task.get_coro()
        while coroutine is not None:
            frame = getattr(coroutine, "cr_frame", None)
            if frame is not None and frame.f_code is code and frame.f_locals.get("self") is worker:
                found.append(task)
                break
            coroutine = getattr(coroutine, "cr_await", None)
    return found
