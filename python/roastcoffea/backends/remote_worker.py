"""What the scheduler asks of its workers.

Shipped by value like :mod:`.remote`: a worker need not have roastcoffea to
report its last seconds, or to say that it does not have it.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

IN_FLIGHT_WAIT_SECS = 2.0


def roastcoffea_probe() -> None:
    """Raise if chunks cannot be recorded on this worker."""
    from roastcoffea import recording  # noqa: F401


def roastcoffea_pause() -> None:
    """Stand in for the worker's regular heartbeat while ours is under way."""


async def roastcoffea_report(dask_worker: Any = None) -> None:
    """Send this worker's measurements to the scheduler now; raise if that failed.

    A heartbeat takes the measurements away when it begins and delivers them
    when it ends. One that is already under way must therefore end first, and
    no other may begin while ours runs: the worker would close itself.
    """
    regular = dask_worker.periodic_callbacks["heartbeat"]
    deadline = time.monotonic() + IN_FLIGHT_WAIT_SECS
    while getattr(regular.callback, "__name__", "") == "roastcoffea_pause":
        if time.monotonic() > deadline:
            raise TimeoutError("another report of this worker does not end")
        await asyncio.sleep(0.005)
    heartbeat = regular.callback
    regular.callback = roastcoffea_pause
    try:
        while _heartbeat_in_flight(dask_worker):
            if time.monotonic() > deadline:
                raise TimeoutError("the worker's regular heartbeat does not end")
            await asyncio.sleep(0.005)
        before = dask_worker.scheduler_delay
        await dask_worker.heartbeat()
        # Worker.heartbeat logs a lost connection and returns; only a reply from
        # the scheduler puts a new number here.
        if dask_worker.scheduler_delay is before:
            raise ConnectionError("the scheduler did not answer the heartbeat")
    finally:
        regular.callback = heartbeat


def _heartbeat_in_flight(worker: Any) -> bool:
    if getattr(worker, "heartbeat_active", False):
        return True
    code = type(worker).heartbeat.__code__
    for task in asyncio.all_tasks():
        coroutine: Any = task.get_coro()
        while coroutine is not None:
            frame = getattr(coroutine, "cr_frame", None)
            if frame is not None and frame.f_code is code and frame.f_locals.get("self") is worker:
                return True
            coroutine = getattr(coroutine, "cr_await", None)
    return False
