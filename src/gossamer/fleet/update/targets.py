"""Names and versions in the update repository, which hub and unit agree on."""

from __future__ import annotations

import re
from typing import Final

from gossamer.errors import UsageError

FILE_NAME: Final = "gossamer-unit.pyz"
MAX_FILE_BYTES: Final = 64 * 2**20
_VERSION: Final = re.compile(r"\d{1,6}(\.\d{1,6}){0,3}")


def target_name(platform: str, python: str) -> str:
    """The name of the newest file for a platform and a version of Python."""
    return f"{platform}-py{python}/{FILE_NAME}"


def version_key(version: str) -> tuple[int, ...]:
    """By which versions are compared. Raises UsageError."""
    if not _VERSION.fullmatch(version):
        raise UsageError(f"{version!r} is not a version; write up to four numbers, such as 1.4.2")
    return tuple(map(int, version.split(".")))


def is_newer(version: str, than: str) -> bool:
    """Whether a version comes after another; a text that is not a version comes first."""
    try:
        key = version_key(version)
    except UsageError:
        return False
    try:
        return key > version_key(than)
    except UsageError:
        return True
