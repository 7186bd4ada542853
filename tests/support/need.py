"""Programs that a test runs beside ours, and what to do where one is missing."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest


def need_program(name: str, package: str | None = None) -> Path:
    """Where a program is. Without it the test skips, or fails when `CI` is `true`.

    `package` is what Debian calls the package that brings it, where that is not its name.
    """
    found = shutil.which(name)
    if found is not None:
        return Path(found)
    missing = f"{name} is not there; on Debian: apt-get install {package or name}"
    if os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


def need_linux(why: str) -> None:
    """Skip where the test leans on something that only Linux has; `why` names it."""
    if not sys.platform.startswith("linux"):
        pytest.skip(f"needs Linux: {why}")
