"""Lines of anchors in memory, each once, and those of a page at hand.

A page brings some twenty links, half of which were met before, so this is asked for every link of a
crawl. There is a twin in C (`_lines.c`), which takes 3 microseconds a page where this takes 25, and
70 bytes a line where this takes 300.

    line: key (16 bytes), host (the 8 bytes of a key that name it), length (2), anchor in UTF-8
"""

from __future__ import annotations

import struct
from typing import Final, Protocol

from gossamer.base import native
from gossamer.index.anchor_pack import KEY_BYTES, unpack_anchors

HOST_BYTES: Final = 8
HEAD: Final = struct.Struct(f">{KEY_BYTES}s{HOST_BYTES}sH")


class Lines(Protocol):
    """What both forms can do. A thread may note while another asks."""

    def __len__(self) -> int: ...

    @property
    def size_bytes(self) -> int:
        """Of all lines."""

    def note(
        self, anchors: bytes, source: bytes, before: Lines | None, /
    ) -> tuple[bytes, list[bytes]]:
        """Add the links of a page, as `anchor_pack.py` packs them; the lines that are new here and
        in `before`, one after another, and the target of each. Links of a page to itself do not
        count. Raises ValueError where these are no links; then some may be added."""

    def count(self, key: bytes, counts: dict[str, int], /) -> None:
        """Add the anchors of a page to `counts`, each with the number of hosts that link so."""

    def find(self, key: bytes, /) -> list[bytes]:
        """The lines of a page, in no order."""

    def take(self) -> bytes:
        """All lines that were not taken before, one after another."""


class LinesInPython:
    """The form that is always there."""

    def __init__(self) -> None:
        self._pages: dict[bytes, dict[bytes, None]] = {}
        self._untaken: list[bytes] = []
        self._count = 0
        self.size_bytes = 0

    def __len__(self) -> int:
        return self._count

    def note(
        self, anchors: bytes, source: bytes, before: Lines | None, /
    ) -> tuple[bytes, list[bytes]]:
        host, lines, targets = source[:HOST_BYTES], [], []
        old = before._pages if isinstance(before, LinesInPython) else {}
        for target, text in unpack_anchors(anchors):
            if target == source:
                continue
            line = HEAD.pack(target, host, len(text)) + text
            known = self._pages.setdefault(target, {})
            if line not in known and line not in old.get(target, ()):
                known[line] = None
                lines.append(line)
                targets.append(target)
        data = b"".join(lines)
        self._untaken.append(data)
        self._count += len(lines)
        self.size_bytes += len(data)
        return data, targets

    def count(self, key: bytes, counts: dict[str, int], /) -> None:
        for line in self.find(key):
            anchor = line[HEAD.size :].decode(errors="replace")
            counts[anchor] = counts.get(anchor, 0) + 1

    def find(self, key: bytes, /) -> list[bytes]:
        return list(self._pages.get(key, ()))

    def take(self) -> bytes:
        untaken, self._untaken = self._untaken, []
        return b"".join(untaken)


_c: Final = native.load("gossamer.index._lines")


def no_lines() -> Lines:
    """Lines in the form that runs here, none yet."""
    return LinesInPython() if _c is None else _c.Lines()
