"""Of which earlier page is this one a duplicate, by its HTML?

Pages are judged in the order in which they were fetched. A page whose HTML is similar enough to
that of an earlier page points to it. Otherwise it is a first page, to which later ones may point.
Pages that point to another are never pointed to, so every duplicate is proven to be similar to a
page that stays.

    sketch -> pages with equal numbers -> length -> byte counts -> the HTML of both, compared
              (band_index.py)                       (similar.py)

A page takes 290 bytes of memory while it is a first page.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gossamer.duplicates.band_index import BandIndex
from gossamer.duplicates.similar import (
    ByteCounts,
    byte_counts,
    common_share,
    least_lost,
    may_be_similar,
    most_lost,
)
from gossamer.duplicates.sketch import BANDS, SKETCH_BYTES, bands_in, length_in

PAGE_BYTES: Final = 24  # moment and key: they sort by the moment
_MOST_COMPARED: Final = 8  # earlier pages that are compared with one page
# Of both pages, over all comparisons of a page; the last may exceed it. So pages of 60 KB are
# compared with all 8.
_MOST_COMPARED_BYTES: Final = 1_000_000
LEAST_EQUAL: Final = 5  # numbers of a sketch; of 99 in 100 similar pairs 9 or more are equal
# In large pages of one template the byte counts differ little, so that they reject none; and among
# many such pages some have five equal numbers by chance. Each comparison of those took 5 to 11 ms.
_LARGE_BYTES: Final = 150_000
_LEAST_EQUAL_LARGE: Final = 8
_GROWTH: Final = 1.5
_SHARE_PER_EQUAL: Final = 3.0  # a third of the numbers equal allows all the loss there may be
_MOST_COUNTED: Final = 8_192  # first pages whose byte counts are held, at 1 KB each

ReadHtml = Callable[[bytes], bytes | None]


class Sketched(NamedTuple):
    """A page by the moment of its fetch and its key, as bytes, with its sketch."""

    page: bytes
    sketch: bytes


class DuplicateVerdict(NamedTuple):
    """What was found about a page; `first` is empty for a first page."""

    page: bytes
    first: bytes = b""
    similarity: float = 0.0


class Judge:
    """Knows the first pages of a collection."""

    def __init__(self, at_least: float, read: ReadHtml) -> None:
        """`read` gives the HTML of a page, or None if there is none any more."""
        self._at_least = at_least
        self._read = read
        self._index = BandIndex()
        self._pages = np.zeros(1024, f"S{PAGE_BYTES}").view(np.uint8).reshape(-1, PAGE_BYTES)
        self._lengths = np.zeros(1024, np.uint32)
        self._count = 0
        self._counts: OrderedDict[bytes, ByteCounts] = OrderedDict()
        self._bytes_left = 0  # of those that may be compared with the page that is judged
        self.compared = 0  # pairs of pages

    @property
    def size_bytes(self) -> int:
        """Memory of the first pages."""
        return self._index.size_bytes + self._pages.nbytes + self._lengths.nbytes

    def load(self, pages: Sequence[Sketched]) -> None:
        """These are first pages, as an earlier run has found."""
        self._add(pages)

    def judge(self, pages: Sequence[Sketched]) -> Iterator[DuplicateVerdict]:
        """Judge pages that are in the order of their moments. Take all verdicts."""
        if not pages:
            return
        start = self._count
        bands = self._add(pages)
        for number, (one, found) in enumerate(
            zip(pages, self._index.find(bands, LEAST_EQUAL), strict=True), start
        ):
            verdict = self._verdict(one, found)
            if verdict.first:
                self._index.drop(number)
            yield verdict
        self._index.purge()

    def remove(self, page: bytes) -> bool:
        """A page has left, or is judged again. Whether it was a first page."""
        wanted = np.frombuffer(page, np.uint8)
        same = (self._pages[: self._count] == wanted).all(1).nonzero()[0].tolist()
        firsts = [number for number in same if self._index.is_first(number)]
        for number in firsts:
            self._index.drop(number)
        return bool(firsts)

    def _add(self, pages: Sequence[Sketched]) -> NDArray[np.uint32]:
        self._grow(self._count + len(pages))
        numbers = np.arange(self._count, self._count + len(pages), dtype=np.uint32)
        bands = np.array([bands_in(one.sketch) for one in pages], np.uint32).reshape(-1, BANDS)
        joined = b"".join(one.page for one in pages)
        self._pages[numbers] = np.frombuffer(joined, np.uint8).reshape(-1, PAGE_BYTES)
        self._lengths[numbers] = [length_in(one.sketch) for one in pages]
        self._count += len(pages)
        self._index.add(numbers, bands)
        return bands

    def _verdict(self, one: Sketched, found: Iterable[tuple[int, int]]) -> DuplicateVerdict:
        length, html, looked_at = length_in(one.sketch), None, 0
        self._bytes_left = _MOST_COMPARED_BYTES
        for number, equal in found:
            if looked_at == _MOST_COMPARED or self._bytes_left <= 0:
                break
            if not self._index.is_first(number):
                continue
            if not may_be_similar(length, int(self._lengths[number]), self._at_least):
                continue
            if length > _LARGE_BYTES and equal < _LEAST_EQUAL_LARGE:
                break  # the others have no more
            first = self._pages[number].tobytes()
            if first >= one.page:
                continue
            html = self._read(one.page) if html is None else html
            if html is None:
                break
            looked_at += 1
            if share := self._share(one.page, html, number, equal):
                return DuplicateVerdict(one.page, first, share)
        return DuplicateVerdict(one.page)

    def _share(self, page: bytes, html: bytes, number: int, equal: int) -> float:
        """How similar a page is to a first page; 0.0 if it is no duplicate.

        The fewer numbers are equal, the less may the byte counts differ. On 9,000 pages of manuals
        this spares one comparison in eight, and 6 of 3,429 duplicates are not found.
        """
        first = self._pages[number].tobytes()
        counts, others = self._counts_of(page, html), self._counts_of(first)
        if others is None or counts is None:
            return 0.0
        most = most_lost(len(html), int(self._lengths[number]), self._at_least)
        if least_lost(counts, others) > most * min(1.0, _SHARE_PER_EQUAL * equal / BANDS):
            return 0.0
        other = self._read(first)
        if other is None:
            return 0.0
        self.compared += 1
        self._bytes_left -= len(other) + len(html)
        return common_share(other, html, self._at_least)

    def _counts_of(self, page: bytes, html: bytes | None = None) -> ByteCounts | None:
        if page in self._counts:
            self._counts.move_to_end(page)
            return self._counts[page]
        html = self._read(page) if html is None else html
        if html is None:
            return None
        counts = self._counts[page] = byte_counts(html)
        if len(self._counts) > _MOST_COUNTED:
            self._counts.popitem(last=False)
        return counts

    def _grow(self, count: int) -> None:
        if count > len(self._lengths):
            size = max(count, int(len(self._lengths) * _GROWTH))
            pages = np.zeros((size, PAGE_BYTES), np.uint8)
            pages[: self._count] = self._pages[: self._count]
            lengths = np.zeros(size, np.uint32)
            lengths[: self._count] = self._lengths[: self._count]
            self._pages, self._lengths = pages, lengths


def share_numbers(rows: Sequence[Sketched], firsts: Sequence[Sketched]) -> Iterator[Sketched]:
    """Those of the rows that have enough numbers in common with one of these first pages."""
    whole = [row for row in rows if len(row.sketch) == SKETCH_BYTES]
    if not whole:
        return
    bands = np.array([bands_in(row.sketch) for row in whole], np.uint32)
    is_like = np.zeros(len(whole), np.bool_)
    for one in firsts:
        is_like |= (bands == bands_in(one.sketch)).sum(1) >= LEAST_EQUAL
    for number in is_like.nonzero()[0].tolist():
        yield whole[number]
