"""Read the WARC files inside a WACZ file without unpacking it.

A WACZ is a ZIP whose `archive/` holds WARC files, mostly stored uncompressed. No member is ever
written to a path: it is read in place, in one pass. Memory is bounded whatever the ZIP claims, and
a member with an extreme compression ratio is skipped and reported.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal, Self, cast

from gossamer.errors import CorruptFile

ZIP_MAGICS: Final = (b"PK\x03\x04", b"PK\x05\x06")
_WARC_NAMES: Final = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz")
# Of the list of members, which is held in memory: 46 bytes in the file take about 600 in memory.
_MAX_DIRECTORY_BYTES: Final = 8 * 2**20
_MAX_GROWTH: Final = 100  # ratio; WARC files inside are compressed already, or text
_FREE_BYTES: Final = 64 * 2**20  # no check below this size
_MOST_REPEATED: Final = 16  # times its length
_LOCAL: Final = struct.Struct("<4s22xHH")  # the header before a member: magic, then lengths
# ValueError and struct.error: impossible offsets and lengths.
_ZIP_FAULTS: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError,
    OverflowError, struct.error,
)  # fmt: skip
_PIECE_BYTES: Final = 1 << 16
_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22 + (1 << 16)  # with the longest comment


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a ZIP that can be opened like a path."""

    path: Path
    info: zipfile.ZipInfo

    def __str__(self) -> str:
        return f"{self.path}!{self.info.filename}"

    def open(self, mode: Literal["rb"]) -> BinaryIO:
        """Its bytes. A stored member is read in place, others are inflated while reading."""
        file = self.path.open(mode)
        try:
            if self.info.compress_type == zipfile.ZIP_STORED:
                return cast("BinaryIO", _Stored(self, file))
            return cast("BinaryIO", _Inflated(self, file))
        except BaseException:
            file.close()
            raise


class _Stored:
    """A part of a file as a file object. Records have checksums, so that of the ZIP is not
    checked.
    """

    def __init__(self, member: Member, file: BinaryIO) -> None:
        self._file = file
        if not 0 <= member.info.header_offset < file.seek(0, os.SEEK_END):
            raise CorruptFile(member, 0, "its place in the ZIP is outside the file")
        file.seek(member.info.header_offset)
        header = file.read(_LOCAL.size).ljust(_LOCAL.size, b"\0")
        magic, name, extra = _LOCAL.unpack(header)
        if magic != b"PK\x03\x04":
            place = member.info.header_offset
            raise CorruptFile(member.path, place, "no member of the ZIP begins here")
        self._start = member.info.header_offset + _LOCAL.size + name + extra
        end = file.seek(0, os.SEEK_END)
        self._size = max(0, min(member.info.compress_size, end - self._start))
        self.seek(0)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = base + offset
        self._file.seek(self._start + self._at)
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._size - self._at)
        found = self._file.read(left if size < 0 else min(size, left))
        self._at += len(found)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    _at = 0


class _Inflated:
    """A compressed member. Seeking back starts again from its first byte. That is allowed up to a
    multiple of its length: a hostile file would cause endless seeking.

    It ends where the ZIP says, or before. The list of members is not read again for each: a list of
    a hundred thousand would be read a hundred thousand times.
    """

    def __init__(self, member: Member, file: BinaryIO) -> None:
        self._member = member
        self._stored = _Stored(member, file)
        self._size = member.info.file_size
        self._may_repeat = _FREE_BYTES + _MOST_REPEATED * self._size
        self._begin()

    def _begin(self) -> None:
        self._stored.seek(0)
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self._packed = b""
        self._at = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._wanted = base + offset
        return self._wanted

    def read(self, size: int = -1) -> bytes:
        if self._wanted < self._at:
            self._go_back()
        while self._at < self._wanted and self._more(self._wanted - self._at):
            pass
        parts, left = [], self._size - self._at if size < 0 else size
        while left > 0 and (found := self._more(left)):
            parts.append(found)
            left -= len(found)
        self._wanted = max(self._wanted, self._at)
        return b"".join(parts)

    def _go_back(self) -> None:
        self._may_repeat -= self._wanted
        if self._may_repeat < 0:
            what = "it has too much damage, and the rest is skipped; unpack the ZIP and try again"
            raise CorruptFile(self._member, 0, what)
        self._begin()

    def _more(self, most: int) -> bytes:
        """The next bytes, at most `most`; none at the end. Raises CorruptFile."""
        most = min(most, self._size - self._at, _PIECE_BYTES)
        found = b""
        while most > 0 and not found and not self._inflater.eof:
            packed = self._packed or self._stored.read(_PIECE_BYTES)
            try:
                found = self._inflater.decompress(packed, most)
            except zlib.error as error:
                what = f"this part of the ZIP is damaged ({error})"
                raise CorruptFile(self._member, 0, what) from None
            self._packed = self._inflater.unconsumed_tail
            if not packed and not found:
                raise CorruptFile(self._member, 0, "this part of the ZIP is cut off")
        self._at += len(found)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stored.__exit__()

    _wanted = 0


def warc_members(path: Path) -> Iterator[Member | CorruptFile]:
    """The WARC files of a WACZ in its order. A skipped member is replaced by the reason.

    Raises CorruptFile if it is not a readable ZIP.
    """
    check_directory(path)
    left = path.stat().st_size  # each byte of the file counts for one member only
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (*_ZIP_FAULTS, OSError) as error:
        raise CorruptFile(path, 0, f"the ZIP cannot be read ({error})") from None
    for info in infos:
        if info.is_dir() or not info.filename.lower().endswith(_WARC_NAMES):
            continue
        problem, left = _problem(info), left - info.compress_size
        if left < 0:
            problem = "it shares its bytes with others"
        if problem:
            yield CorruptFile(f"{path}!{info.filename}", info.header_offset, problem)
        else:
            yield Member(path, info)


def _problem(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & 1:
        return "it is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"its compression method {info.compress_type} is not supported"
    grown = info.file_size > max(_FREE_BYTES, _MAX_GROWTH * info.compress_size)
    return "it would grow to more than a hundred times its size" if grown else ""


def check_directory(path: Path, max_bytes: int = _MAX_DIRECTORY_BYTES) -> None:
    """Raise CorruptFile for a list of members that is longer than `max_bytes`.

    The largest claim in the file counts, because readers differ in which one they trust.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _END_BYTES))
        tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or at + 22 > len(tail):
        raise CorruptFile(path, size, "the ZIP is cut off: the list of its members is missing")
    listed = int.from_bytes(tail[at + 12 : at + 16], "little")
    place = size - len(tail) + at  # the list cannot begin before the file does
    wide = _zip64_list_bytes(path, place)
    listed = wide if listed == 0xFFFFFFFF and wide else max(listed, wide)
    if listed > max_bytes:
        raise CorruptFile(path, place, f"the list of its members has {listed} bytes, too many")


def _zip64_list_bytes(path: Path, end: int) -> int:
    with path.open("rb") as file:
        file.seek(max(0, end - 20))
        locator = file.read(20)
        if not locator.startswith(b"PK\x06\x07"):
            return 0
        file.seek(max(0, end - 20 - 56))  # just before it, where the zipfile module looks, too
        near = file.read(56)
        file.seek(min(int.from_bytes(locator[8:16], "little"), end))
        named = file.read(56)
    found = (one for one in (near, named) if one.startswith(b"PK\x06\x06"))
    return max((int.from_bytes(one[40:48], "little") for one in found), default=0)
