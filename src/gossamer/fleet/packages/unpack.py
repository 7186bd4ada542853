"""Read the compressed members of a package under limits: records of the archive, and lines.

A member is one Zstandard frame. Memory is bounded by the window of the frame (128 MB at most) and
by one record or line, whatever the member says. Raises PackageRefused for everything else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import BinaryIO, Final

from gossamer.archive.record import Record, next_record
from gossamer.archive.streams import Stream
from gossamer.archive.wacz_reader import Member
from gossamer.errors import CorruptFile
from gossamer.fleet.packages.entries import PackageEntry, read_entries
from gossamer.fleet.packages.format import (
    MAX_LINE_BYTES,
    WINDOW_LOG,
    PackageLimits,
    PackageRefused,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_READ_BYTES: Final = 1 << 16
_STEP_BYTES: Final = 1 << 18
_OPTIONS: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: WINDOW_LOG}


class _Frame:
    """The decompressed bytes of a member: a `Supply` (`archive/streams.py`) of one frame."""

    def __init__(self, member: Member, file: BinaryIO, limits: PackageLimits) -> None:
        self._name = member.info.filename
        self._file = file
        self._limits = limits
        self._inflater = zstd.ZstdDecompressor(options=_OPTIONS)
        self._taken = 0
        self._given = 0
        self._is_begun = False
        self.start = self.end = self.work = 0

    def begin(self) -> bool:
        was_begun, self._is_begun = self._is_begun, True
        return not was_begun

    def skip(self, count: int) -> int:  # noqa: ARG002 - it must be inflated to be skipped
        return 0

    def more(self) -> bytes:
        while not self._inflater.eof:
            packed = b""
            if self._inflater.needs_input:
                packed = self._file.read(_READ_BYTES)
                if not packed:
                    raise PackageRefused("truncated", f"{self._name} is cut off")
                self._taken += len(packed)
            try:
                found: bytes = self._inflater.decompress(packed, _STEP_BYTES)
            except zstd.ZstdError as fault:
                what = f"{self._name} cannot be decompressed ({fault})"
                raise PackageRefused("damaged", what) from None
            if found:
                self._count(len(found))
                return found
        if self._inflater.unused_data or self._file.read(1):
            raise PackageRefused("layout", f"{self._name} has bytes after its frame")
        return b""

    def _count(self, size: int) -> None:
        self._given += size
        limits = self._limits
        most = min(limits.max_unpacked_bytes, limits.free_bytes + limits.max_ratio * self._taken)
        if self._given > most:
            what = f"{self._name} expands to more than {most} bytes"
            raise PackageRefused("bomb", what)


def package_entries(member: Member, limits: PackageLimits) -> Iterator[PackageEntry]:
    """The exchanges of the archive of a package."""
    try:
        with member.open("rb") as file:
            stream = Stream(member, _Frame(member, file, limits))
            yield from read_entries(_records(stream, member, limits), member.info.filename)
    except CorruptFile as fault:
        raise PackageRefused(
            "damaged", f"{fault.path}, byte {fault.offset}: {fault.found}"
        ) from None


def _records(stream: Stream, member: Member, limits: PackageLimits) -> Iterator[Record]:
    while True:
        record = next_record(stream, False, 0, limits.max_record_bytes)
        if record is None:
            return
        if record.size > limits.max_record_bytes:
            what = f"{member.info.filename} has a record of {record.size} bytes"
            raise PackageRefused("size", what)
        yield record


def package_lines(member: Member, limits: PackageLimits) -> Iterator[bytes]:
    """The lines of another member, without their line ends."""
    with member.open("rb") as file:
        frame, rest = _Frame(member, file, limits), b""
        while found := frame.more():
            *lines, rest = (rest + found).split(b"\n")
            yield from lines
            if len(rest) > MAX_LINE_BYTES:
                raise PackageRefused("size", f"{member.info.filename} has a line that is too long")
        if rest:
            raise PackageRefused("truncated", f"{member.info.filename} ends within a line")
