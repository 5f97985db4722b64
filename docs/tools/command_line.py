"""Writes the command line reference from the help texts of the program itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("roastcoffea")
HEADING = """\
# Command line reference

This page is what the program says of itself: `roastcoffea --help`, then `COMMAND --help` of each.
"""


def help_text(*command: str) -> str:
    """Ask the program for its help, as wide as a page."""
    environment = os.environ | {"COLUMNS": "92", "NO_COLOR": "1"}
    asked = subprocess.run(
        [PROGRAM, *command, "--help"], capture_output=True, text=True, check=True, env=environment
    )
    return asked.stdout.rstrip()


def commands(overview: str) -> list[str]:
    """Read the names of the commands out of the overview."""
    listed = overview.split("Commands:", 1)[1].split("\n\n", 1)[0]
    names = re.findall(r"^  ([a-z-]+)(?:  |$)", listed, flags=re.MULTILINE)
    if not names:
        raise RuntimeError("the help of roastcoffea lists no commands any more")
    return [name for name in names if name != "help"]


def page() -> str:
    """Put the page together."""
    overview = help_text()
    parts = [HEADING, f"```text\n{overview}\n```"]
    parts += [
        f"## roastcoffea {name}\n\n```text\n{help_text(name)}\n```" for name in commands(overview)
    ]
    return "\n\n".join(parts) + "\n"


def write(path: Path) -> None:
    """Write the page where it differs, so that an unchanged one is not built again."""
    text = page()
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    print(page(), end="")
