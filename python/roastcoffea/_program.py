"""The ``roastcoffea`` program's way in from Python; the program itself is Rust."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the program with this process's arguments."""
    from roastcoffea import _core

    # The program handles Ctrl-C itself; Python would raise on top of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    return _core.run_program(["roastcoffea", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
