"""Runs a real analysis on a two-worker Dask cluster and shows where its time went.

`make demo` runs this. The first run draws the data; every run saves a new measurement under
`measurements/`, or the directory given as argument, and never touches an earlier one.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timezone
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Final

PROJECT_ROOT: Final = Path(__file__).resolve().parent.parent
EVENTS_PER_CHUNK: Final = 1_000
INTERRUPTED_EXIT_CODE: Final = 130


def show_generation(done: int, wanted: int) -> None:
    """Say how far the data is, on one line of a terminal or one line each in a log."""
    ending = "\r" if sys.stdout.isatty() and done < wanted else "\n"
    print(f"drawing demo data: {done} of {wanted} files", end=ending, flush=True)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Keep Ctrl-C waiting until the block ends, and from every process started in it for good.

    A terminal sends Ctrl-C to the workers as well. They inherit the mask and never see it, so that
    the demo alone decides how the cluster ends.
    """
    # Starting the tracker lifts the mask (it lets SIGINT through again), so it must run already.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def new_measurement_name() -> str:
    """Name a measurement by the second it was made, so that runs line up by age."""
    return datetime.now(tz=timezone.utc).strftime("demo-%Y%m%d-%H%M%S")


def shown_path(path: Path) -> str:
    """Shorten a path to what can be typed from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def print_physics(output: dict[str, Any]) -> None:
    """Show that the analysis was a real one."""
    from analysis import peak_mass_gev

    cutflow = output["cutflow"]
    candidates = ", ".join(f"{cuts['opposite sign']} in {name}" for name, cuts in cutflow.items())
    events = sum(cuts["all"] for cuts in cutflow.values())
    peak = peak_mass_gev(output["dimuon_mass"], dataset="ZToMuMu")
    print(f"dimuon candidates: {candidates}, out of {events} events")
    print(f"dimuon mass peaks at {peak:.1f} GeV (the Z boson: 91.2 GeV)")


def print_next_steps(measurement: Path) -> None:
    """Say where the measurement is and what can be done with it."""
    shown = shown_path(measurement)
    print(f"\nmeasurement saved: {shown}")
    print("next, try:")
    print(f"  .venv/bin/roastcoffea report {shown}")
    print(f"  .venv/bin/roastcoffea show {shown}")
    print(f"  .venv/bin/roastcoffea export {shown} --format parquet")
    print(
        '  .venv/bin/python -c "from roastcoffea import load_measurement; '
        f"print(load_measurement('{shown}').metrics['event_rate_wall_khz'])\""
    )


def run(output_dir: Path) -> None:
    """Draw the data if need be, run the analysis under the collector, and report."""
    # These imports take seconds; here, Ctrl-C during them ends the demo as quietly as later on.
    from coffea import processor
    from coffea.nanoevents import NanoAODSchema
    from distributed import Client, LocalCluster

    from analysis import DimuonProcessor
    from nanoaod import make_fileset
    from roastcoffea import MetricsCollector

    fileset = make_fileset(PROJECT_ROOT / "demo-data", progress=show_generation)
    with ExitStack() as stack:
        with interrupts_held_back():
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=2,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs=logging.ERROR,
                )
            )
            client = stack.enter_context(Client(cluster))
        runner = processor.Runner(
            processor.DaskExecutor(client=client),
            chunksize=EVENTS_PER_CHUNK,
            schema=NanoAODSchema,
        )
        with MetricsCollector(runner) as roast:
            output = runner(fileset, DimuonProcessor())
    roast.print_summary()
    print_physics(output)
    saved = roast.save_measurement(output_dir, new_measurement_name())
    print_next_steps(saved)


def main() -> int:
    """Run the demo; Ctrl-C ends it quietly, after the cluster is closed."""
    output_dir = Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT_ROOT / "measurements"
    try:
        run(output_dir)
    except KeyboardInterrupt:
        print("\ninterrupted: nothing was saved", file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    return 0


if __name__ == "__main__":
    sys.exit(main())
