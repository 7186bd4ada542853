"""What every test may use. Servers are in `support/a_site.py`, missing programs in `need.py`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads, or writes, the settings of whoever runs it.

    Programs that a test starts inherit this: no proxy, no `GOSSAMER_*`, and a home of their own.
    """
    for name in list(os.environ):
        if name.startswith("GOSSAMER_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    home = str(tmp_path_factory.mktemp("home"))
    for name in ("HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, home)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A place for a collection, at which there is nothing yet."""
    return tmp_path / "collection"
