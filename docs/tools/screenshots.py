"""Takes pictures of a report in a real browser.

`npm run screenshots` of `web/` does the work. Where Node or Chromium is missing,
the pictures say so themselves, and so does the build.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from matplotlib.figure import Figure

PROJECT = Path(__file__).resolve().parents[2]
PARTS = ("top", "page", "ledger", "timeline", "workers", "chunks", "sections")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser() -> str | None:
    """Find Chromium: where $CHROMIUM says, or on the path."""
    named = os.environ.get("CHROMIUM")
    found = [path for path in map(shutil.which, BROWSERS) if path is not None]
    return named or (found[0] if found else None)


def take(report: Path, pictures: Path, *, scale: float = 1.0) -> bool:
    """Take the pictures; false if they had to be replaced by a sentence."""
    npm, chromium = shutil.which("npm"), browser()
    if npm is None or chromium is None:
        lacking = "Node" if npm is None else "Chromium"
        message = f"No picture: {lacking} was not found when these pages were built."
        print(f"docs: {message} Install it, or set CHROMIUM to its path.", file=sys.stderr)
        replace(pictures, message)
        return False
    subprocess.run(
        [npm, "run", "--silent", "screenshots", "--", report.resolve(), pictures.resolve()],
        cwd=PROJECT / "web",
        env=os.environ | {"CHROMIUM": chromium, "SCALE": str(scale)},
        check=True,
    )
    return True


def replace(pictures: Path, message: str) -> None:
    """Write pictures that only say why there is none."""
    pictures.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(8, 1))
    figure.text(0.5, 0.5, message, ha="center", va="center")
    for part in PARTS:
        for scheme in ("light", "dark"):
            figure.savefig(pictures / f"{part}-{scheme}.png")
