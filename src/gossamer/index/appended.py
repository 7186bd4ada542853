"""A file that is only appended to, and counts up to the length that was committed."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

from gossamer.base.files import sync_folder
from gossamer.errors import CorruptFile
from gossamer.index.folder import REBUILD

_BUFFER_BYTES: Final = 2**20  # 40 bytes, or 4,000, are appended at a time


def open_appended(path: Path, length: int) -> BinaryIO:
    """The file, made if need be, at the end of its first `length` bytes.

    What follows them was never committed, and is cut off. Raises CorruptFile where it is shorter.
    """
    if not path.exists():
        path.touch()
        sync_folder(path.parent)
    file = path.open("r+b", buffering=_BUFFER_BYTES)
    found = file.seek(0, 2)
    if found < length:
        file.close()
        raise CorruptFile(path, found, f"it ends before byte {length}; {REBUILD}")
    file.truncate(length)
    file.seek(length)
    return file
