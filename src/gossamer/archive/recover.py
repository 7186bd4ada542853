"""Repair a WARC file that a dead worker left.

Everything that was committed is kept, and every whole exchange after it. The rest is cut off,
because it was never reported. Only for files that no process is writing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.reader import last_whole_end
from gossamer.base.disk import is_full_error, is_read_only_error
from gossamer.errors import CorruptFile, DiskFault

_COPIED_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Repair:
    """The result of `repair`."""

    kept_end: int  # size of the file now; exchanges after the known end must be replayed
    cut_bytes: int


def repair(path: Path, known_end: int) -> Repair:
    """Cut the file after its last whole exchange, and never below `known_end`.

    The kept bytes are on disk when this returns. Raises CorruptFile if the file is shorter than
    `known_end`: committed exchanges are missing. Raises DiskFault if it cannot be cut.
    """
    size = path.stat().st_size
    if size < known_end:
        what = f"the file ends here, but exchanges up to byte {known_end} were committed"
        raise CorruptFile(path, size, what)
    kept_end = last_whole_end(path, known_end)
    try:
        _secure(path, known_end, kept_end)
    except OSError as error:
        what = f"{path} could not be cut behind byte {kept_end} ({error.strerror}); check the disk"
        raise DiskFault(
            what, is_full=is_full_error(error), is_read_only=is_read_only_error(error)
        ) from error
    return Repair(kept_end, size - kept_end)


def _secure(path: Path, known_end: int, kept_end: int) -> None:
    """Cut the file, and make sure that the bytes after the known end are on disk.

    They are rewritten for that: after a failed sync the kernel calls pages clean that never reached
    the disk, and a second sync alone would succeed.
    """
    with path.open("rb+") as file:
        file.truncate(kept_end)
        file.seek(known_end)
        while tail := file.read(_COPIED_BYTES):
            file.seek(-len(tail), os.SEEK_CUR)
            file.write(tail)
        file.flush()
        os.fsync(file.fileno())
