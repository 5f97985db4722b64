"""Makes every picture of the pages: a run is simulated, reported, photographed and plotted.

`make docs` runs this into `docs/_pictures`. With `--readme` it writes the one
picture that is kept in the repository, `docs/images/report.png`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

import gallery
import runs
import screenshots

DOCS = Path(__file__).resolve().parents[1]
README_BYTES_AT_MOST = 300_000
#: Down to the bar of the ledger.
README_HEIGHT = 915


def report(run: Path, output: Path) -> Path:
    """Write the report of a run."""
    output.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([runs.PROGRAM, "report", run, "-o", output, "--force"], check=True)
    return output


def for_pages() -> None:
    """Make the pictures of the pages, and the example report itself."""
    pictures = DOCS / "_pictures"
    with tempfile.TemporaryDirectory() as directory:
        run, _, _, *sizes = runs.simulate(Path(directory))
        page = report(run, pictures / "extra" / "example-report.html")
        screenshots.take(page, pictures / "report")
        shown = gallery.draw(run, sizes, pictures / "plots")
    generated = DOCS / "_generated" / "gallery.md"
    generated.parent.mkdir(exist_ok=True)
    generated.write_text(shown)


def for_readme() -> None:
    """Make the picture of the README, in few colours so that it stays small."""
    with tempfile.TemporaryDirectory() as directory:
        (run,) = runs.simulate(Path(directory), "run")
        page = report(run, Path(directory) / "report.html")
        if not screenshots.take(page, Path(directory)):
            sys.exit("docs/images/report.png was left as it is")
        picture = DOCS / "images" / "report.png"
        with Image.open(Path(directory) / "page-light.png") as image:
            top = image.convert("RGB").crop((0, 0, image.width, README_HEIGHT))
            top.quantize(256).save(picture, optimize=True)
    if picture.stat().st_size > README_BYTES_AT_MOST:
        sys.exit(f"{picture} is larger than {README_BYTES_AT_MOST} bytes")


if __name__ == "__main__":
    if sys.argv[1:] == ["--readme"]:
        for_readme()
    else:
        for_pages()
