"""What the benchmarks work on: a wide ROOT file, and logs of recorded chunks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from roastcoffea._core import ChunkLog, ChunkRecorder, ColumnReader, Section, TableBuilder

WIDE_BRANCHES = 1600
READ_BRANCHES = 60
WORKERS = 200


def wide_root_file(directory: Path, *, event_count: int = 1_000) -> Path:
    """Write a tree of 1600 branches of numbers."""
    import numpy as np
    import uproot

    path = directory / "wide.root"
    random = np.random.default_rng(1)
    values = random.normal(size=event_count).astype(np.float32)
    columns = {f"branch_{index:04d}": values + index for index in range(WIDE_BRANCHES)}
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", dict.fromkeys(columns, values.dtype))
        tree.extend(columns)
    return path


class _Handle:
    """Has a name, as uproot's branches do."""

    def __init__(self, name: str) -> None:
        self.name = name


@cache
def _handles(count: int) -> list[_Handle]:
    return [_Handle(f"Collection_field_{number}") for number in range(count)]


def _extract(handle: Any, start: int, stop: int, allow_missing: object) -> None:
    del handle, start, stop, allow_missing


def recorded_row(index: int, *, branches: int, sections: int, datasets: int = 5) -> ChunkLog:
    """Record one chunk of a realistic identity that reads so many branches."""
    file_number = index // 20
    recorder = ChunkRecorder(
        dataset=f"dataset_{file_number % datasets}",
        file=f"root://eos.example.org//store/mc/nano/{file_number:06d}/events.root",
        uuid=f"{file_number:08x}-1111-11ef-b0b1-0242ac110002",
        tree="Events",
        entry_start=index % 20 * 100_000,
        entry_stop=index % 20 * 100_000 + 100_000,
        worker=f"tcp://10.0.0.{index % WORKERS}:40000",
        host=f"10.0.0.{index % WORKERS}",
        task_key=f"DimuonProcessor-9f8e7d6c5b4a39281706f5e4d3c2b1a0-{index}",
    )
    reader = ColumnReader(recorder, _extract)
    recorder.start_phase("process")
    recorder.set_num_events(100_000)
    for number in range(sections):
        with Section(f"section_{number}"):
            pass
    for handle in _handles(branches):
        reader(handle, 0, 100_000, allow_missing=False)
    recorder.start_phase("serialize")
    return recorder.finish(bytes_read=40_000_000 + index, setup_bytes=500_000, requests=branches)


def recorded_log(rows: int, *, branches: int, sections: int, first: int = 0) -> ChunkLog:
    """Record so many chunks into one log."""
    log = ChunkLog()
    for index in range(first, first + rows):
        log.merge(recorded_row(index, branches=branches, sections=sections))
    return log


def cluster_tables(
    *, started_ns: int, secs: int, workers: int, threads: int = 1, task_starts_ns: Any = None
) -> list[TableBuilder]:
    """Make tables as the scheduler ships them: a sample a second, a heartbeat every two.

    With ``task_starts_ns`` there is one task at each, workers taking turns: a task lasts until the
    next one of its worker.
    """
    import numpy as np

    random = np.random.default_rng(1)
    times = started_ns + np.arange(secs, dtype=np.int64) * 1_000_000_000
    ticks = TableBuilder("ticks")
    ticks.append(
        {
            "time": times.tobytes(),
            **{
                name: np.full(secs, value, dtype=np.float64).tobytes()
                for name, value in (
                    ("worker_count", workers),
                    ("threads_total", workers * threads),
                    ("tasks_waiting", 10),
                    ("tasks_processing", workers * threads),
                    ("tick_secs", 1e-4),
                )
            },
        }
    )
    beats = times[::2]
    rows = len(beats) * workers
    names = [f"tcp://10.0.{index // 250}.{index % 250}:40000" for index in range(workers)]
    codes = np.tile(np.arange(workers, dtype=np.int32), len(beats)).tobytes()
    start = np.repeat(beats, workers)
    samples = TableBuilder("workers")
    samples.append(
        {
            "worker": (codes, names),
            "host": (codes, [name.split(":")[1][2:] for name in names]),
            "time": start.tobytes(),
            "until": (start + 1_000_000_000).tobytes(),
            "last_seen": start.tobytes(),
            **{
                name: (random.integers(1, scale + 1, rows) * 1.0).tobytes()
                if scale > 4
                else np.full(rows, scale, dtype=np.float64).tobytes()
                for name, scale in _WORKER_SCALES.items()
            },
        }
    )
    tables = [ticks, samples]
    if task_starts_ns is not None:
        count = len(task_starts_ns)
        one = np.zeros(count, dtype=np.int32).tobytes()
        ended_ns = int(task_starts_ns[-1]) + 100_000_000
        tasks = TableBuilder("tasks")
        tasks.append(
            {
                "worker": ((np.arange(count, dtype=np.int32) % workers).tobytes(), names),
                "prefix": (one, ["DimuonProcessor"]),
                "action": (one, ["compute"]),
                "outcome": (one, ["memory"]),
                "start": task_starts_ns.tobytes(),
                "stop": np.append(task_starts_ns[workers:], [ended_ns] * workers)[
                    -count:
                ].tobytes(),
                "nbytes": random.integers(1, 10**6, count).astype(np.float64).tobytes(),
            }
        )
        tables.append(tasks)
    return tables


# Largest value of each number a worker's row has; small ones are constant.
_WORKER_SCALES = {
    "samples": 2,
    "threads": 1,
    "processing": 2,
    "stored_bytes": 10**6,
    "occupancy_secs": 100,
    "memory_bytes": 4 * 10**9,
    "memory_limit_bytes": 4,
    "cpu_percent": 100,
    "executing": 1,
    "spilled_bytes": 0,
    "host_net_read_bps": 10**8,
    "host_net_write_bps": 10**7,
    "host_disk_read_bps": 10**8,
    "host_disk_write_bps": 10**7,
    "event_loop_interval_secs": 1,
}
