"""External programs that tests need, and what to do if one is missing."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest


def need_program(name: str, package: str | None = None) -> Path:
    """The path of a program. Without it the test skips, or fails if `CI` is `true`.

    `package` is the Debian package that contains it, if its name differs.
    """
    found = shutil.which(name)
    if found is not None:
        return Path(found)
    missing = f"{name} is not there; on Debian: apt-get install {package or name}"
    if os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


def need_linux(why: str) -> None:
    """Skip if the test needs something that only Linux has; `why` names it."""
    if not sys.platform.startswith("linux"):
        pytest.skip(f"needs Linux: {why}")
