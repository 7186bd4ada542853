"""Read the decompressed bytes of a file, and know at which offset each record begins.

A gzip file is a chain of *members*. Ours hold one record each; those of other writers hold one,
several, or a part of one. A plain file is treated as one endless member. Invariant: a member is
read only after the one before it is used up and found whole, so a damaged member never hides a
sound record before it. Memory is bounded by what the caller asks for, never by what a file claims.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple, Protocol

from isal import isal_zlib

from gossamer.errors import CorruptFile, UsageError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP_MAGIC: Final = b"\x1f\x8b"
_LZ4_MAGIC: Final = b"\x04\x22\x4d\x18"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_DICTIONARY_MAGIC: Final = b"\x5d\x2a\x4d\x18"  # a skippable frame, first in .warc.zst
_MAX_DICTIONARY_BYTES: Final = 1 << 25
_ZSTD_LIMITS: Final[dict[int, int]] = {
    zstd.DecompressionParameter.window_log_max: 27
}  # at most 128 MB
_VERSION: Final = re.compile(rb"WARC/\d+\.\d+[ \t]*\r*\n")
_READ_BYTES: Final = 1 << 16
_MEMBER_COST: Final = 1024  # bytes that could be inflated in the 10 us that a member takes
_INFLATE_BYTES: Final = 1 << 18  # output limit of one step, whatever the input


class ByteSource(Protocol):
    """A thing to read with a name for messages: a path, or a part of another file."""

    def open(self, mode: Literal["rb"]) -> BinaryIO: ...


class Supply(Protocol):
    """The decompressed bytes of one member after the other."""

    start: int  # offset of the member in the file
    end: int  # offset of its end; known once `more` has returned nothing
    work: int  # bytes into and out of the decompressor, in all members so far

    def more(self) -> bytes:
        """The next bytes of the member; empty when it is used up. Raises CorruptFile."""
        ...

    def begin(self) -> bool:
        """Move to the next member; False at the end of the file."""
        ...

    def skip(self, count: int) -> int:
        """Skip up to `count` bytes of the member without reading. Return how many; 0 if they must
        be read.
        """
        ...


class PlainSupply:
    """A file without compression: one member."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file = file
        self._file.seek(start)
        self.start = self.end = start
        self.work = 0
        self._is_begun = False

    def more(self) -> bytes:
        found = self._file.read(_READ_BYTES)
        self.end += len(found)
        return found

    def begin(self) -> bool:
        was_begun, self._is_begun = self._is_begun, True
        return not was_begun

    def skip(self, count: int) -> int:
        count = min(count, self._file.seek(0, os.SEEK_END) - self.end)
        self._file.seek(self.end + max(0, count))
        self.end += max(0, count)
        return max(0, count)


class GzipSupply:
    """A file of gzip members. The checksum of a member is checked before its end is reported."""

    def __init__(self, path: Path | ByteSource, file: BinaryIO, start: int) -> None:
        self._path = path
        self._file = file
        self._file.seek(start)
        self._packed = b""  # read from the file, not yet inflated
        self._inflater: isal_zlib.Decompress | None = None
        self.start = self.end = start
        self.work = 0

    def begin(self) -> bool:
        if not self._packed:
            self._packed = self._file.read(_READ_BYTES)
        if not self._packed:
            return False
        self.start = self.end
        self._inflater = isal_zlib.decompressobj(31)
        return True

    def skip(self, count: int) -> int:  # noqa: ARG002 - it must be inflated to be skipped
        return 0

    def more(self) -> bytes:
        inflater = self._inflater
        while inflater is not None:
            if not self._packed:
                self._packed = self._file.read(_READ_BYTES)
            given = len(self._packed)
            try:
                found: bytes = inflater.decompress(self._packed, _INFLATE_BYTES)
            except isal_zlib.IsalError as error:  # type: ignore[misc]  # the stub is wrong
                self.work += given
                what = f"the gzip member that begins here is damaged ({error})"
                raise CorruptFile(self._path, self.start, what) from None
            self._packed = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            self.end += given - len(self._packed)
            self.work += given - len(self._packed) + len(found)
            if inflater.eof:
                self._inflater = None
            if found:
                return found
            if not given and not inflater.eof:
                what = "the gzip member that begins here is cut off by the end of the file"
                raise CorruptFile(self._path, self.start, what)
            inflater = self._inflater
        return b""


class ZstdSupply:
    """A file of Zstandard frames. The first may carry a dictionary for the others."""

    def __init__(
        self, path: Path | ByteSource, file: BinaryIO, start: int, dictionary: Dictionary
    ) -> None:
        self._path = path
        self._file = file
        self._dictionary = dictionary.words
        self.start = self.end = max(start, dictionary.end)
        self._file.seek(self.start)
        self._packed = b""
        self._inflater: zstd.ZstdDecompressor | None = None
        self.work = 0

    def begin(self) -> bool:
        self._packed = self._packed or self._file.read(_READ_BYTES)
        if not self._packed:
            return False
        self.start = self.end
        self._inflater = zstd.ZstdDecompressor(zstd_dict=self._dictionary, options=_ZSTD_LIMITS)
        return True

    def skip(self, count: int) -> int:  # noqa: ARG002 - it must be inflated to be skipped
        return 0

    def more(self) -> bytes:
        while (inflater := self._inflater) is not None:
            if inflater.needs_input and not self._packed:
                self._packed = self._file.read(_READ_BYTES)
                if not self._packed:
                    what = "the zstd frame that begins here is cut off by the end of the file"
                    raise CorruptFile(self._path, self.start, what)
            given, self._packed = self._packed, b""
            try:
                found: bytes = inflater.decompress(given, _INFLATE_BYTES)
            except zstd.ZstdError as error:
                what = f"the zstd frame that begins here is damaged ({error})"
                raise CorruptFile(self._path, self.start, what) from None
            if inflater.eof:
                self._inflater = None
                self._packed = inflater.unused_data
            self.end += len(given) - len(self._packed)
            self.work += len(given) - len(self._packed) + len(found)
            if found:
                return found
        return b""


class Dictionary(NamedTuple):
    """The dictionary at the start of a .warc.zst file, used by all frames after it, and the offset
    of the first frame. Two kilobytes can expand to a dictionary of 32 MB, so callers that open a
    file often read it once.
    """

    words: zstd.ZstdDict | None
    end: int


def read_dictionary(path: Path | ByteSource, file: BinaryIO) -> Dictionary:
    """The dictionary of a file, if it has one. Raises CorruptFile."""
    file.seek(0)
    if file.read(4) != _ZSTD_DICTIONARY_MAGIC:
        return Dictionary(None, 0)
    size = int.from_bytes(file.read(4), "little")
    if size > _MAX_DICTIONARY_BYTES:
        raise CorruptFile(path, 0, f"its dictionary is said to be {size} bytes long")
    data = file.read(size)
    try:
        if data.startswith(_ZSTD_MAGIC):
            inflater = zstd.ZstdDecompressor(options=_ZSTD_LIMITS)
            data = inflater.decompress(data, _MAX_DICTIONARY_BYTES)
        return Dictionary(zstd.ZstdDict(data), 8 + size)
    except (zstd.ZstdError, ValueError) as error:
        raise CorruptFile(path, 0, f"its dictionary cannot be used ({error})") from None


class Stream:
    """Decompressed bytes with a position. A record may continue in the next member."""

    def __init__(self, path: Path | ByteSource, supply: Supply) -> None:
        self.path = path
        self._supply = supply
        self._buffer = b""
        self._at = 0  # in the buffer
        self._place = 0  # decompressed bytes used since the stream was opened
        self._member_place = 0  # `_place` at which the current member begins
        self._members = 0  # begun so far
        self.fault: CorruptFile | None = None  # nothing can be read after it
        # of the last record; reading can continue after it
        self.wrong_length: CorruptFile | None = None
        self.line_ends = 0  # after the last record
        self._fault_ahead: CorruptFile | None = None  # after the content of the buffer
        self._begun: tuple[int, int] | None = None  # offset and position of the current record

    @property
    def place(self) -> int:
        """Decompressed bytes used so far."""
        return self._place

    @property
    def work(self) -> int:
        """The cost of reading so far, in bytes. Plain bytes cost nearly nothing."""
        return self._supply.work + _MEMBER_COST * self._members

    def find_record(self) -> tuple[int, bool] | None:
        """Move to the next byte, into the next member if needed; None at the end of the file.

        Returns the offset of the member that holds the byte, and whether it is the first byte of
        the member. Raises the fault that ended the record before.
        """
        if self.fault is not None or self.wrong_length is not None:
            raise self.fault or self.wrong_length  # type: ignore[misc]  # one of them is there
        while not self._grow():
            if self.fault is not None:
                raise self.fault
            self._member_place = self._place
            if not self._begin():
                return None
        return self._supply.start, self._place == self._member_place

    def end_record(self) -> int | None:
        """Skip the line ends after a record, but no byte of the next member.

        Returns the offset after the member if the record, or a fault, ends it, else None.
        """
        self.line_ends = 0
        while self._grow():
            rest = self._buffer[self._at : self._at + _READ_BYTES]
            ends = len(rest) - len(rest.lstrip(b"\r\n"))
            self.line_ends += rest.count(b"\n", 0, ends)
            self._use(ends)
            if ends < len(rest):
                return None
        return self._supply.end

    def note_begin(self, offset: int) -> None:
        """Record that a record begins at the next byte. `offset` is that of the record or its
        member.
        """
        self._begun = offset, self._place - self._member_place

    @property
    def begun_at(self) -> int:
        """The offset of the current record, or of one that could not be read to its end."""
        assert self._begun is not None, "asked while a record is read"
        return self._begun[0]

    @property
    def unread(self) -> tuple[int, int] | None:
        """Offset, and position within the member, of a record that could not be read to its end."""
        return self._begun

    def end_begun(self) -> bool:
        """End the current record. Return whether it is whole."""
        if self.fault is not None or self.wrong_length is not None:
            return False
        self._begun = None
        return True

    def note_wrong_length(self, fault: CorruptFile, *, is_packed: bool) -> None:
        """Record that the current record has another length than it says. In a compressed file
        reading continues; in a plain file the caller searches for the next record (`search.py`),
        which is cheaper there.
        """
        if is_packed:
            self.wrong_length = fault
        else:
            self.fault = fault

    def peek(self, size: int) -> bytes:
        """Up to `size` of the next bytes, fewer if the member ends. They stay unread."""
        while len(self._buffer) - self._at < size and self._fault_ahead is None:
            try:
                found = self._supply.more()
            except CorruptFile as fault:
                self._fault_ahead = fault  # raised when the bytes before it are used up
                break
            if not found:
                break
            self._buffer, self._at = self._buffer[self._at :] + found, 0
        return self._buffer[self._at : self._at + size]

    def give_back(self, data: bytes) -> None:
        """Return the last bytes to the stream. They must be of the current member."""
        if len(data) <= self._place - self._member_place:
            self._buffer, self._at = data + self._buffer[self._at :], 0
            self._place -= len(data)

    def skip_to_version(self) -> bool:
        """Move to the next line that could begin a WARC record; False if there is none.

        Used after a record with invalid content in a sound compressed file.
        """
        while self._grow() or self._cross():
            found = _VERSION.search(self._buffer, self._at)
            if found is not None:
                self._use(found.start() - self._at)
                return True
            kept = max(self._at, len(self._buffer) - 15)  # a line may continue in the next piece
            rest = self._buffer[kept:]
            self._use(len(self._buffer) - self._at)
            if rest and self._grow():
                self._buffer = rest + self._buffer
                self._place -= len(rest)
        return False

    def line(self, limit: int) -> bytes:
        """The next line with its line end; without one if the file ends or `limit` is exceeded."""
        parts: list[bytes] = []
        size = 0
        while size < limit and (self._grow() or self._cross()):
            at = self._buffer.find(b"\n", self._at, self._at + limit - size)
            until = at + 1 if at >= 0 else min(len(self._buffer), self._at + limit - size)
            parts.append(self._buffer[self._at : until])
            size += len(parts[-1])
            self._use(len(parts[-1]))
            if at >= 0:
                break
        return b"".join(parts)

    def take(self, size: int, keep: int) -> tuple[bytes, int]:
        """Use `size` bytes and keep the first `keep` of them. Also return how many there were.

        Bytes that are not kept are not even read in a plain file. Otherwise a file full of starts
        of endless records would be read once for each of them.
        """
        parts: list[bytes] = []
        used = kept = 0
        while used < size:
            if kept >= keep and self._at >= len(self._buffer) and self.fault is None:
                skipped = self._supply.skip(size - used)
                self._place += skipped
                used += skipped
            if used >= size or not (self._grow() or self._cross()):
                break
            step = min(len(self._buffer) - self._at, size - used)
            if kept < keep:
                parts.append(self._buffer[self._at : self._at + min(step, keep - kept)])
                kept += len(parts[-1])
            self._use(step)
            used += step
        return b"".join(parts), used

    def _grow(self) -> bool:
        """Put at least one byte of the current member into the buffer; False at its end."""
        if self._at < len(self._buffer):
            return True
        if self.fault is not None:
            return False
        self._at, self._buffer, self.fault = 0, b"", self._fault_ahead
        if self.fault is not None:
            return False
        try:
            self._buffer = self._supply.more()
        except CorruptFile as fault:
            self.fault = fault
        return bool(self._buffer)

    def _cross(self) -> bool:
        """Continue in the next member; False at the end of the file."""
        while self.fault is None and self._begin():
            self._member_place = self._place
            if self._grow():
                return True
        return False

    def _begin(self) -> bool:
        self._members += 1
        return self._supply.begin()

    def _use(self, count: int) -> None:
        self._at += count
        self._place += count


def open_stream(
    path: Path | ByteSource, file: BinaryIO, start: int, dictionary: Dictionary | None = None
) -> tuple[Stream, bool]:
    """A stream from byte `start` on, and whether it is compressed. Raises UsageError for lz4.

    The `dictionary` of the file is read unless it is given.
    """
    if start > (size := file.seek(0, os.SEEK_END)):
        raise CorruptFile(path, size, f"the file ends here, but byte {start} was requested")
    file.seek(start)
    magic = file.read(4)
    if magic == _LZ4_MAGIC and start == 0:
        raise UsageError(
            f"{path} is compressed with lz4; decompress it, or compress it with gzip, first"
        )
    if magic in (_ZSTD_MAGIC, _ZSTD_DICTIONARY_MAGIC):
        known = read_dictionary(path, file) if dictionary is None else dictionary
        return Stream(path, ZstdSupply(path, file, start, known)), True
    if magic.startswith(GZIP_MAGIC):
        return Stream(path, GzipSupply(path, file, start)), True
    return Stream(path, PlainSupply(file, start)), False
