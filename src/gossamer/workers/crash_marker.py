"""Which exchange was being read when a process died?

A page can kill its reader: a parser that crashes, memory that runs out. The exchange is in the
archive by then, and reading it again and again would kill every reader. So whoever reads notes
before, in a small file that it has mapped into memory, where the exchange lies, and takes the note
away afterwards. The note outlives the process; it costs half a microsecond.

One death proves nothing: a process that is killed from outside was reading something, too. So each
death is counted (`note_death`), the exchange is read once more, and only what has outlived two
readers is deadly: it is never read again.

A marker is locked as long as its process lives, so that a start can tell the dead from the dying.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import signal
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from gossamer.archive.writer import disk_fault
from gossamer.base.files import delete_if_possible

_CLOEXEC: Final = getattr(os, "O_CLOEXEC", 0)  # Windows has none
_SIZE: Final = 512
_PLACE: Final = struct.Struct("<QQ")  # the exchange's first byte plus 1, 0 for none; process id
_BEGIN: Final = struct.Struct("<Q")  # the first of the two
_NAME_AT: Final = 16
_DEADLY: Final = 2  # readers that died with an exchange before their eyes
_DEATHS: Final = "deaths"  # in run/: a line for each, the exchange's first byte and file

Place = tuple[str, int]  # a WARC file's name and an exchange's first byte


class CrashMarker:
    """A process's note of what it is reading."""

    def __init__(self, path: Path) -> None:
        """Raises DiskFault here, and not later: a mapped hole in a full disk would kill us."""
        self._file = ""
        self._descriptor = -1
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _CLOEXEC, 0o600)
            _lock(self._descriptor)
            if os.write(self._descriptor, _PLACE.pack(0, os.getpid()).ljust(_SIZE, b"\0")) < _SIZE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._memory = mmap.mmap(self._descriptor, _SIZE)
        except OSError as error:
            if self._descriptor >= 0:
                os.close(self._descriptor)
            raise disk_fault(f"{path} could not be written", error) from error

    def set(self, file: str, start: int) -> None:
        """From now on the exchange at byte `start` of `file` is being read."""
        if file != self._file:
            name = file.encode()[: _SIZE - _NAME_AT - 1]
            self._memory[_NAME_AT : _NAME_AT + len(name) + 1] = name + b"\0"
            self._file = file
        _BEGIN.pack_into(self._memory, 0, start + 1)

    def clear(self) -> None:
        """Nothing is being read."""
        _BEGIN.pack_into(self._memory, 0, 0)

    def close(self) -> None:
        self._memory.close()
        os.close(self._descriptor)


@contextlib.contextmanager
def marked(path: Path) -> Iterator[CrashMarker]:
    """A marker for as long as the block runs; what outlives it is a death."""
    marker = CrashMarker(path)
    try:
        yield marker
    finally:
        marker.close()
        delete_if_possible(path)


def read_marker(path: Path) -> Place | None:
    """File and first byte of the exchange that was being read, if any."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if len(content) < _SIZE:
        return None
    place, _ = _PLACE.unpack_from(content)
    if not place:
        return None
    name = content[_NAME_AT:].split(b"\0", 1)[0].decode("utf-8", "replace")
    return name, place - 1


def note_death(folder: Path, place: Place) -> bool:
    """A reader of this exchange has died; whether that makes it deadly.

    A disk that takes no note loses a count, which costs one more reader.
    """
    with contextlib.suppress(OSError), (folder / _DEATHS).open("a", encoding="utf-8") as file:
        file.write(f"{place[1]} {place[0]}\n")
    return place in _deadly(folder)


def move_deaths(folder: Path, moved: Callable[[Place], Place]) -> None:
    """The archive was written again, and exchanges lie elsewhere. A disk that does not take the
    new notes loses counts, which costs two more readers."""
    try:
        lines = (folder / _DEATHS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    pairs = (line.partition(" ") for line in lines)
    places = [moved((name, int(start))) for start, _, name in pairs if start.isdecimal()]
    with contextlib.suppress(OSError):
        text = "".join(f"{start} {name}\n" for name, start in places)
        (folder / _DEATHS).write_text(text, encoding="utf-8")


def _deadly(folder: Path) -> frozenset[Place]:
    try:
        lines = (folder / _DEATHS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    pairs = Counter(line.partition(" ") for line in lines)
    return frozenset(
        (name, int(start))
        for (start, _, name), deaths in pairs.items()
        if deaths >= _DEADLY and start.isdecimal()
    )


def read_deadly(folder: Path) -> frozenset[Place]:
    """Exchanges that nobody may read any more, when all processes of the last run have ended.

    What its node was reading when it died counts; its workers die with it, whatever they read.
    """
    for path in sorted(folder.glob("marker-*")):
        _await_end(path)
        place = read_marker(path)
        if place is None:
            continue
        path.unlink()  # before it counts: a kill between the two must not make one death two
        if not path.name.rpartition("-")[2].startswith("w"):
            note_death(folder, place)
    return _deadly(folder)


def delete_markers(folder: Path, *, but: str) -> None:
    """The notes of other runs than `but`, and of the start, are not needed any more."""
    for path in folder.glob("marker-*"):
        if not path.name.startswith(f"marker-{but}-") or path.name.endswith("-start"):
            path.unlink(missing_ok=True)


if sys.platform == "win32":  # there all happens in one process, and the collection's lock is enough

    def _lock(descriptor: int) -> None:
        pass

    def _await_end(path: Path) -> None:
        pass

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _await_end(path: Path) -> None:
        """Return when the process that holds a marker is gone. Its node is, so it is going."""
        with path.open("rb") as file:
            try:
                _lock(file.fileno())
            except BlockingIOError:
                _, process = _PLACE.unpack(file.read(_PLACE.size).ljust(_PLACE.size, b"\0"))
                if process in (0, os.getpid()):
                    return
                if sys.platform != "linux":  # there the kernel kills it, see worker_main.py
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
