"""An append-only file that is valid up to its committed length."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

from gossamer.base.files import sync_folder
from gossamer.errors import CorruptFile
from gossamer.index.folder import REBUILD

_BUFFER_BYTES: Final = 2**20  # one append has 40 to 4,000 bytes


def open_appended(path: Path, length: int) -> BinaryIO:
    """The file, created if needed, positioned after its first `length` bytes.

    Bytes after them were never committed and are cut off. Raises CorruptFile if it is shorter.
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
