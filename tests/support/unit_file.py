"""The single file of a unit, built once for all tests of a process, and run with nothing else."""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gossamer.fleet.update.bundle import UnitFile, build_unit_file
from gossamer.fleet.update.start_file import FACTS


@cache
def built(folder: Path) -> UnitFile:
    return build_unit_file(folder / "gossamer-unit.pyz")


def bare_python() -> str:
    """The interpreter without our environment."""
    return str(Path(sys.base_prefix, "bin", Path(os.path.realpath(sys.executable)).name))


def bare_command(file: Path, *words: object) -> list[str]:
    """Run a file with Python alone: no environment, no site-packages of others."""
    return [bare_python(), "-I", "-S", str(file), *map(str, words)]


def bare_environment(home: Path) -> Mapping[str, str]:
    return {"HOME": str(home), "PATH": os.environ.get("PATH", "")}


def restamped(file: UnitFile, path: Path, version: str, **changed: str) -> Path:
    """A copy of a file with another version, and with other contents of files in it."""
    shutil.copy(file.path, path)
    facts = {"python": file.python, "platform": file.platform, "version": version}
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore", UserWarning)  # the last of two files with one name counts
        archive.writestr(FACTS, json.dumps(facts))
        for name, content in changed.items():
            archive.writestr(f"site-packages/gossamer/{name}", content)
    return path
