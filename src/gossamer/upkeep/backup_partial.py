"""Where does a copy lie while it is made, and who clears away what a killed one left?

Beside its place, as `NAME.xxxxxxxx.partial`, with a file in it that its maker holds locked. A lock
ends with its holder: so a folder with such a file that nobody holds was left by a kill, and the
next copy to the same place deletes it. What has no such file is none of ours, whatever its name.
Where the file system has no locks, copies are made, and nothing is taken for left.
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
_SAYS: Final = b"A backup is being made here. If none is running, this folder may be deleted.\n"
_TRIES: Final = 10


@contextmanager
def partial_beside(target: Path) -> Iterator[Path]:
    """An empty folder to make a copy in. It is gone afterwards, renamed or deleted.

    Before the rename `unmarked` is called. Raises OSError.
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
    """The copy is whole: nobody may take it for something that was left."""
    (folder / _MARK).unlink()


def _made(target: Path) -> tuple[Path, int]:
    """A new folder, and the open file that is locked in it."""
    for _ in range(_TRIES):
        name = tempfile.mkdtemp(prefix=f"{target.name}.", suffix=_SUFFIX, dir=target.parent)
        path = Path(name) / _MARK
        mark = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            is_ours = _is_ours(path, mark)
        except OSError:
            is_ours = True  # nobody else can hold it, either
        if is_ours:
            os.write(mark, _SAYS)
            return path.parent, mark
        os.close(mark)  # somebody who clears up came between making it and locking it
    raise OSError(errno.EBUSY, f"{target.parent} is cleared by somebody again and again")


def _left_beside(target: Path) -> Iterator[Path]:
    ours = re.compile(re.escape(target.name) + r"\.[a-z0-9_]{8}" + re.escape(_SUFFIX))
    for path in list(target.parent.iterdir()):
        if ours.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            yield path


def _delete_if_free(folder: Path) -> None:
    path = folder / _MARK
    try:
        mark = os.open(path, os.O_RDWR)
    except OSError:  # it has none, or is another person's
        return
    try:
        with suppress(OSError):
            if _is_ours(path, mark):
                _delete(folder)
    finally:
        os.close(mark)


def _is_ours(path: Path, mark: int) -> bool:
    """Whether we hold the file, and it is still the one with that name. Raises OSError."""
    with suppress(FileNotFoundError):
        return try_lock(mark) and os.path.samestat(os.fstat(mark), path.stat())
    return False


def _delete(folder: Path) -> None:
    """The mark goes last: a kill in the middle leaves something that the next one clears."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _MARK:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
