"""Waiting for something to happen, with an end."""

from __future__ import annotations

import time
from collections.abc import Callable

from distributed import Client


def wait_until(condition: Callable[[], bool], *, timeout_secs: float = 60.0) -> None:
    """Wait for a condition, which is asked again and again."""
    deadline = time.monotonic() + timeout_secs
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen in {timeout_secs:.0f} s"
        time.sleep(0.02)


def wait_for_worker_count(client: Client, count: int) -> None:
    """Wait until a cluster has just so many workers.

    `Client.wait_for_workers` exchanges the cluster's own list of workers. Where one of them is
    about to leave, the cluster then fails over a worker that it does not know.
    """
    wait_until(lambda: len(client.nthreads()) == count)
