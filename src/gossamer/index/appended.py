"""A file that is only appended to, and counts up to the length that was committed."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from gossamer.errors import CorruptFile
from gossamer.index.folder import REBUILD


def open_appended(path: Path, length: int) -> BinaryIO:
    """The file, made if need be, at the end of its first `length` bytes.

    What follows them was never committed, and is cut off. Raises CorruptFile where it is shorter.
    """
    file = path.open("r+b" if path.exists() else "w+b")
    found = file.seek(0, 2)
    if found < length:
        file.close()
        raise CorruptFile(path, found, f"it ends before byte {length}; {REBUILD}")
    file.truncate(length)
    file.seek(length)
    return file
