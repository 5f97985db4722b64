"""Where and with what a measurement was made."""

from __future__ import annotations

import platform
import sys

_PACKAGES = ("roastcoffea", "coffea", "distributed", "dask", "uproot", "awkward", "numpy")


def provenance() -> dict[str, object]:
    """Describe this process's machine, Python and packages."""
    from importlib import metadata

    versions: dict[str, str] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "host": platform.node(),
        "platform": platform.platform(),
        "program": sys.argv[0] if sys.argv else "",
        "versions": versions,
    }
