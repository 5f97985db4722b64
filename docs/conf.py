"""How Sphinx builds these pages.

The command line reference is written before the pages are read, from what the
program says of itself, so that it cannot lag behind; so are the tables and plots of
the page on performance, from the numbers that were measured.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "tools"))

import command_line  # noqa: E402
import performance  # noqa: E402

project = "roastcoffea"
author = "the roastcoffea developers"
project_copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = [
    "_build",
    "_generated/gallery.md",
    "_generated/performance",
    "_pictures",
    "tools",
]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
# Types that the standard library and numerical libraries document.
nitpick_ignore_regex = [
    (r"py:.*", r"(collections|contextlib|datetime|matplotlib|numpy|os|pathlib|types|typing)\..*"),
    (r"py:.*", r"(Any|Callable|Iterable|Iterator|Mapping|PathLike|Path|Sequence|Source|TextIO)"),
    # Parts that nobody makes by hand.
    (r"py:.*", r"(roastcoffea\.)?_core\..*|roastcoffea\..*\._[A-Z]\w*"),
]

html_theme = "furo"
html_title = "roastcoffea"
html_extra_path = ["_pictures/extra"]
html_show_sphinx = False


def setup(_app: Sphinx) -> None:
    """Write what the pages take from the program and from the benchmarks."""
    command_line.write(DOCS / "_generated" / "command-line.md")
    performance.make()
