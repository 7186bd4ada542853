"""Gzip members of a given length, to replace others without moving the bytes after them.

Every reference to a capture contains its offset. So bytes that are removed from a file are replaced
by a member of the same length. A comment in the gzip header fills it up, as RFC 1952 allows.
"""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path
from typing import Final

from gossamer.archive.pack import digest_of
from gossamer.archive.reader import LOST
from gossamer.archive.warc import record_id, warc_date
from gossamer.errors import CorruptFile

SALT_FIELD: Final = "salt"  # of a warcinfo record: the salt of the collection's URL keys

_FIRST_BYTES: Final = 1 << 20  # a warcinfo record is never larger
_HEAD: Final = struct.Struct("<4BIBB")
_HAS_COMMENT: Final = 0x10
_UNKNOWN_SYSTEM: Final = 255
_GZIP: Final = 16 + zlib.MAX_WBITS
_SALT_LINE: Final = re.compile(rb"^salt: [0-9a-f]*\r\n", re.MULTILINE)
_DIGEST: Final = re.compile(rb"(WARC-Block-Digest: )[^\r]*")
_LENGTH: Final = re.compile(rb"(Content-Length: )\d+")


def padded_member(data: bytes, length: int) -> bytes:
    """`data` as a gzip member of exactly `length` bytes. Raises ValueError if it does not fit."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(data) + packer.flush()
    end = struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    room = length - _HEAD.size - len(packed) - len(end)
    if room < 0:
        raise ValueError(f"{len(data)} bytes do not fit into a member of {length}")
    flags = _HAS_COMMENT if room else 0
    comment = b" " * (room - 1) + b"\0" if room else b""
    head = _HEAD.pack(0x1F, 0x8B, 8, flags, 0, 0, _UNKNOWN_SYSTEM)
    return head + comment + packed + end


def lost_member(length: int, at_us: int, why: str) -> bytes:
    """A record that says that the bytes in its place are lost. Raises ValueError, as above."""
    block = f"lost: {why}\r\n".encode()
    try:
        return padded_member(_lost_record(block, at_us), length)
    except ValueError:
        return padded_member(_lost_record(b"", at_us), length)


def _lost_record(block: bytes, at_us: int) -> bytes:
    head = (
        f"WARC/1.1\r\nWARC-Type: {LOST}\r\nWARC-Record-ID: <urn:uuid:{record_id()}>\r\n"
        f"WARC-Date: {warc_date(at_us)}\r\nContent-Type: application/warc-fields\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def first_without_salt(path: Path) -> bytes:
    """The first member of a file without the salt of its collection, for files that leave the
    collection. Empty if it holds no salt. Raises CorruptFile.
    """
    with path.open("rb") as file:
        data = file.read(_FIRST_BYTES)
    unpacker = zlib.decompressobj(_GZIP)
    try:
        text = unpacker.decompress(data)
    except zlib.error as error:
        raise CorruptFile(path, 0, f"the first record cannot be read ({error})") from None
    head, _, rest = text.partition(b"\r\n\r\n")
    block = rest.removesuffix(b"\r\n\r\n")
    blank = _SALT_LINE.sub(b"", block)
    if blank == block or not unpacker.eof:
        return b""
    head = _DIGEST.sub(rb"\g<1>" + digest_of(blank).encode(), head)
    head = _LENGTH.sub(b"\\g<1>%d" % len(blank), head)
    return padded_member(
        head + b"\r\n\r\n" + blank + b"\r\n\r\n", len(data) - len(unpacker.unused_data)
    )
