"""Which exchange was being read when a process died?

A page can kill its reader: a parser that crashes, memory that runs out. The exchange is in the
archive by then, and reading it again at the next start would kill that, too. So a worker notes, in
a small file that it has mapped into memory, where the exchange lies that it is about to read, and
takes the note away afterwards. The note outlives the process; it costs half a microsecond.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path
from typing import Final

_SIZE: Final = 512
_PLACE: Final = struct.Struct("<Q")  # the exchange's first byte plus 1; 0 when none is read
_NAME_AT: Final = 16


class Marker:
    """A worker's note of what it is reading."""

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(descriptor, _SIZE)
            self._memory = mmap.mmap(descriptor, _SIZE)
        finally:
            os.close(descriptor)
        self._file = ""
        self.clear()

    def set(self, file: str, start: int) -> None:
        """From now on the exchange at byte `start` of `file` is being read."""
        if file != self._file:
            name = file.encode()[: _SIZE - _NAME_AT - 1]
            self._memory[_NAME_AT : _NAME_AT + len(name) + 1] = name + b"\0"
            self._file = file
        _PLACE.pack_into(self._memory, 0, start + 1)

    def clear(self) -> None:
        """Nothing is being read."""
        _PLACE.pack_into(self._memory, 0, 0)

    def close(self) -> None:
        self._memory.close()


def read_marker(path: Path) -> tuple[str, int] | None:
    """File and first byte of the exchange that was being read, if any."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if len(content) < _SIZE:
        return None
    (place,) = _PLACE.unpack_from(content)
    if not place:
        return None
    name = content[_NAME_AT:].split(b"\0", 1)[0].decode("utf-8", "replace")
    return name, place - 1


def read_deadly(folder: Path) -> frozenset[tuple[str, int]]:
    """Exchanges that killed two processes: one in a crawl, and one that read it at a start.

    One death proves nothing: somebody may have killed the process in that very moment. So a start
    reads what was being read, under a note of its own, and only that note condemns.
    """
    found = (read_marker(path) for path in folder.glob("marker-*-start"))
    return frozenset(marker for marker in found if marker is not None)


def delete_markers(folder: Path, *, but: str) -> None:
    """What the notes of other runs than `but` say is committed: they are not needed any more."""
    for path in folder.glob("marker-*"):
        if not path.name.startswith(f"marker-{but}-") or path.name.endswith("-start"):
            path.unlink(missing_ok=True)
