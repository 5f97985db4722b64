"""What chunk rows weigh, and what they add to coffea's own reduction."""

from __future__ import annotations

import math
import multiprocessing
import pickle
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from coffea.processor.executor import _compress, _reduce

from bench.material import recorded_log, recorded_row
from bench.row import Row
from bench.timing import pair
from roastcoffea.decorator import OUTPUT_KEY

MERGED = 2_000
WAYS = 20
CHUNKS = 100_000
BRANCH_COUNTS = (25, 100, 300)


def rows(*, quick: bool) -> Iterator[Row]:
    """Weigh rows against the pickled dicts of the same; time reductions with and without."""
    for branches in BRANCH_COUNTS:
        yield from _weights(branches)
    # The topmost merge is one of thousands, and its rows take long to make.
    yield _reduction(levels=2 if quick else 4, repeats=5)


def _weights(branches: int) -> Iterator[Row]:
    budgets = {25: 150, 100: 150, 300: 150}
    log = recorded_log(MERGED, branches=branches, sections=3)
    as_dicts = len(pickle.dumps(log.rows())) / MERGED
    merged = len(pickle.dumps(log)) / MERGED
    yield Row(
        topic="payload",
        what=f"a chunk of {branches} branches, {MERGED} merged",
        measured=merged,
        unit="B",
        reference="pickled dicts of the same",
        reference_measured=as_dicts,
        ratio=merged / as_dicts,
        budget=budgets[branches] / as_dicts,
        design=f"≤ {budgets[branches]} B",
    )
    row = recorded_row(0, branches=branches, sections=3)
    alone, as_dict = len(pickle.dumps(row)), len(pickle.dumps(row.rows()))
    yield Row(
        topic="payload",
        what=f"a chunk of {branches} branches, alone",
        measured=alone,
        unit="B",
        reference="its pickled dict",
        reference_measured=as_dict,
        ratio=alone / as_dict,
        budget=1.0,
    )


def _reduction(*, levels: int, repeats: int) -> Row:
    """Add up the levels of coffea's tree of 20-way reductions over 10⁵ chunks."""
    reduce = _reduce(1)
    with_rows = without_rows = 0.0
    sizes = [WAYS**level for level in range(levels)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        packed = [
            list(pool.map(_packed, [size] * WAYS, range(0, WAYS * size, size))) for size in sizes
        ]
    for size, monitored in zip(sizes, packed, strict=True):
        merges = math.ceil(CHUNKS / (WAYS * size))
        bare = [_packed(0, 0)] * WAYS
        both = pair(
            lambda items=monitored: reduce(items),  # type: ignore[misc]
            lambda items=bare: reduce(items),  # type: ignore[misc]
            repeats=repeats,
            clock=time.thread_time,
        )
        with_rows += merges * both.measured
        without_rows += merges * both.reference
    return Row(
        topic="payload",
        what=f"20-way reduction of {CHUNKS:,} chunks with @track_metrics",
        measured=with_rows,
        unit="s",
        reference="the same without rows",
        reference_measured=without_rows,
        ratio=with_rows / without_rows,
        budget=2.0,
    )


def _packed(rows: int, first: int) -> bytes:
    """Pack what one task hands on: a few histograms, and the rows so far, if any."""
    random = np.random.default_rng(1)
    output: dict[str, Any] = {
        "histograms": {f"histogram_{index}": random.random((4, 100)) for index in range(20)},
        "cutflow": {"all": 1, "selected": 1},
    }
    if rows > 0:
        output[OUTPUT_KEY] = recorded_log(rows, branches=60, sections=3, first=first)
    packed: bytes = _compress({"out": output, "metrics": {"entries": 1}, "processed": {1}}, 1)
    return packed
