"""Test data of other authors, beside the project or where the environment says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def suite(name: str) -> Path:
    """The folder of a conformance suite; skips the test if it is missing."""
    return _folder("TEST_SUITES", "suites", name)


def data(name: str) -> Path:
    """A folder or file of real data; skips the test if it is missing."""
    return _folder("TEST_DATA", "data", name)


def _folder(variable: str, kind: str, name: str) -> Path:
    home = Path(os.environ.get(variable, ROOT.parent / "shared" / kind))
    if not (home / name).exists():
        pytest.skip(f"{name} is not there; set {variable} to the folder that holds it")
    return home / name
