"""What makes files last, and what tells them apart."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

NO_FILE: Final = (0, 0)  # the stamp of what is not there


def stamp_of(path: str | Path) -> tuple[int, int]:
    """Tells a file from another that was put in its place; `NO_FILE` where there is none.

    Given a text it takes a third of the time of `Path.stat`.
    """
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:  # it is being replaced, or gone: whoever opens it says what is wrong
        return NO_FILE
    return found.st_ino, found.st_mtime_ns


def sync_folder(folder: Path) -> None:
    """Make new names and renames in a folder last. Windows has no such act, and needs none."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def delete_if_possible(path: Path) -> None:
    """Delete a file that does no harm where it stays: on a disk that is read-only by now."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def link_files(folder: Path, target: Path, is_shared: Callable[[str], bool]) -> None:
    """Make a symbolic link in `target` to each file of a folder that is `is_shared`.

    For libraries that write beside what they read, where they may not: RocksDB's binding writes a
    file into a database that it opens to read, and tantivy makes a lock. Raises OSError.
    """
    for path in folder.absolute().iterdir():
        if is_shared(path.name):
            (target / path.name).symlink_to(path)
