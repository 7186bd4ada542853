"""How do the bytes of a file reach the reader, and where in the file does a record begin?

A gzip file is a chain of *members*; ours hold one record each, other people's hold one, several, or
a part of one. A plain file is treated as one endless member. Invariant: nothing of a member is read
before the one before it is used up and found whole, so a damaged member never hides a sound record
that stands before it. Memory is bounded by what the caller asks for, never by what a file claims.
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
_ZSTD_DICTIONARY_MAGIC: Final = b"\x5d\x2a\x4d\x18"  # a frame to be skipped, in .warc.zst first
_MAX_DICTIONARY_BYTES: Final = 1 << 25
_ZSTD_LIMITS: Final[dict[int, int]] = {
    zstd.DecompressionParameter.window_log_max: 27
}  # 128 MB at the most
_VERSION: Final = re.compile(rb"WARC/\d+\.\d+[ \t]*\r*\n")
_READ_BYTES: Final = 1 << 16
_MEMBER_COST: Final = 1024  # bytes that could be inflated in the 10 us or so that a member takes
_INFLATE_BYTES: Final = 1 << 18  # at most this much comes out of one step, whatever went in


class Source(Protocol):
    """Something to read that has a name for people: a path, or a part of another file."""

    def open(self, mode: Literal["rb"]) -> BinaryIO: ...


class Supply(Protocol):
    """The inflated bytes of one member after the other."""

    start: int  # where in the file the member begins
    end: int  # where it ends; known once `more` has returned nothing
    work: int  # bytes that went into the packer, and that came out, in all members so far

    def more(self) -> bytes:
        """The next bytes of the member; empty when it is used up. Raises CorruptFile."""
        ...

    def begin(self) -> bool:
        """Go on to the next member; False at the end of the file."""
        ...

    def skip(self, count: int) -> int:
        """Pass over up to so many bytes of the member unread; how many, 0 where it must be read."""
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
    """A file of gzip members; each member's checksum is tested before its end is reported."""

    def __init__(self, path: Path | Source, file: BinaryIO, start: int) -> None:
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

    def skip(self, count: int) -> int:  # noqa: ARG002 - it must be inflated to be passed over
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
    """A file of Zstandard frames, of which the first may carry a dictionary for the others."""

    def __init__(
        self, path: Path | Source, file: BinaryIO, start: int, dictionary: Dictionary
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

    def skip(self, count: int) -> int:  # noqa: ARG002 - it must be inflated to be passed over
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
    """What a .warc.zst file may begin with, for all frames behind it; where the first of them
    begins. Two kilobytes can be a dictionary of 32 MB: who opens a file often reads it once."""

    words: zstd.ZstdDict | None
    end: int


def read_dictionary(path: Path | Source, file: BinaryIO) -> Dictionary:
    """The dictionary of a file, or that it has none. Raises CorruptFile."""
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
    """Inflated bytes with a place in them. A record may reach over the end of a member."""

    def __init__(self, path: Path | Source, supply: Supply) -> None:
        self.path = path
        self._supply = supply
        self._buffer = b""
        self._at = 0  # in the buffer
        self._place = 0  # inflated bytes used since the stream was opened
        self._member_place = 0  # `_place` at which the present member begins
        self._members = 0  # begun so far
        self.fault: CorruptFile | None = None  # nothing can be read behind it
        self.wrong_length: CorruptFile | None = None  # of the last record; one can go on behind it
        self.line_ends = 0  # behind the last record
        self._fault_ahead: CorruptFile | None = None  # behind what the buffer holds
        self._begun: tuple[int, int] | None = None  # offset and place of the record under way

    @property
    def place(self) -> int:
        """Inflated bytes used so far."""
        return self._place

    @property
    def work(self) -> int:
        """What reading has cost so far, in bytes; a plain file's are as good as free."""
        return self._supply.work + _MEMBER_COST * self._members

    def find_record(self) -> tuple[int, bool] | None:
        """Move to the next byte, over the end of a member if need be; None at the end of the file.

        Gives the offset of the member that holds the byte, and whether it is the member's first.
        Raises the fault that ended the record before.
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
        """Skip the line ends behind a record, and not a byte of the next member.

        Gives the offset behind the member when the record, or a fault, ends it, else None.
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
        """A record begins at the next byte; `offset` is its, or its member's, in the file."""
        self._begun = offset, self._place - self._member_place

    @property
    def begun_at(self) -> int:
        """The offset of the record that is being read, or that could not be read to its end."""
        assert self._begun is not None, "asked while a record is read"
        return self._begun[0]

    @property
    def unread(self) -> tuple[int, int] | None:
        """Offset, and place within the member, of a record that could not be read to its end."""
        return self._begun

    def end_begun(self) -> bool:
        """The record that was begun is read; whether it is whole."""
        if self.fault is not None or self.wrong_length is not None:
            return False
        self._begun = None
        return True

    def note_wrong_length(self, fault: CorruptFile, *, is_packed: bool) -> None:
        """The record that was begun is not as long as it says. A packed file can be read on; of a
        plain one somebody looks for the next record (`search.py`), which costs less there."""
        if is_packed:
            self.wrong_length = fault
        else:
            self.fault = fault

    def peek(self, size: int) -> bytes:
        """Up to so many of the next bytes, fewer where the member ends; they stay unread."""
        while len(self._buffer) - self._at < size and self._fault_ahead is None:
            try:
                found = self._supply.more()
            except CorruptFile as fault:
                self._fault_ahead = fault  # it counts when what stands before it is used up
                break
            if not found:
                break
            self._buffer, self._at = self._buffer[self._at :] + found, 0
        return self._buffer[self._at : self._at + size]

    def give_back(self, data: bytes) -> None:
        """Have the bytes that were used last once more, where they are of the present member."""
        if len(data) <= self._place - self._member_place:
            self._buffer, self._at = data + self._buffer[self._at :], 0
            self._place -= len(data)

    def skip_to_version(self) -> bool:
        """Move on to the next line that could begin a WARC record; False when there is none.

        For what stands behind a record that makes no sense while the packing is sound.
        """
        while self._grow() or self._cross():
            found = _VERSION.search(self._buffer, self._at)
            if found is not None:
                self._use(found.start() - self._at)
                return True
            kept = max(self._at, len(self._buffer) - 15)  # a line may go on in the next piece
            rest = self._buffer[kept:]
            self._use(len(self._buffer) - self._at)
            if rest and self._grow():
                self._buffer = rest + self._buffer
                self._place -= len(rest)
        return False

    def line(self, limit: int) -> bytes:
        """The next line with its end; without one where the file ends or `limit` is passed."""
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
        """Use `size` bytes and keep the first `keep` of them; also how many there were.

        What is not kept is not even read where the file is plain: one that holds nothing but
        beginnings of endless records would else be read once for each.
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
        """Have at least one byte of the present member in the buffer; False at its end."""
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
        """Go on into the next member; False at the end of the file."""
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
    path: Path | Source, file: BinaryIO, start: int, dictionary: Dictionary | None = None
) -> tuple[Stream, bool]:
    """A stream from byte `start` on, and whether it is packed. Raises UsageError for lz4.

    The file's `dictionary` is read unless it is given.
    """
    if start > (size := file.seek(0, os.SEEK_END)):
        raise CorruptFile(path, size, f"the file ends here, and byte {start} was asked for")
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
