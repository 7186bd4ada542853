"""Translate errors of tantivy and the disk."""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gossamer.base.disk import FULL, OF_THE_DISK, is_mounted_read_only
from gossamer.errors import CorruptFile, DiskFault
from gossamer.index.folder import REBUILD

_NUMBER: Final = re.compile(r"\b(?:os error|Errno|code:) (\d+)")  # the errno in a message
_NO_ROOM_BYTES: Final = 16 * 2**20
# How the library reports that the disk failed, also in a thread of its own.
_OF_THE_DISK: Final = re.compile(r"os error|io::Error|IoError|IO error", re.IGNORECASE)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn errors while reading the index in `path` into CorruptFile or DiskFault.

    A panic of the library is not an Exception, and its class cannot be imported.
    """
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        if _number_in(str(error)) in OF_THE_DISK:  # opening an index creates files, too
            raise disk_fault(path, str(error).rstrip(".")) from error
        raise CorruptFile(path, 0, f"{str(error).rstrip('.')}; {REBUILD}") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise CorruptFile(path, 0, f"the index is damaged ({error}); {REBUILD}") from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """The same for writing: a failed disk did not damage what is committed."""
    with reading(path):
        try:
            yield
        except OSError as error:
            raise disk_fault(path, error.strerror or str(error), error.errno) from error
        except ValueError as error:
            if not _OF_THE_DISK.search(str(error)):
                raise
            raise disk_fault(path, str(error).rstrip(".")) from error


def disk_fault(path: Path, what: str, number: int | None = None) -> DiskFault:
    """The error if the disk refused a part of the index."""
    # The library does not say what its threads met; then the free space decides.
    number = number or _number_in(what)
    is_full = number in FULL if number else shutil.disk_usage(path).free < _NO_ROOM_BYTES
    is_read_only = number == errno.EROFS if number else is_mounted_read_only(path)
    way_out = "check the disk"
    if is_full:
        way_out = "free some space"
    elif is_read_only:
        way_out = "make the disk writable"
    return DiskFault(
        f"cannot write the index in {path} ({what}); {way_out}, then resume: what is "
        "committed is kept",
        is_full=is_full,
        is_read_only=is_read_only,
    )


def _number_in(text: str) -> int | None:
    found = _NUMBER.search(text)
    return int(found[1]) if found else None
