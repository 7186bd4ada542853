"""Record which exchange a process is reading, so that a crash can be traced to a page.

A page can kill its reader: the parser crashes, or memory runs out. The exchange is in the archive
by then, and each new reader would die of it again. So a reader writes the position of the exchange
into a small memory-mapped file before it reads, and clears it afterwards. The file survives the
process. One write costs half a microsecond.

One death proves nothing, because a process killed from outside may have been reading any page. So
each death is counted (`note_death`) and the exchange is read once more. An exchange that two
readers died on is called deadly and is never read again.

A marker file is locked while its process lives. A starting node uses the lock to tell a dead
process from one that is still ending.
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

_CLOEXEC: Final = getattr(os, "O_CLOEXEC", 0)  # missing on Windows
_SIZE: Final = 512
_PLACE: Final = struct.Struct("<QQ")  # offset of the exchange plus 1 (0: none), process id
_BEGIN: Final = struct.Struct("<Q")  # the first of the two fields
_NAME_AT: Final = 16
_DEADLY: Final = 2  # deaths after which an exchange is not read again
# file in run/: one line per death, with the offset and the file of the exchange
_DEATHS: Final = "deaths"

ExchangePosition = tuple[str, int]  # name of a WARC file, offset of an exchange


class CrashMarker:
    """The marker file of one process."""

    def __init__(self, path: Path) -> None:
        """Create and map the file. Raises DiskFault now: writing to a hole of a mapped file kills
        the process when the disk is full.
        """
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
            raise disk_fault(f"cannot write {path}", error) from error

    def set(self, file: str, start: int) -> None:
        """Mark the exchange at byte `start` of `file` as being read."""
        if file != self._file:
            name = file.encode()[: _SIZE - _NAME_AT - 1]
            self._memory[_NAME_AT : _NAME_AT + len(name) + 1] = name + b"\0"
            self._file = file
        _BEGIN.pack_into(self._memory, 0, start + 1)

    def clear(self) -> None:
        """Mark that no exchange is being read."""
        _BEGIN.pack_into(self._memory, 0, 0)

    def close(self) -> None:
        self._memory.close()
        os.close(self._descriptor)


@contextlib.contextmanager
def marked(path: Path) -> Iterator[CrashMarker]:
    """Provide a marker while the block runs. A marker that remains afterwards means a death."""
    marker = CrashMarker(path)
    try:
        yield marker
    finally:
        marker.close()
        delete_if_possible(path)


def read_marker(path: Path) -> ExchangePosition | None:
    """File and offset of the exchange that was being read, or None."""
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


def note_death(folder: Path, place: ExchangePosition) -> bool:
    """Count the death of a reader of this exchange. Return whether the exchange is now deadly.

    If the disk refuses the write, one count is lost, and one more reader may die.
    """
    with contextlib.suppress(OSError), (folder / _DEATHS).open("a", encoding="utf-8") as file:
        file.write(f"{place[1]} {place[0]}\n")
    return place in _deadly(folder)


def move_deaths(folder: Path, moved: Callable[[ExchangePosition], ExchangePosition]) -> None:
    """Update the positions of counted deaths after the archive was rewritten. If the disk refuses
    the write, the counts are lost, and two more readers may die.
    """
    try:
        lines = (folder / _DEATHS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    pairs = (line.partition(" ") for line in lines)
    places = [moved((name, int(start))) for start, _, name in pairs if start.isdecimal()]
    with contextlib.suppress(OSError):
        text = "".join(f"{start} {name}\n" for name, start in places)
        (folder / _DEATHS).write_text(text, encoding="utf-8")


def _deadly(folder: Path) -> frozenset[ExchangePosition]:
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


def read_deadly(folder: Path) -> frozenset[ExchangePosition]:
    """The deadly exchanges. Call this when all processes of the last run have ended.

    The exchange that the node was reading when it died counts as one death. Markers of workers do
    not count: workers die with their node, whatever they read.
    """
    for path in sorted(folder.glob("marker-*")):
        _await_end(path)
        place = read_marker(path)
        if place is None:
            continue
        path.unlink()  # before the death is counted: a kill between the two must not count it twice
        if not path.name.rpartition("-")[2].startswith("w"):
            note_death(folder, place)
    return _deadly(folder)


def delete_markers(folder: Path, *, but: str) -> None:
    """Delete the markers of all runs but `but`."""
    for path in folder.glob("marker-*"):
        if not path.name.startswith(f"marker-{but}-") or path.name.endswith("-start"):
            path.unlink(missing_ok=True)


# on Windows there is one process, and the lock of the collection is enough
if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        pass

    def _await_end(path: Path) -> None:
        pass

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _await_end(path: Path) -> None:
        """Return when the process that holds the marker has ended. It ends soon after its node."""
        with path.open("rb") as file:
            try:
                _lock(file.fileno())
            except BlockingIOError:
                _, process = _PLACE.unpack(file.read(_PLACE.size).ljust(_PLACE.size, b"\0"))
                if process in (0, os.getpid()):
                    return
                if sys.platform != "linux":  # on Linux the kernel kills it, see worker_main.py
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
