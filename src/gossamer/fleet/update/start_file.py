"""The first code that runs in the single file of a unit.

It is copied into the file as a module of its own, and may import nothing but the standard library.
It checks that this Python is the one for which the file was built, sets the folder into which the
file unpacks itself, and hands over to shiv.

    unpacked into   $SHIV_ROOT
                    else `unpacked` beside the file, if it is a version in the directory of a unit
                    else `update/unpacked` in the directory of the unit

So a unit leaves nothing outside its directory, and `unit delete` deletes all.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FACTS = "built_for.json"  # in the file: its version, and for which Python and platform it is
ROOT = "SHIV_ROOT"
DIRECTORY = "GOSSAMER_UNIT"  # names the directory of the unit
DEFAULT = "~/.gossamer-unit"
FLAGS = ("-d", "--directory")
built: dict[str, str] = {}  # the facts, once the file has started


def unit_directory(words: Sequence[str], environ: Mapping[str, str]) -> Path:
    """The directory of the unit: of the flag, else of the variable, else the default."""
    for flag, value in zip(words, (*words[1:], ""), strict=True):
        if flag in FLAGS and value:
            return Path(value).expanduser().absolute()
        for name in FLAGS:
            if flag.startswith(f"{name}="):
                return Path(flag.partition("=")[2]).expanduser().absolute()
    return Path(environ.get(DIRECTORY) or DEFAULT).expanduser().absolute()


def unpack_folder(file: Path, directory: Path) -> Path:
    """Where a file unpacks itself."""
    is_version = file.parent.parent == directory / "update" / "versions"
    return (file.parent if is_version else directory / "update") / "unpacked"


def this_python() -> dict[str, str]:
    """Compiled modules work with one minor version of Python on one platform."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"python": version, "platform": sysconfig.get_platform()}


def mismatch(facts: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Why the file cannot run here; empty if it can."""
    wanted = f"Python {facts['python']} on {facts['platform']}"
    if facts["python"] == here["python"] and facts["platform"] == here["platform"]:
        return ""
    return (
        f"this file is for {wanted}, and this is Python {here['python']} on {here['platform']}; "
        "start it with that Python, or build another file with `gossamer hub bundle`"
    )


def start() -> None:
    """Called by the file."""
    loader: Any = sys.modules[__name__].__loader__
    built.update(json.loads(loader.get_data(str(Path(loader.archive) / FACTS))))
    if problem := mismatch(built, this_python()):
        sys.exit(f"gossamer: {problem}")
    directory = unit_directory(sys.argv[1:], os.environ)
    os.environ[DIRECTORY] = str(directory)
    if ROOT not in os.environ:
        folder = unpack_folder(Path(sys.argv[0]).resolve(), directory.resolve())
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ[ROOT] = str(folder)
    importlib.import_module("_bootstrap").bootstrap()
