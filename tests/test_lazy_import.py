"""Importing the package loads nothing else, and every name is there all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

import roastcoffea


def test_the_import_loads_no_part_of_the_package() -> None:
    script = "import sys, roastcoffea; print(*(m for m in sys.modules if 'roastcoffea' in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()
    assert loaded == ["roastcoffea"]


def test_names_have_one_home_each() -> None:
    plots = {name for name in roastcoffea.__all__ if name.startswith("plot_")}
    assert {*roastcoffea._HOMES, *plots} == set(roastcoffea.__all__)
    assert roastcoffea.track_section is roastcoffea.track_time
    for name in set(roastcoffea.__all__) - {"track_section"}:
        assert getattr(roastcoffea, name).__name__ == name
        assert name in dir(roastcoffea)


def test_modules_are_there_when_read() -> None:
    script = (
        "import roastcoffea; print(roastcoffea.collector.__name__, roastcoffea.export.__name__)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()
    assert printed == ["roastcoffea.collector", "roastcoffea.export"]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'colector'"):
        _ = roastcoffea.colector
    with pytest.raises(ImportError, match="cannot import name 'colector'"):
        from roastcoffea import colector  # noqa: F401
