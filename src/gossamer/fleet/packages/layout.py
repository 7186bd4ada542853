"""The outer form of a package: a ZIP of a few members with fixed names, one after the other.

A hub reads this from strangers. Everything that a package does not need is refused: other names,
links, encryption, compression of large members, members that overlap or leave gaps, a comment. The
list of members is bounded before it is read.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.wacz_reader import Member, check_directory
from gossamer.errors import CorruptFile
from gossamer.fleet.packages.format import FACTS, LISTS, MEMBERS, PAGES, PackageRefused

_END: Final = struct.Struct("<4s4H2IH")  # of the list of members: magic, ..., count, size, start
_WIDE_END_BYTES: Final = 56 + 20  # of the ZIP64 records before it
_MAX_LIST_BYTES: Final = 4096
_LOCAL: Final = struct.Struct("<4s22xHH")
_SMALL: Final = frozenset({FACTS, PAGES, *LISTS})
MAX_SMALL_BYTES: Final = 4 * 2**20  # of the members for programs and people, which may be deflated
_FAULTS: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError,
    OverflowError, struct.error, OSError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PackageLayout:
    """The members of a package, by name."""

    path: Path
    members: dict[str, zipfile.ZipInfo]

    def has(self, name: str) -> bool:
        return name in self.members

    def member(self, name: str) -> Member:
        """A member to be read in place. Raises PackageRefused if it is missing."""
        if name not in self.members:
            raise PackageRefused("layout", f"the package has no {name}")
        return Member(self.path, self.members[name])

    def small(self, name: str) -> bytes:
        """The bytes of a small member. Raises PackageRefused."""
        member = self.member(name)
        try:
            with member.open("rb") as file:
                data = file.read(MAX_SMALL_BYTES + 1)
        except _FAULTS as fault:
            raise PackageRefused("layout", f"{name} cannot be read ({fault})") from None
        if len(data) > MAX_SMALL_BYTES or len(data) != member.info.file_size:
            raise PackageRefused("size", f"{name} has another length than the ZIP says")
        if zlib.crc32(data) != member.info.CRC:
            raise PackageRefused("digest", f"{name} does not match its checksum")
        return data


def read_layout(path: Path, max_bytes: int) -> PackageLayout:
    """The members of a package. Raises PackageRefused."""
    size = path.stat().st_size
    if size > max_bytes:
        raise PackageRefused("size", f"the package has {size} bytes, more than {max_bytes}")
    _check_end(path, size)
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except _FAULTS as fault:
        raise PackageRefused("layout", f"the package is not a ZIP ({fault})") from None
    for info in infos:
        _check_member(info)
    members = {info.filename: info for info in infos}
    if len(members) != len(infos):
        raise PackageRefused("layout", "two members of the package have one name")
    _check_places(path, infos)
    return PackageLayout(path, members)


def _check_end(path: Path, size: int) -> None:
    """The package ends with a short list of members."""
    if size < _END.size:
        raise PackageRefused("truncated", "the package is cut off")
    with path.open("rb") as file:
        file.seek(size - _END.size)
        magic, *_, count, _, _, comment = _END.unpack(file.read(_END.size))
    if magic != b"PK\x05\x06" or comment:
        raise PackageRefused("truncated", "the package does not end as a ZIP without comment does")
    if count > len(MEMBERS):
        raise PackageRefused("entries", f"the package has {count} members")
    try:
        check_directory(path, _MAX_LIST_BYTES)
    except CorruptFile as fault:
        raise PackageRefused("entries", fault.found) from None


def _check_member(info: zipfile.ZipInfo) -> None:
    name = info.filename
    if name not in MEMBERS or info.orig_filename != name:
        raise PackageRefused("name", f"the package has a member {name[:100]!r}")
    mode = info.external_attr >> 16
    if info.is_dir() or (mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
        raise PackageRefused("link", f"{name} is not a file")
    if info.flag_bits & 1:
        raise PackageRefused("layout", f"{name} is encrypted")
    is_small = name in _SMALL
    allowed = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) if is_small else (zipfile.ZIP_STORED,)
    if info.compress_type not in allowed:
        raise PackageRefused("layout", f"{name} is compressed by method {info.compress_type}")
    if is_small and info.file_size > MAX_SMALL_BYTES:
        raise PackageRefused("bomb", f"{name} would have {info.file_size} bytes")
    if info.compress_type == zipfile.ZIP_STORED and info.compress_size != info.file_size:
        raise PackageRefused("size", f"{name} has two lengths")


def _check_places(path: Path, infos: list[zipfile.ZipInfo]) -> None:
    """Members follow one another from the first byte on, without gaps, up to their list."""
    end = 0
    with path.open("rb") as file:
        for info in sorted(infos, key=lambda one: one.header_offset):
            if info.header_offset != end:
                what = "overlap" if info.header_offset < end else "leave a gap"
                raise PackageRefused("layout", f"members of the package {what} at byte {end}")
            file.seek(info.header_offset)
            header = file.read(_LOCAL.size)
            if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
                raise PackageRefused("truncated", f"no member begins at byte {end}")
            _, name, extra = _LOCAL.unpack(header)
            if file.read(name).decode("utf-8", "replace") != info.filename:
                raise PackageRefused("name", f"{info.filename} has two names")
            end = info.header_offset + _LOCAL.size + name + extra + info.compress_size
        size = file.seek(0, os.SEEK_END)
    if not size - _END.size - _WIDE_END_BYTES - _MAX_LIST_BYTES <= end <= size:
        raise PackageRefused("layout", f"{size - end} bytes follow the members of the package")
