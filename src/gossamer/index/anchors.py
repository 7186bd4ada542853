"""Under which words do other pages link to this one?

Every (target, anchor, linking host) that is met is a line of one file, `index/anchors`, only
appended to; the same line twice is no harm. What came last is remembered in memory, what came
before that is looked up on the disk (`sorted_lines.py`); so a page is first written with all
anchors that are known by then. Those that come later reach it in a late pass, which goes through
all lines and says which entries lack words: those are written again.

An entry has the 200 anchors with the most linking hosts, ties in the order of the alphabet; so
which they are hangs on the lines alone, not on when they came. Whether the entry has their words is
told by one number of it, the digest of the set of words (`words_number`).
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from gossamer.base.checked_lines import crc32 as crc32_after
from gossamer.errors import CorruptFile
from gossamer.index.anchor_lines import HEAD, Lines
from gossamer.index.anchor_pack import KEY_BYTES, pack_anchors
from gossamer.index.appended import open_appended
from gossamer.index.batches import ALL, Share, shares_of
from gossamer.index.folder import REBUILD
from gossamer.index.words import distinct

MOST: Final = 200  # anchors of a page

_REMEMBERED: Final = 100_000  # lines, at about 200 bytes each; twice that at the most
_REMEMBERED_BYTES: Final = 20_000_000  # of lines; twice that at the most
_MOST_UNSETTLED: Final = 200_000  # pages, at about 100 bytes each
_READ_BYTES: Final = 4_000_000  # of the file at once, when it is sorted again
_BYTES_A_SHARE: Final = 8_000_000  # of lines: their pages take 60 MB of memory at the most
_ENTRIES_A_SHARE: Final = 50_000

Counts = Mapping[str, int]  # anchors, each with the number of hosts that link under it


class _Sorted(Protocol):
    """What `sorted_lines.py` has: that needs NumPy, and small crawls end without."""

    def add(self, lines: Sequence[bytes]) -> None: ...

    def find(self, keys: Collection[bytes], share: Share = ALL) -> set[bytes]: ...

    def close(self) -> None: ...


class AnchorBook:
    """The anchors of one collection."""

    def __init__(
        self,
        path: Path,
        length: int = 0,
        remember: int = _REMEMBERED,
        crc32: int | None = None,
    ) -> None:
        """Goes on behind the first `length` bytes; what follows them was never committed.

        `crc32` is that of these bytes, None where nobody knows it.
        """
        self._path = path
        self._file = open_appended(path, length)
        self.length = length
        self.crc32 = crc32 if length else 0
        self._remember = remember
        # Lines that came last, and those before them. Another thread may exchange them: read once.
        self._known: tuple[Lines, Lines | None] = Lines(), None
        self._waiting: list[bytes] = []  # lines that are not in the file
        self._unsorted: list[bytes] = []  # lines that neither are in order nor came last
        self._unread = length  # bytes of the file of which neither has the lines
        self._sorted: _Sorted | None = None
        self.is_whole = length == 0  # whether all lines are remembered
        # Pages with lines that came after they were written, some of which may have come before as
        # well; None where that is not known: who opens a book has not seen them come.
        self._unsettled: set[bytes] | None = None if length else set()

    def note(self, target: bytes, anchor: str, source: bytes) -> None:
        """A page links to another. Links of a page to itself, and without words, do not count."""
        self.note_all(pack_anchors(((target, anchor),)), source)

    def note_all(self, anchors: bytes, source: bytes) -> None:
        """The same for all links of a page, as `anchor_pack.py` packs them."""
        recent, before = self._known
        data, targets = recent.note(anchors, source, before)
        if targets:
            self._waiting.append(data)
            if self._unsettled is not None:
                self._unsettled.update(targets)
            if len(recent) >= self._remember or recent.size_bytes >= _REMEMBERED_BYTES:
                self._forget()

    def settle(self, keys: Collection[bytes]) -> dict[bytes, tuple[str, ...]]:
        """The anchors of pages that are known now, as many as an entry has; pages without any are
        left out. The pages are written with them now. Raises CorruptFile, OSError."""
        keys = frozenset(keys)  # every line found is looked up among them
        if self._unsettled is not None:
            self._unsettled.difference_update(keys)  # first: what is noted meanwhile is unsettled
        known, found = self._known, {}  # before it is asked whether they are all
        older = {} if self.is_whole else self._older(keys)
        for key in keys:
            lines = older.get(key)
            counts = _remembered(known, key) if lines is None else _all_counts(lines, known, key)
            if counts:
                found[key] = chosen(counts)
        return found

    def sync(self) -> int:
        """Make all lines last that were noted until now; how many bytes they are."""
        lines, self._waiting = self._waiting, []  # another thread may go on noting
        data = b"".join(lines)
        self.length += self._file.write(data)
        if self.crc32 is not None:
            self.crc32 = crc32_after(data, self.crc32)
        self._file.flush()
        os.fsync(self._file.fileno())
        return self.length

    def close(self) -> None:
        """What was not synced may be lost."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):  # a full disk, which was met before, is met once more
            if self._sorted is not None:
                self._sorted.close()

    def shares(self, entries: int) -> Iterator[Share]:
        """The shares in which all anchors, and so many entries, can be read in bounded memory."""
        of_lines = 0 if self.is_whole else -(-self.length // _BYTES_A_SHARE)
        of_entries = -(-entries // _ENTRIES_A_SHARE)
        return shares_of(max(of_lines, of_entries), 1)

    def read(self, share: Share, keys: Collection[bytes]) -> dict[bytes, Counts]:
        """All anchors of some pages, which are all of that share; without pages that were written
        with all they have, where that is known. Raises CorruptFile, OSError."""
        known = self._known
        wanted = keys if self._unsettled is None else self._unsettled.intersection(keys)
        if not self.is_whole:
            self._put_aside()
            return {key: _counts(lines) for key, lines in self._older(wanted, share).items()}
        return {key: counts for key in wanted if (counts := _remembered(known, key))}

    def _forget(self) -> None:
        """Begin anew with lines to remember; those that came before the last ones are let go."""
        recent, before = self._known
        if before is not None:
            self.is_whole = False
        if self._unsettled is not None and len(self._unsettled) > _MOST_UNSETTLED:
            self._unsettled = None
        self._put_aside()
        self._known = Lines(), recent

    def _put_aside(self) -> None:
        if data := self._known[0].take():
            self._unsorted.append(data)

    def _older(self, keys: Collection[bytes], share: Share = ALL) -> dict[bytes, list[bytes]]:
        """The distinct lines of some pages that are on the disk."""
        pages: dict[bytes, list[bytes]] = {}
        for line in self._in_order().find(keys, share):
            pages.setdefault(line[:KEY_BYTES], []).append(line)
        return pages

    def _in_order(self) -> _Sorted:
        if self._sorted is None:
            from gossamer.index.sorted_lines import SortedLines  # with NumPy: see `_Sorted`

            self._sorted = SortedLines(self._path.parent)
            for lines in _bunches_in(self._path, self._unread):
                self._sorted.add(lines)
        while self._unsorted:  # another thread may add to them
            self._sorted.add(_cut(self._unsorted[0])[0])
            del self._unsorted[0]
        return self._sorted


def chosen(anchors: Counts) -> tuple[str, ...]:
    """The anchors that an entry has, of all."""
    if max(anchors.values()) == 1:  # most are known to one host alone
        return tuple(sorted(anchors)[:MOST])
    return tuple(sorted(anchors, key=lambda anchor: (-anchors[anchor], anchor))[:MOST])


def words_number(anchors: str) -> int:
    """A number of 64 bits for the set of the words of anchors in normal form; 0 for none."""
    words = distinct(anchors)
    if not words:
        return 0
    digest = hashlib.blake2b(words, digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1


def _counts(lines: Iterable[bytes]) -> Counts:
    """The anchors of one page by its distinct lines."""
    texts = Counter([line[HEAD.size :] for line in lines])
    return {text.decode(errors="replace"): count for text, count in texts.items()}


def _remembered(known: tuple[Lines, Lines | None], key: bytes) -> Counts:
    """The anchors of a page by what is remembered; each line is in one of the two."""
    counts: dict[str, int] = {}
    for lines in known:
        if lines is not None:
            lines.count(key, counts)
    return counts


def _all_counts(older: Iterable[bytes], known: tuple[Lines, Lines | None], key: bytes) -> Counts:
    """The anchors of a page by its distinct lines on the disk and by what is remembered, which may
    overlap."""
    recent, before = known
    return _counts({*older, *recent.find(key), *(before.find(key) if before is not None else ())})


def _bunches_in(path: Path, length: int) -> Iterator[list[bytes]]:
    """The lines in the first `length` bytes, some at a time. Raises CorruptFile."""
    with path.open("rb") as file:
        start, rest = 0, b""
        while start + len(rest) < length:
            data = rest + file.read(min(_READ_BYTES, length - start - len(rest)))
            if len(data) == len(rest):
                raise CorruptFile(path, start, f"it ends before byte {length}; {REBUILD}")
            lines, at = _cut(data)
            yield lines
            start, rest = start + at, data[at:]
        if rest:
            raise CorruptFile(path, start, f"it ends in the middle of a line; {REBUILD}")


def _cut(data: bytes) -> tuple[list[bytes], int]:
    """The whole lines at the beginning, and where they end."""
    lines, at = [], 0
    last = len(data) - HEAD.size
    while at <= last:
        end = at + HEAD.size + (data[at + 24] << 8) + data[at + 25]
        if end > len(data):
            break
        lines.append(data[at:end])
        at = end
    return lines, at
