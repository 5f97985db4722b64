"""Watching executors that run on this machine: in this process or in a pool."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Mapping
from typing import Any

from roastcoffea import _core
from roastcoffea.attach import executors_of, runs_here
from roastcoffea.backends.base import AbstractMetricsBackend
from roastcoffea.tracking import TrackingData


class LocalMetricsBackend(AbstractMetricsBackend):
    """Samples this machine's processes that run chunks.

    For an executor that runs chunks in this process (``IterativeExecutor``, or
    ``FuturesExecutor`` with a thread pool) that is this process, for a process
    pool its child processes.
    """

    def __init__(self, target: Any) -> None:
        self._executor = executors_of(target)[0]
        self._sampler: _core.ProcessSampler | None = None
        self.notes: list[str] = []

    def start_tracking(self, interval: float) -> None:
        """Start to sample every ``interval`` seconds."""
        if self._sampler is not None:
            raise RuntimeError("tracking is running already: call stop_tracking first")
        if not runs_here(self._executor):
            self.notes.append(
                f"Workers of a {type(self._executor).__name__} cannot be followed from here, "
                "so there are no worker metrics."
            )
            return
        try:
            self._sampler = _core.ProcessSampler(
                interval,
                threads=_threads(self._executor),
                # A pool that coffea is yet to start has no process yet.
                new_only=isinstance(getattr(self._executor, "pool", None), type),
            )
        except RuntimeError as error:
            self.notes.append(f"Workers could not be followed: {error}.")

    def stop_tracking(self) -> Mapping[str, Any]:
        """Stop and return what was seen."""
        sampler, self._sampler = self._sampler, None
        if sampler is None:
            return {}
        ticks, workers, missed = sampler.stop()
        if missed:
            self.notes.append(f"{missed} samples of the local processes could not be taken.")
        return TrackingData(ticks=ticks, workers=workers)

    def create_span(self, name: str) -> None:
        """Return ``None``: spans are Dask's."""

    def get_span_metrics(self, span_info: Any) -> dict[tuple[Any, ...], float]:  # noqa: ARG002
        """Return nothing: spans are Dask's."""
        return {}

    def supports_fine_metrics(self) -> bool:
        """Return ``False``: fine metrics come from Dask."""
        return False


def _threads(executor: Any) -> int | None:
    """Threads of this process that run chunks; ``None`` if child processes do."""
    pool = getattr(executor, "pool", None)
    if pool is None:
        return 1
    threads = concurrent.futures.ThreadPoolExecutor
    if isinstance(pool, threads):
        return int(getattr(pool, "_max_workers", executor.workers))
    if isinstance(pool, type) and issubclass(pool, threads):
        return int(executor.workers)
    return None
