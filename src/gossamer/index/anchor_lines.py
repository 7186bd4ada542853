"""Anchor lines in memory, each once, by page.

A page has about twenty links, half of which are known, so this is called for every link of a crawl:
25 microseconds per page, and about 200 bytes of memory per line.

    line: key (16 bytes), host (the 8 bytes of a key that name it), length (2), anchor in UTF-8
"""

from __future__ import annotations

import struct
from typing import Final

from gossamer.index.anchor_pack import unpack_anchors
from gossamer.urls.keys import KEY_BYTES

HOST_BYTES: Final = 8
HEAD: Final = struct.Struct(f">{KEY_BYTES}s{HOST_BYTES}sH")


class AnchorLines:
    """Lines of about the same time. One thread may add while another reads."""

    def __init__(self) -> None:
        # Page -> its line, or its lines if there are several: most pages have one, and an empty
        # dictionary takes more memory than a line.
        self._pages: dict[bytes, bytes | dict[bytes, None]] = {}
        self._untaken: list[bytes] = []
        self._count = 0
        self.size_bytes = 0  # of all lines

    def __len__(self) -> int:
        return self._count

    def note(
        self, anchors: bytes, source: bytes, before: AnchorLines | None
    ) -> tuple[bytes, list[bytes]]:
        """Add the links of a page, packed by `anchor_pack.py`. Return the lines that are new here
        and in `before`, concatenated, and the target of each. Links of a page to itself do not
        count. Raises ValueError for invalid bytes; then some links may be added.
        """
        host, lines, targets = source[:HOST_BYTES], [], []
        for target, text in unpack_anchors(anchors):
            if target == source:
                continue
            line = HEAD.pack(target, host, len(text)) + text
            if before is not None and before._has(target, line):
                continue
            if self._add(target, line):
                lines.append(line)
                targets.append(target)
        data = b"".join(lines)
        self._untaken.append(data)
        self._count += len(lines)
        self.size_bytes += len(data)
        return data, targets

    def count(self, key: bytes, counts: dict[str, int]) -> None:
        """Add the anchors of a page to `counts`, each with the number of linking hosts."""
        for line in self.find(key):
            anchor = line[HEAD.size :].decode(errors="replace")
            counts[anchor] = counts.get(anchor, 0) + 1

    def find(self, key: bytes) -> list[bytes]:
        """The lines of a page, unordered."""
        known = self._pages.get(key, {})
        return [known] if isinstance(known, bytes) else list(known)

    def take(self) -> bytes:
        """All lines that were not taken before, concatenated."""
        untaken, self._untaken = self._untaken, []
        return b"".join(untaken)

    def _has(self, target: bytes, line: bytes) -> bool:
        known = self._pages.get(target)
        return known is not None and (line == known if isinstance(known, bytes) else line in known)

    def _add(self, target: bytes, line: bytes) -> bool:
        """Add a line. Return whether it is new here."""
        known = self._pages.setdefault(target, line)
        if known is line:
            return True
        if isinstance(known, bytes):
            if known == line:
                return False
            self._pages[target] = {known: None, line: None}
            return True
        is_new = line not in known
        known[line] = None
        return is_new
