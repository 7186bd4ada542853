"""Find out why the disk refused a write: full, read-only, or failed.

Libraries report it by a number, or in a text. The kernel often mounts a failed disk read-only a
moment later; then the file system says so, whatever the first error was.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Final

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
# Errors caused by the disk, not by this program.
OF_THE_DISK: Final = frozenset({*FULL, errno.EROFS, errno.EIO})
_DENIED: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_DENIED_WORDS: Final = re.compile(
    r"Read-only file system|Permission denied|Operation not permitted"
    r"|ReadOnlyFilesystem|PermissionDenied"
)
_READ_ONLY: Final = re.compile(rf"Read-only file system|os error {errno.EROFS}\b")


def is_full_error(error: BaseException) -> bool:
    """Whether a system error says that the disk is full."""
    return isinstance(error, OSError) and error.errno in FULL


def is_read_only_error(error: BaseException) -> bool:
    """Whether an error, of the system or of a library, says that the disk is read-only."""
    if isinstance(error, OSError) and error.errno:
        return error.errno == errno.EROFS
    return _READ_ONLY.search(str(error)) is not None


def is_denied_error(error: BaseException) -> bool:
    """Whether an error, of the system or of a library, says that writing is not permitted."""
    if isinstance(error, OSError) and error.errno:
        return error.errno in _DENIED
    return _DENIED_WORDS.search(str(error)) is not None


def is_mounted_read_only(folder: Path) -> bool:
    """Whether the file system of a folder is read-only."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except (OSError, AttributeError):  # missing on Windows
        return False
