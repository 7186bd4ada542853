"""The texts of pages, for snippets and for rewriting entries: one append-only file.

Each text is compressed separately, so that one read and 20 microseconds restore it. Its entry has
its position. Bytes that no entry refers to are garbage, and are dropped when the index is
rewritten.
"""

from __future__ import annotations

import codecs
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from isal import isal_zlib

from gossamer.errors import CorruptFile
from gossamer.index.appended import open_appended
from gossamer.index.entry import TextPosition
from gossamer.index.folder import REBUILD
from gossamer.index.prepared import pack_text, unpack_text

# Read at once of a text of which only the start may be needed: about 40 KB of text.
_PIECE_BYTES: Final = 16 * 2**10


class TextWriter:
    """Appends texts. They are on disk after `sync`."""

    def __init__(self, path: Path, length: int = 0) -> None:
        """Continue after the first `length` bytes; later bytes were never committed."""
        self._file = open_appended(path, length)
        self.length = length

    def append(self, text: str) -> TextPosition:
        return self.append_packed(pack_text(text))

    def append_packed(self, data: bytes) -> TextPosition:
        """The same for a packed text."""
        place = TextPosition(self.length, len(data))
        self._file.write(data)
        self.length += len(data)
        return place

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Unsynced data may be lost."""
        with suppress(OSError):
            self._file.close()


class TextReader:
    """Reads texts while they are being written. For many threads at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("rb", buffering=0)
        self._lock = threading.Lock()
        weakref.finalize(self, self._file.close)  # closed with the last view that uses it

    def read(self, place: TextPosition) -> str:
        """The text at a position. Raises CorruptFile."""
        data = self._bytes(place.offset, place.length)
        try:
            return unpack_text(data)
        except isal_zlib.error as error:  # type: ignore[misc]  # its stub calls it an instance
            raise self._fault(place, str(error)) from None

    def pieces(self, place: TextPosition) -> Iterator[str]:
        """The same text in pieces from its start, read on demand.

        Ten hits may have ten megabytes of text, and most snippets come from the first 20 kB. Raises
        CorruptFile when it reaches damage; damage after the pieces taken is not noticed.
        """
        if place.length <= _PIECE_BYTES:
            yield self.read(place)
            return
        inflating = isal_zlib.decompressobj()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            for start in range(0, place.length, _PIECE_BYTES):
                data = self._bytes(place.offset + start, min(_PIECE_BYTES, place.length - start))
                yield decoder.decode(inflating.decompress(data))
        except isal_zlib.error as error:  # type: ignore[misc]  # its stub calls it an instance
            raise self._fault(place, str(error)) from None
        if not inflating.eof:
            raise self._fault(place, "the text has no end")

    def _bytes(self, offset: int, length: int) -> bytes:
        with self._lock:
            self._file.seek(offset)
            return self._file.read(length)

    def _fault(self, place: TextPosition, found: str) -> CorruptFile:
        return CorruptFile(self._path, place.offset, f"{found}; {REBUILD}")
