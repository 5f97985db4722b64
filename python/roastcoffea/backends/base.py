"""What every backend offers to the collector.

A backend knows one way of running work (Dask, a local executor, a batch
system) and watches it: workers over time, and where the seconds of a span
went. Everything else in the package speaks to this interface only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any


class AbstractMetricsBackend(ABC):
    """Interface between the collector and whatever runs the work.

    A subclass may take anything in its ``__init__`` and need not call this
    class's: there is no state here.
    """

    #: What is missing from the measurement and why, in plain sentences for the user.
    notes: Sequence[str] = ()

    @abstractmethod
    def start_tracking(self, interval: float) -> None:
        """Begin to sample the workers every ``interval`` seconds."""

    @abstractmethod
    def stop_tracking(self) -> Mapping[str, Any]:
        """End sampling and return what was seen since :meth:`start_tracking`."""

    @abstractmethod
    def create_span(self, name: str) -> Any:
        """Return a context manager that marks the work submitted inside it.

        ``None`` if this backend cannot mark work.
        """

    @abstractmethod
    def get_span_metrics(self, span_info: Any) -> dict[Any, float]:
        """Return where the seconds and bytes of a span went, by activity.

        ``span_info`` is what :meth:`create_span` returned. The result is empty
        if nothing is known about it.
        """

    @abstractmethod
    def supports_fine_metrics(self) -> bool:
        """Tell whether :meth:`get_span_metrics` can return anything."""
