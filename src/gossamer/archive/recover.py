"""What of a file that a dead worker left is to be kept?

All that was committed, and every whole exchange behind it; the rest is cut off, for it was never
reported. Only for files that nobody is writing to.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from gossamer.archive.reader import last_whole_end
from gossamer.errors import CorruptFile, DiskFault


@dataclass(frozen=True, slots=True)
class Repair:
    """What `repair` found and did."""

    kept_end: int  # the file's size now; the exchanges behind the known end are to be replayed
    cut_bytes: int


def repair(path: Path, known_end: int) -> Repair:
    """Cut the file behind its last whole exchange, and never below `known_end`.

    Raises CorruptFile when the file is shorter than that: committed exchanges are missing.
    Raises DiskFault when it cannot be cut.
    """
    size = path.stat().st_size
    if size < known_end:
        what = f"the file ends here, and exchanges up to byte {known_end} were committed"
        raise CorruptFile(path, size, what)
    kept_end = last_whole_end(path, known_end)
    if kept_end < size:
        _cut(path, kept_end)
    return Repair(kept_end, size - kept_end)


def _cut(path: Path, size: int) -> None:
    try:
        with path.open("rb+") as file:
            file.truncate(size)
            os.fsync(file.fileno())
    except OSError as error:
        what = f"{path} could not be cut behind byte {size} ({error.strerror}); check the disk"
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise DiskFault(what, is_full=is_full) from error
