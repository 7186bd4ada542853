"""Make files durable, and tell replaced files apart."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

NO_FILE: Final = (0, 0)  # the stamp of a missing file


def stamp_of(path: str | Path) -> tuple[int, int]:
    """Identifies a file version, to notice when a file is replaced; `NO_FILE` if there is none.

    With a string it takes a third of the time of `Path.stat`.
    """
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:  # it is being replaced, or gone: opening it reports the reason
        return NO_FILE
    return found.st_ino, found.st_mtime_ns


def sync_folder(folder: Path) -> None:
    """Make new names and renames in a folder durable. Windows neither has nor needs this."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_durably(path: Path, data: bytes) -> None:
    """Write a file so that after a power cut either the old or the new content is there. Raises
    OSError."""
    temporary = path.with_name(f"{path.name}.part")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def delete_if_possible(path: Path) -> None:
    """Delete a file, or leave it if that fails, as on a disk that became read-only. It does no
    harm.
    """
    with suppress(OSError):
        path.unlink(missing_ok=True)


def link_files(folder: Path, target: Path, is_shared: Callable[[str], bool]) -> None:
    """Make a symbolic link in `target` to each file of a folder that is `is_shared`.

    For libraries that write beside the files they read, if that is not permitted: RocksDB's binding
    writes a file into a database that it opens to read, and tantivy creates a lock. Raises OSError.
    """
    for path in folder.absolute().iterdir():
        if is_shared(path.name):
            (target / path.name).symlink_to(path)


def replace_file(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file so that it is durable, and at every instant either the old or the new one."""
    new = path.with_name(f".{path.name}.new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.chmod(mode)
    new.replace(path)
    sync_folder(path.parent)
