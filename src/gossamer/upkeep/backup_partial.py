"""The temporary folder of a backup, and the removal of folders that killed backups left.

The folder is `NAME.xxxxxxxx.partial` beside the target. It contains a file that its process holds
locked. A lock ends with its process, so a folder whose file is unlocked was left by a kill, and the
next backup to the same target deletes it. A folder without such a file is never deleted. Where the
file system has no locks, backups work, and no folder is deleted.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gossamer.base.locks import try_lock

_SUFFIX: Final = ".partial"
_MARK: Final = "copy.unfinished"
_SAYS: Final = b"A backup is being written here. If none is running, delete this folder.\n"
_TRIES: Final = 10


@contextmanager
def partial_beside(target: Path) -> Iterator[Path]:
    """Yield an empty folder for a copy. Afterwards it is renamed or deleted.

    The caller calls `unmarked` before the rename. Raises OSError.
    """
    for left in _left_beside(target):
        _delete_if_free(left)
    folder, mark = _made(target)
    try:
        yield folder
    finally:
        if folder.exists():
            _delete(folder)
        os.close(mark)


def unmarked(folder: Path) -> None:
    """Remove the mark: the copy is complete, and no cleanup may delete it."""
    (folder / _MARK).unlink()


def _made(target: Path) -> tuple[Path, int]:
    """Create a folder; return it with its open, locked file."""
    for _ in range(_TRIES):
        name = tempfile.mkdtemp(prefix=f"{target.name}.", suffix=_SUFFIX, dir=target.parent)
        path = Path(name) / _MARK
        mark = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            is_ours = _is_ours(path, mark)
        except OSError:
            is_ours = True  # no other process can hold it either
        if is_ours:
            os.write(mark, _SAYS)
            return path.parent, mark
        os.close(mark)  # another cleanup deleted it before it was locked
    raise OSError(errno.EBUSY, f"another process keeps deleting new folders in {target.parent}")


def _left_beside(target: Path) -> Iterator[Path]:
    ours = re.compile(re.escape(target.name) + r"\.[a-z0-9_]{8}" + re.escape(_SUFFIX))
    for path in list(target.parent.iterdir()):
        if ours.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            yield path


def _delete_if_free(folder: Path) -> None:
    path = folder / _MARK
    try:
        mark = os.open(path, os.O_RDWR)
    except OSError:  # it has no mark, or belongs to another user
        return
    try:
        with suppress(OSError):
            if _is_ours(path, mark):
                _delete(folder)
    finally:
        os.close(mark)


def _is_ours(path: Path, mark: int) -> bool:
    """Whether we hold the lock and the name still refers to this file. Raises OSError."""
    with suppress(FileNotFoundError):
        return try_lock(mark) and os.path.samestat(os.fstat(mark), path.stat())
    return False


def _delete(folder: Path) -> None:
    """Delete the mark last: after a kill the next backup deletes the remainder."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _MARK:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
