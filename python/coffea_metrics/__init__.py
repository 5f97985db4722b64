"""The project's former name: everything here is roastcoffea's."""

from __future__ import annotations

from roastcoffea import *  # noqa: F403
from roastcoffea import __all__  # noqa: F401
