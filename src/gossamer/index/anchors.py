"""Under which words do other pages link to this one?

Every (target, anchor, linking host) that is met is a line of one file, `index/anchors`, only
appended to; the same line twice is no harm. What came last is remembered in memory too, so that a
page has the anchors that are known when it is first written. All others reach it in a late pass,
which reads the file and says which entries lack words: those are written again.

An entry has the 200 anchors with the most linking hosts, ties in the order of the alphabet; so
which they are hangs on the lines alone, not on when they came. Whether the entry has their words is
told by one number of it, the digest of the set of words (`words_number`).

    line: key (16 bytes), host (the 8 bytes of a key that name it), length (2), anchor in UTF-8
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from gossamer.errors import CorruptFile
from gossamer.index.appended import open_appended
from gossamer.index.folder import REBUILD
from gossamer.index.shares import Share, shares_of
from gossamer.index.words import GAP

MOST: Final = 200  # anchors of a page
MAX_CHARS: Final = 500  # of an anchor
KEY_BYTES: Final = 16
HOST_BYTES: Final = 8

_HEAD: Final = struct.Struct(f">{KEY_BYTES}s{HOST_BYTES}sH")
_REMEMBERED: Final = 100_000  # lines, at about 300 bytes each; twice that at the most
# Of the file, in memory at once during a late pass: 560,000 short lines take 220 MB.
_BYTES_A_SHARE: Final = 20_000_000


class AnchorBook:
    """The anchors of one collection."""

    def __init__(self, path: Path, length: int = 0) -> None:
        """Goes on behind the first `length` bytes; what follows them was never committed."""
        self._path = path
        self._file = open_appended(path, length)
        self.length = length
        self._recent: dict[bytes, dict[str, bytes]] = {}  # target: anchor: hosts, one after another
        self._before: dict[bytes, dict[str, bytes]] = {}
        self._waiting: list[bytes] = []  # lines
        self._lines = 0
        self.is_whole = length == 0  # whether all lines are remembered
        # Pages with lines that came after they were written; of use while all are remembered.
        self._unsettled: set[bytes] = set()

    def note(self, target: bytes, anchor: str, source: bytes) -> None:
        """A page links to another. Links of a page to itself, and without words, do not count."""
        if not anchor or target == source:
            return
        anchor, host = anchor[:MAX_CHARS], source[:HOST_BYTES]
        known = self._recent.get(target) or self._recall(target)
        hosts = known.get(anchor, b"")
        if hosts and (hosts == host or _has(hosts, host)):
            return
        known[anchor] = hosts + host
        if self.is_whole:
            self._unsettled.add(target)
        text = anchor.encode(errors="replace")
        self._waiting.append(_HEAD.pack(target, host, len(text)) + text)
        self._lines += 1

    def settle(self, target: bytes) -> tuple[str, ...]:
        """The anchors of a page that are remembered, as many as an entry has. The page is written
        with them now."""
        self._unsettled.discard(target)  # first: what another thread notes meanwhile is unsettled
        found = self._recent.get(target) or self._before.get(target)
        return chosen(dict(found)) if found else ()  # another thread may be noting

    def _recall(self, target: bytes) -> dict[str, bytes]:
        if self._lines >= _REMEMBERED:
            if self._before:
                self.is_whole, self._unsettled = False, set()
            self._recent, self._before, self._lines = {}, self._recent, 0
        found = self._recent[target] = self._before.get(target, {})
        self._lines += len(found)  # what is carried over takes room, too
        return found

    def sync(self) -> int:
        """Make all lines last that were noted until now; how many bytes they are."""
        lines, self._waiting = self._waiting, []  # another thread may go on noting
        self.length += self._file.write(b"".join(lines))
        self._file.flush()
        os.fsync(self._file.fileno())
        return self.length

    def close(self) -> None:
        """What was not synced may be lost."""
        with suppress(OSError):
            self._file.close()

    def shares(self) -> Iterator[Share]:
        """The shares in which all anchors can be read in bounded memory."""
        return shares_of(0 if self.is_whole else self.length, _BYTES_A_SHARE)

    def read(self, share: Share) -> Mapping[bytes, Mapping[str, bytes]]:
        """All anchors of a share of the pages, with their hosts; without pages that were written
        with all they have, where that is known. Sync first. Raises CorruptFile."""
        if self.is_whole:
            keys, recent, before = list(self._unsettled), self._recent, self._before
            return {key: dict(recent.get(key) or before[key]) for key in keys}
        pages: dict[bytes, dict[str, bytes]] = {}
        for key, host, anchor in _lines_of(self._path, self.length):
            if share.of > 1 and not share.holds(key):
                continue
            anchors = pages.setdefault(key, {})
            hosts = anchors.get(anchor, b"")
            if not hosts:
                anchors[anchor] = host
            elif hosts != host and not _has(hosts, host):
                anchors[anchor] = hosts + host
        return pages


def chosen(anchors: Mapping[str, bytes]) -> tuple[str, ...]:
    """The anchors that an entry has, of all with their hosts."""
    if len(anchors) == 1:
        return tuple(anchors)
    return tuple(sorted(anchors, key=lambda anchor: (-len(anchors[anchor]), anchor))[:MOST])


def words_number(anchors: str) -> int:
    """A number of 64 bits for the set of the words of anchors in normal form; 0 for none."""
    words = sorted(set(anchors.split()) - {GAP})
    if not words:
        return 0
    digest = hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1


def _has(hosts: bytes, host: bytes) -> bool:
    return any(hosts.startswith(host, start) for start in range(0, len(hosts), HOST_BYTES))


def _lines_of(path: Path, length: int) -> Iterator[tuple[bytes, bytes, str]]:
    """The lines in the first `length` bytes."""
    with path.open("rb") as file:
        at = 0
        while at < length:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                raise CorruptFile(path, at, f"it ends in the middle of a line; {REBUILD}")
            key, host, size = _HEAD.unpack(head)
            yield key, host, file.read(size).decode(errors="replace")
            at += _HEAD.size + size
