"""Chunk rows as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roastcoffea.visualization.plots.canvas import Floats
from roastcoffea.visualization.plots.inputs import ChunkSource, chunk_table_of

#: Further datasets share one colour.
MAX_DATASETS = 6


@dataclass(frozen=True)
class Chunks:
    """The chunks that succeeded and count: no failed, replayed or repeated attempts."""

    dataset: npt.NDArray[np.str_]
    num_events: Floats
    #: Wall time of ``process()``.
    duration_secs: Floats
    start: Floats
    stop: Floats
    bytes_read: Floats
    num_branches: Floats

    @classmethod
    def of(cls, data: ChunkSource) -> Chunks | None:
        """Return the chunks in what a user handed over; ``None`` if there are none."""
        table = chunk_table_of(data)
        if table is None:
            return None
        outcome = table.texts("outcome")
        good = np.array(
            [
                error is None and result in (None, "ok")
                for error, result in zip(table.texts("error"), outcome, strict=True)
            ],
            dtype=bool,
        )
        if not good.any():
            return None
        names = np.array([name or "no dataset" for name in table.texts("dataset")])

        def column(name: str) -> Floats:
            values: Floats = np.frombuffer(table.floats(name))[good]
            return values

        return cls(
            dataset=names[good],
            num_events=column("num_events"),
            duration_secs=column("duration_secs"),
            start=column("start"),
            stop=column("stop"),
            bytes_read=column("bytes_read"),
            num_branches=column("num_branches"),
        )

    def datasets(self) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """Return each dataset and its chunks, the largest first; small ones together if many."""
        names, counts = np.unique(self.dataset, return_counts=True)
        names = names[np.argsort(-counts, kind="stable")]
        if len(names) <= MAX_DATASETS:
            return [(str(name), self.dataset == name) for name in names]
        shown = names[: MAX_DATASETS - 1]
        rest = ~np.isin(self.dataset, shown)
        others = f"{len(names) - len(shown):,} other datasets"
        return [*((str(name), self.dataset == name) for name in shown), (others, rest)]
