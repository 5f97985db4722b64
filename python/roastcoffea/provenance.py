"""Where and with what a measurement was made."""

from __future__ import annotations

import platform
import sys
from functools import cache

_PACKAGES = ("roastcoffea", "coffea", "distributed", "dask", "uproot", "awkward", "numpy")


def provenance() -> dict[str, object]:
    """Describe this process's machine, Python and packages."""
    return {
        "host": platform.node(),
        "platform": platform.platform(),
        "program": sys.argv[0] if sys.argv else "",
        "versions": dict(_versions()),
    }


@cache
def _versions() -> dict[str, str]:
    """Look the packages up, which takes longer than most analyses of a run, once."""
    from importlib import metadata

    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
