"""Why did the disk not take something: is it full, read-only, or broken?

Libraries tell it by a number, or in a text. A disk that failed is often mounted read-only by the
kernel a moment later; then the file system says so, whatever the first error was.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Final

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
# Errors of which the disk is the cause, not this program.
OF_THE_DISK: Final = frozenset({*FULL, errno.EROFS, errno.EIO})
_DENIED: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_DENIED_WORDS: Final = re.compile(
    r"Read-only file system|Permission denied|Operation not permitted"
    r"|ReadOnlyFilesystem|PermissionDenied"
)
_READ_ONLY: Final = re.compile(rf"Read-only file system|os error {errno.EROFS}\b")


def is_full_error(error: BaseException) -> bool:
    """Whether an error of the system says that there is no room."""
    return isinstance(error, OSError) and error.errno in FULL


def is_read_only_error(error: BaseException) -> bool:
    """Whether an error, of the system or of a library, says that the disk is read-only."""
    if isinstance(error, OSError) and error.errno:
        return error.errno == errno.EROFS
    return _READ_ONLY.search(str(error)) is not None


def is_denied_error(error: BaseException) -> bool:
    """Whether an error, of the system or of a library, says that one may not write there."""
    if isinstance(error, OSError) and error.errno:
        return error.errno in _DENIED
    return _DENIED_WORDS.search(str(error)) is not None


def is_mounted_read_only(folder: Path) -> bool:
    """Whether nothing can be written to the file system of a folder."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except (OSError, AttributeError):  # Windows has none
        return False
