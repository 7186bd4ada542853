"""Cheap copies of files: a hard link, shared blocks, or else bytes.

A hard link is for files that are never written again. If a file system can share blocks between
files, `copy_file_range` does so.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Final

_STEP_BYTES: Final = 1 << 26
_READ_BYTES: Final = 1 << 20


def link_or_copy(source: Path, target: Path) -> bool:
    """Give `target` the bytes of `source`, which never change. Return whether it is a hard link.

    Raises FileNotFoundError, and OSError if the disk refuses it.
    """
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        with source.open("rb") as file:
            copy_bytes(file, target, os.fstat(file.fileno()).st_size)
        return False
    return True


def copy_bytes(source: BinaryIO, target: Path, size: int) -> int:
    """Copy the first `size` bytes of an open file, and sync. Return the number of bytes.

    The copy gets the same read permissions.
    """
    mode = os.fstat(source.fileno()).st_mode & 0o777
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        copied = _shared(source.fileno(), descriptor, size)
        if copied < size:
            source.seek(copied)
            copied += _written(source, descriptor, size - copied)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return copied


def _shared(source: int, target: int, size: int) -> int:
    """The bytes that the kernel copies by itself, from the start; fewer if it cannot."""
    copy_range = getattr(os, "copy_file_range", None)
    copied = 0
    if copy_range is None:
        return 0
    try:
        while copied < size:
            some = copy_range(source, target, min(size - copied, _STEP_BYTES), copied, copied)
            if not some:
                break
            copied += some
    except OSError:  # not supported between these two; if the disk is full, writing reports it, too
        os.lseek(target, copied, os.SEEK_SET)
        return copied
    os.lseek(target, copied, os.SEEK_SET)
    return copied


def _written(source: BinaryIO, target: int, size: int) -> int:
    written = 0
    while written < size and (some := source.read(min(size - written, _READ_BYTES))):
        view = memoryview(some)
        while view:
            view = view[os.write(target, view) :]
        written += len(some)
    return written
