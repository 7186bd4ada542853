"""Anchor lines sorted by key, so that those of some pages are found among millions.

Lines come in batches. Each batch is sorted and appended to one unnamed file: its content is also in
the file of anchors (`anchors.py`), and is sorted again when that is opened. Memory holds a few
numbers per batch.

    batch: for each line 4 bytes of its key, in order; for each its start, and the end of the last
           line (4 bytes each); the lines

A page is searched in every batch, but many pages at once: a batch of 50,000 lines costs 0.2 ms for
a thousand pages. So a crawl with ten million links pays 40 ms for each commit. The 4 bytes are of
the lower half of the key, which also defines shares.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.index.batches import ALL, Share
from gossamer.urls.keys import KEY_BYTES

_SHORT: Final = slice(8, 12)  # of a key
_NUMBER_BYTES: Final = 4
# One read takes as long as copying this many bytes: nearer lines are read together.
_NEAR_BYTES: Final = 20_000

LineNumbers = NDArray[np.uint32]
_Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Batch:
    """The position of a batch in the file."""

    offset: int
    lines: int

    @property
    def starts(self) -> int:
        """The offset of the start positions of lines."""
        return self.offset + _NUMBER_BYTES * self.lines

    @property
    def data(self) -> int:
        """The offset of the lines."""
        return self.starts + _NUMBER_BYTES * (self.lines + 1)


@dataclass(frozen=True, slots=True)
class _Spans:
    """Some lines of a batch: from each of `firsts` to before that of `lasts`, and the start of all
    lines of the batch.
    """

    firsts: _Places
    lasts: _Places
    starts: LineNumbers

    def __iter__(self) -> Iterator[list[int]]:
        """For each span the starts of its lines, and the end of the last."""
        for first, last in zip(self.firsts.tolist(), self.lasts.tolist(), strict=True):
            yield self.starts[first : last + 1].tolist()

    @property
    def whole(self) -> tuple[int, int]:
        """The bytes from the first span to the last."""
        return int(self.starts[self.firsts[0]]), int(self.starts[self.lasts[-1]])

    @property
    def are_near(self) -> bool:
        begin, end = self.whole
        return end - begin <= _NEAR_BYTES * len(self.firsts)


class SortedLines:
    """All lines that were added. For one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # closed by `close`
        self._length = 0
        self._batches: list[_Batch] = []
        # number of shares -> the boundaries in each batch
        self._cuts: dict[int, list[_Places]] = {}
        self.data_bytes = 0  # of all lines

    def close(self) -> None:
        """Free the disk space."""
        self._file.close()

    def add(self, lines: Sequence[bytes]) -> None:
        """Add a batch of lines; each begins with its key. Raises OSError."""
        if not lines:
            return
        shorts = _shorts_of(lines)
        order = np.argsort(shorts, kind="stable")
        ordered = [lines[number] for number in order.tolist()]
        starts = np.zeros(len(lines) + 1, np.uint32)
        np.cumsum(np.fromiter(map(len, ordered), np.uint32, len(ordered)), out=starts[1:])
        self._file.seek(self._length)
        self._file.write(b"".join((shorts[order].tobytes(), starts.tobytes(), *ordered)))
        batch = _Batch(self._length, len(lines))
        self._batches.append(batch)
        self._cuts = {}
        self._length = batch.data + int(starts[-1])
        self.data_bytes += int(starts[-1])

    def find(self, keys: Collection[bytes], share: Share = ALL) -> set[bytes]:
        """All lines of some pages, which are all in that share."""
        found: set[bytes] = set()
        wanted = np.unique(_shorts_of(keys))
        for batch, cuts in zip(self._batches, self._cuts_of(share.of), strict=True):
            begin, end = int(cuts[share.number]), int(cuts[share.number + 1])
            shorts = self._numbers(batch.offset + _NUMBER_BYTES * begin, end - begin)
            firsts = np.searchsorted(shorts, wanted, "left")
            lasts = np.searchsorted(shorts, wanted, "right")
            is_there = firsts < lasts
            if is_there.any():
                starts = self._numbers(batch.starts + _NUMBER_BYTES * begin, end - begin + 1)
                lines = self._lines(batch, _Spans(firsts[is_there], lasts[is_there], starts))
                found.update(line for line in lines if line[:KEY_BYTES] in keys)
        return found

    def _cuts_of(self, shares: int) -> list[_Places]:
        """For each batch the line at which each share begins, and the end of the last."""
        if shares == 1:
            return [np.array((0, batch.lines)) for batch in self._batches]
        if shares not in self._cuts:
            firsts = [Share(number, shares).first >> 32 for number in range(1, shares)]
            bounds = np.array(firsts, np.uint32)
            self._cuts[shares] = [self._cut(batch, bounds) for batch in self._batches]
        return self._cuts[shares]

    def _cut(self, batch: _Batch, bounds: LineNumbers) -> _Places:
        shorts = self._numbers(batch.offset, batch.lines)
        return np.concatenate(((0,), np.searchsorted(shorts, bounds), (batch.lines,)))

    def _lines(self, batch: _Batch, spans: _Spans) -> Iterator[bytes]:
        begin, end = spans.whole
        are_near = spans.are_near
        data = self._read(batch.data + begin, end - begin) if are_near else b""
        for starts in spans:
            if not are_near:
                begin = starts[0]
                data = self._read(batch.data + begin, starts[-1] - begin)
            for start, stop in pairwise(starts):
                yield data[start - begin : stop - begin]

    def _numbers(self, offset: int, count: int) -> LineNumbers:
        return np.frombuffer(self._read(offset, _NUMBER_BYTES * count), np.uint32)

    def _read(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size)


def _shorts_of(texts: Iterable[bytes]) -> LineNumbers:
    """The sort keys of keys, or lines."""
    joined = b"".join([text[_SHORT] for text in texts])
    return np.frombuffer(joined, ">u4").astype(np.uint32)
