"""The parts of a collection, made anew aside and put into their place all together.

    forget.new/   the new parts; once the file `ready` is in it, they count, whatever happens
    forget.old/   the old parts, on their way out

A kill before `ready` leaves the old parts, and the new ones are thrown away; a kill after it
leaves the change to be completed by whoever comes next, reader or writer (`settle`). So nobody
ever works with parts of both.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from gossamer.base.files import sync_folder

NEW: Final = "forget.new"
OLD: Final = "forget.old"
PARTS: Final = ("state", "archive", "graph", "index", "log", "cookies.txt")
_READY: Final = "ready"


def begin_staging(root: Path) -> Path:
    """An empty folder for the new parts. The caller holds the collection's lock."""
    settle(root)
    new = root / NEW
    new.mkdir()
    return new


def make_ready(root: Path) -> None:
    """The new parts are whole, and on the disk: from here on they count."""
    new = root / NEW
    for folder in new.rglob("*"):
        if folder.is_dir():  # an index has folders of its own
            sync_folder(folder)
    with (new / _READY).open("wb") as file:
        os.fsync(file.fileno())
    sync_folder(new)
    sync_folder(root)


def is_ready(root: Path) -> bool:
    """Whether new parts count that are not all in their place."""
    return (root / NEW / _READY).exists()


def settle(root: Path) -> None:
    """Complete a change that counts, or throw away one that does not. For who holds the lock.

    Raises OSError; then it is not complete, and may be tried again.
    """
    new, old = root / NEW, root / OLD
    if is_ready(root):
        old.mkdir(exist_ok=True)
        for part in PARTS:
            if not (new / part).exists():
                continue  # it is in its place
            if (root / part).exists():
                (root / part).rename(old / part)
            (new / part).rename(root / part)
        sync_folder(old)
        sync_folder(root)
    _delete(old)
    _delete(new)


def _delete(folder: Path) -> None:
    """Delete a folder, what makes it count at last."""
    if not folder.exists():
        return
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _READY:
            path.unlink()
    shutil.rmtree(folder)
