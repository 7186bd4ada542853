"""A folder for the temporary files of one process, which the next process removes after a kill.

The folder holds a file that its owner keeps locked. A lock ends with its process, however that
ends, so a folder whose file can be locked has lost its owner. A folder gets its final name only
when the lock is held: no process ever takes a new folder for an abandoned one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gossamer.base.locks import try_lock

_OWNER: Final = "owner.lock"


@contextmanager
def scratch_folder(kind: str, inside: Path | None = None) -> Iterator[Path]:
    """A folder `gossamer-KIND-...` in the temporary folder, removed when the block ends.

    Folders of the same kind that dead processes left are removed first.
    """
    place = inside or Path(tempfile.gettempdir())
    remove_abandoned(kind, place)
    made = Path(tempfile.mkdtemp(prefix="gossamer-new-", dir=place))
    folder = made.with_name(made.name.replace("gossamer-new-", f"gossamer-{kind}-"))
    with (made / _OWNER).open("wb") as owner:
        # a file system without locks: then the owner is unknown, and the folder stays
        with suppress(OSError):
            try_lock(owner.fileno())
        made.rename(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(kind: str, place: Path) -> list[Path]:
    """Remove the folders of a kind whose owners are dead. Return them.

    Only those of this user, because the temporary folder is shared.
    """
    removed = []
    for folder in place.glob(f"gossamer-{kind}-*"):
        if _is_ours(folder) and _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


def _is_ours(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return is_own and folder.is_dir() and not folder.is_symlink()


def _is_abandoned(folder: Path) -> bool:
    try:
        with (folder / _OWNER).open("rb+") as owner:
            return try_lock(owner.fileno())
    except OSError:
        return False
