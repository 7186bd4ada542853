"""External programs that tests need, and what to do if one is missing."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

# As in `run.py`: folders beside those of PATH. Debian keeps PostgreSQL's programs apart by version.
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/sbin", "/usr/sbin")


def find_program(name: str) -> Path | None:
    """The path of a program on PATH or where Debian puts it; of several versions the newest."""
    places = [
        place for pattern in PLACES for place in sorted(Path("/").glob(pattern[1:]), key=_version)
    ]
    folders = os.pathsep.join(map(str, places))
    found = shutil.which(name) or shutil.which(name, path=folders)
    return None if found is None else Path(found)


def _version(folder: Path) -> int:
    """Sorts the newest version first: `/usr/lib/postgresql/15/bin` before `9`."""
    return -max((int(part) for part in folder.parts if part.isdecimal()), default=0)


def need_program(name: str, package: str | None = None) -> Path:
    """The path of a program. Without it the test skips, or fails if `CI` is `true`.

    `package` is the Debian package that contains it, if its name differs.
    """
    found = find_program(name)
    if found is not None:
        return found
    missing = f"{name} is not there; on Debian: apt-get install {package or name}"
    if os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


def need_linux(why: str) -> None:
    """Skip if the test needs something that only Linux has; `why` names it."""
    if not sys.platform.startswith("linux"):
        pytest.skip(f"needs Linux: {why}")
