"""The ways of running work that roastcoffea can watch.

Importing this package loads neither Dask nor coffea: a built-in backend is
imported when it is first made.
"""

from __future__ import annotations

from roastcoffea.backends.base import AbstractMetricsBackend
from roastcoffea.backends.registry import (
    backend_names,
    choose_backend,
    make_backend,
    register_backend,
)

__all__ = [
    "AbstractMetricsBackend",
    "backend_names",
    "choose_backend",
    "make_backend",
    "register_backend",
]
