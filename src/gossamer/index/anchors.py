"""The anchor texts with which other pages link to a page.

Every new (target, anchor, linking host) is a line of one append-only file, `index/anchors`; a
repeated line does no harm. Recent lines are cached in memory, older ones are looked up on disk
(`sorted_lines.py`), so a page is first written with all anchors known by then. Later ones reach it
in a late pass, which reads all lines and finds the entries that lack words: those are rewritten.

An entry has the 200 anchors with the most linking hosts, ties in alphabetical order, so the choice
depends only on the lines, not on their order. One number of the entry, the digest of the set of
words (`words_number`), tells whether it has their words.
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
from gossamer.index.anchor_lines import HEAD, AnchorLines
from gossamer.index.anchor_pack import pack_anchors
from gossamer.index.appended import open_appended
from gossamer.index.batches import ALL, Share, shares_of
from gossamer.index.folder import REBUILD
from gossamer.index.words import distinct
from gossamer.urls.keys import KEY_BYTES

MOST: Final = 200  # anchors of a page

_REMEMBERED: Final = 100_000  # lines, about 200 bytes each; at most twice that
_REMEMBERED_BYTES: Final = 20_000_000  # of lines; at most twice that
_MOST_UNSETTLED: Final = (
    200_000  # pages whose anchor texts are not in the index yet, about 100 bytes each
)
_READ_BYTES: Final = 4_000_000  # of the file at once, when it is sorted again
_BYTES_A_SHARE: Final = 8_000_000  # of lines: their pages take at most 60 MB of memory
_ENTRIES_A_SHARE: Final = 50_000

AnchorCounts = Mapping[str, int]  # anchor -> number of hosts that link with it


class _Sorted(Protocol):
    """The interface of `sorted_lines.py`, which needs NumPy; small crawls end without it."""

    def add(self, lines: Sequence[bytes]) -> None: ...

    def find(self, keys: Collection[bytes], share: Share = ALL) -> set[bytes]: ...

    def close(self) -> None: ...


class AnchorStore:
    """The anchors of one collection."""

    def __init__(
        self,
        path: Path,
        length: int = 0,
        remember: int = _REMEMBERED,
        crc32: int | None = None,
    ) -> None:
        """Continue after the first `length` bytes; later bytes were never committed.

        `crc32` is that of these bytes, None if unknown.
        """
        self._path = path
        self._file = open_appended(path, length)
        self.length = length
        self.crc32 = crc32 if length else 0
        self._remember = remember
        # Recent lines, and those before them. Another thread may replace them: read once.
        self._known: tuple[AnchorLines, AnchorLines | None] = AnchorLines(), None
        self._waiting: list[bytes] = []  # lines that are not in the file yet
        self._unsorted: list[bytes] = []  # lines that are neither sorted nor recent
        self._unread = length  # bytes of the file whose lines are in neither
        self._sorted: _Sorted | None = None
        self.is_whole = length == 0  # whether all lines are in memory
        # Pages with lines that came after they were written, some of which may be repeats. None if
        # unknown, after an existing file was opened.
        self._unsettled: set[bytes] | None = None if length else set()

    def note(self, target: bytes, anchor: str, source: bytes) -> None:
        """Record a link between two pages. Links of a page to itself, and without text, do not
        count.
        """
        self.note_all(pack_anchors(((target, anchor),)), source)

    def note_all(self, anchors: bytes, source: bytes) -> None:
        """The same for all links of a page, packed by `anchor_pack.py`."""
        recent, before = self._known
        data, targets = recent.note(anchors, source, before)
        if targets:
            self._waiting.append(data)
            if self._unsettled is not None:
                self._unsettled.update(targets)
            if len(recent) >= self._remember or recent.size_bytes >= _REMEMBERED_BYTES:
                self._forget()

    def settle(self, keys: Collection[bytes]) -> dict[bytes, tuple[str, ...]]:
        """The anchors known now, limited to those of an entry; pages without any are left out. The
        caller writes the pages with them. Raises CorruptFile, OSError.
        """
        keys = frozenset(keys)  # every line found is looked up among them
        if self._unsettled is not None:
            self._unsettled.difference_update(keys)  # first: links recorded meanwhile are unsettled
        known, found = self._known, {}  # read before checking whether they are all
        older = {} if self.is_whole else self._older(keys)
        for key in keys:
            lines = older.get(key)
            counts = _remembered(known, key) if lines is None else _all_counts(lines, known, key)
            if counts:
                found[key] = chosen(counts)
        return found

    def sync(self) -> int:
        """Make all recorded lines durable. Return their number of bytes."""
        lines, self._waiting = self._waiting, []  # another thread may continue to record
        data = b"".join(lines)
        self.length += self._file.write(data)
        if self.crc32 is not None:
            self.crc32 = crc32_after(data, self.crc32)
        self._file.flush()
        os.fsync(self._file.fileno())
        return self.length

    def close(self) -> None:
        """Unsynced lines may be lost."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):  # a full disk, which was reported before, fails again
            if self._sorted is not None:
                self._sorted.close()

    def shares(self, entries: int) -> Iterator[Share]:
        """The shares in which all anchors, and this many entries, can be read in bounded memory."""
        of_lines = 0 if self.is_whole else -(-self.length // _BYTES_A_SHARE)
        of_entries = -(-entries // _ENTRIES_A_SHARE)
        return shares_of(max(of_lines, of_entries), 1)

    def read(self, share: Share, keys: Collection[bytes]) -> dict[bytes, AnchorCounts]:
        """All anchors of some pages, which are all in that share, without pages that are known to
        be complete. Raises CorruptFile, OSError.
        """
        known = self._known
        wanted = keys if self._unsettled is None else self._unsettled.intersection(keys)
        if not self.is_whole:
            self._keep_for_sorting()
            return {key: _counts(lines) for key, lines in self._older(wanted, share).items()}
        return {key: counts for key in wanted if (counts := _remembered(known, key))}

    def _forget(self) -> None:
        """Start a new cache of recent lines; the oldest lines are dropped from memory."""
        recent, before = self._known
        if before is not None:
            self.is_whole = False
        if self._unsettled is not None and len(self._unsettled) > _MOST_UNSETTLED:
            self._unsettled = None
        self._keep_for_sorting()
        self._known = AnchorLines(), recent

    def _keep_for_sorting(self) -> None:
        if data := self._known[0].take():
            self._unsorted.append(data)

    def _older(self, keys: Collection[bytes], share: Share = ALL) -> dict[bytes, list[bytes]]:
        """The distinct lines of some pages that are on disk."""
        pages: dict[bytes, list[bytes]] = {}
        for line in self._in_order().find(keys, share):
            pages.setdefault(line[:KEY_BYTES], []).append(line)
        return pages

    def _in_order(self) -> _Sorted:
        if self._sorted is None:
            from gossamer.index.sorted_lines import SortedLines  # loads NumPy: see `_Sorted`

            self._sorted = SortedLines(self._path.parent)
            for lines in _batches_in(self._path, self._unread):
                self._sorted.add(lines)
        while self._unsorted:  # another thread may add to them
            self._sorted.add(_cut(self._unsorted[0])[0])
            del self._unsorted[0]
        return self._sorted


def chosen(anchors: AnchorCounts) -> tuple[str, ...]:
    """The anchors that an entry gets, of all."""
    if max(anchors.values()) == 1:  # most come from one host only
        return tuple(sorted(anchors)[:MOST])
    return tuple(sorted(anchors, key=lambda anchor: (-anchors[anchor], anchor))[:MOST])


def words_number(anchors: str) -> int:
    """A 64-bit number for the set of the normalised words of anchors; 0 for none."""
    words = distinct(anchors)
    if not words:
        return 0
    digest = hashlib.blake2b(words, digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1


def _counts(lines: Iterable[bytes]) -> AnchorCounts:
    """The anchors of one page from its distinct lines."""
    texts = Counter([line[HEAD.size :] for line in lines])
    return {text.decode(errors="replace"): count for text, count in texts.items()}


def _remembered(known: tuple[AnchorLines, AnchorLines | None], key: bytes) -> AnchorCounts:
    """The anchors of a page from the cache; each line is in one of the two."""
    counts: dict[str, int] = {}
    for lines in known:
        if lines is not None:
            lines.count(key, counts)
    return counts


def _all_counts(
    older: Iterable[bytes], known: tuple[AnchorLines, AnchorLines | None], key: bytes
) -> AnchorCounts:
    """The anchors of a page from its distinct lines on disk and from the cache, which may
    overlap.
    """
    recent, before = known
    return _counts({*older, *recent.find(key), *(before.find(key) if before is not None else ())})


def _batches_in(path: Path, length: int) -> Iterator[list[bytes]]:
    """The lines in the first `length` bytes, in batches. Raises CorruptFile."""
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
    """The whole lines at the start, and the offset of their end."""
    lines, at = [], 0
    last = len(data) - HEAD.size
    while at <= last:
        end = at + HEAD.size + (data[at + 24] << 8) + data[at + 25]
        if end > len(data):
            break
        lines.append(data[at:end])
        at = end
    return lines, at
