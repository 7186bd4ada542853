"""Find the next record after damage, at a limited cost.

Each position that could begin a record is tried: a record begins there if a whole one can be read.
A hostile file may consist of nothing but such positions, each of which reads on to the end of the
file. So the bytes read without result (`Stream.work`), here and by the caller, are counted. When
they exceed a multiple of the file size, the rest of the file is given up. Random damage stays far
below that limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from isal import isal_zlib

from gossamer.archive.record import next_record
from gossamer.archive.streams import ByteSource, Dictionary, open_stream
from gossamer.errors import CorruptFile

_GZIP: Final = b"\x1f\x8b\x08"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_MARKS: Final = {b"\x1f\x8b": _GZIP, b"\x28\xb5": _ZSTD, b"\x5d\x2a": _ZSTD}  # by the first bytes
_SEARCH_BYTES: Final = 1 << 20
_LOOKED_AT: Final = 1024  # compressed bytes; the tables before the first byte take up to 320
_BEGUN: Final = re.compile(rb"[\r\n]*(?:WARC/|WARC?\Z|WA?\Z|\Z|[!-VX-~])")  # or a line of ARC
_FREE_BYTES: Final = 64 * 2**20
_MOST_TIMES: Final = 16  # the size of the file; text is compressed to a fifth


class Search:
    """Searches for records in one file, at a limited cost. `scanned` and `tried` are both the
    file.
    """

    def __init__(
        self,
        source: Path | ByteSource,
        scanned: BinaryIO,
        tried: BinaryIO,
        dictionary: Dictionary | None = None,
    ) -> None:
        self._source = source
        self._dictionary = dictionary
        self._scanned = scanned
        self._tried = tried
        self._left = _FREE_BYTES + _MOST_TIMES * scanned.seek(0, os.SEEK_END)
        scanned.seek(0)
        self._packed = _MARKS.get(scanned.read(2))

    def after(self, offset: int, in_vain: int) -> int | None:
        """The first offset after `offset` at which a record begins; None if there is none.

        The caller has read `in_vain` bytes without result. Raises CorruptFile when the limit is
        exceeded.
        """
        self._spend(in_vain, offset)
        for place in self._places(offset + 1):
            if self._begins_record(place):
                return place
        return None

    def affords(self, size: int) -> bool:
        """Whether `size` more bytes may be read without result. If so, they are counted."""
        if size > self._left:
            return False
        self._left -= size
        return True

    def _places(self, start: int) -> Iterator[int]:
        """The positions from `start` on at which a record could begin."""
        mark = self._packed or b"\nWARC/"
        self._scanned.seek(start)
        base, window = start, self._scanned.read(_SEARCH_BYTES)
        while window:
            for hit in re.finditer(re.escape(mark), window):
                if self._packed != _GZIP or _could_begin(window[hit.start() :][:_LOOKED_AT]):
                    yield base + hit.start() + (self._packed is None)
            kept = window[-len(mark) + 1 :]
            fresh = self._scanned.read(_SEARCH_BYTES)
            base += len(window) - len(kept)
            window = kept + fresh if fresh else b""

    def _begins_record(self, place: int) -> bool:
        stream, is_packed = open_stream(self._source, self._tried, place, self._dictionary)
        try:
            record = next_record(stream, is_packed, place, 0)
            is_found = record is not None and record.is_whole
        except CorruptFile:
            is_found = False
        if not is_found:
            self._spend(stream.work, place)
        return is_found

    def _spend(self, size: int, offset: int) -> None:
        self._left -= size
        if self._left < 0:
            what = "the file has too much damage; the rest of it, from here on, is skipped"
            raise CorruptFile(self._source, offset, what)


def _could_begin(packed: bytes) -> bool:
    """Whether a gzip member could hold a record. Its first bytes decide that in 2 us."""
    try:
        found: bytes = isal_zlib.decompressobj(31).decompress(packed, 16)
    except isal_zlib.IsalError:  # type: ignore[misc]  # the stub is wrong
        return False
    return _BEGUN.match(found) is not None
