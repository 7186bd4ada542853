"""Replace the parts of a collection all together.

    forget.new/   the new parts; they are valid once the file `ready` is in it
    forget.old/   the old parts, to be deleted

A kill before `ready` leaves the old parts, and the new ones are deleted. After a kill later than
that, the next reader or writer completes the change (`settle`). So no process ever works with a mix
of old and new parts.
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
    """Return an empty folder for the new parts. The caller holds the collection's lock."""
    settle(root)
    new = root / NEW
    new.mkdir()
    return new


def make_ready(root: Path) -> None:
    """Make the new parts valid. They are complete and on the disk."""
    new = root / NEW
    for folder in new.rglob("*"):
        if folder.is_dir():  # an index has folders of its own
            sync_folder(folder)
    with (new / _READY).open("wb") as file:
        os.fsync(file.fileno())
    sync_folder(new)
    sync_folder(root)


def is_ready(root: Path) -> bool:
    """Whether there are valid new parts that are not all in place."""
    return (root / NEW / _READY).exists()


def settle(root: Path) -> None:
    """Complete a valid change, or delete an unfinished one. The caller holds the lock.

    Raises OSError; then it is not complete, and may be tried again.
    """
    new, old = root / NEW, root / OLD
    if is_ready(root):
        old.mkdir(exist_ok=True)
        for part in PARTS:
            if not (new / part).exists():
                continue  # it is in place
            if (root / part).exists():
                (root / part).rename(old / part)
            (new / part).rename(root / part)
        sync_folder(old)
        sync_folder(root)
    _delete(old)
    _delete(new)


def _delete(folder: Path) -> None:
    """Delete a folder; the file that makes it valid comes last."""
    if not folder.exists():
        return
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _READY:
            path.unlink()
    shutil.rmtree(folder)
