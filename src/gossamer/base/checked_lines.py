"""JSON lines with their own checksum, and checksums of files.

The last member of such a line is `sum`: the CRC-32 of all bytes of the line before it. So a flipped
byte anywhere in the line is found, and other tools read it as plain JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

from isal import isal_zlib

_SUM: Final = b', "sum": "'
_END: Final = b'"}\n'
_HEX: Final = 8
_TAIL: Final = len(_SUM) + _HEX + len(_END)
_PIECE_BYTES: Final = 1 << 20


def checked_line(record: Mapping[str, object]) -> bytes:
    """A non-empty record as a line with its checksum."""
    text = json.dumps(record).encode()[:-1]
    return text + _SUM + b"%08x" % crc32(text) + _END


def read_checked_line(line: bytes) -> dict[str, Any] | None:
    """The record of a line, or None if the line is damaged."""
    text, tail = line[:-_TAIL], line[-_TAIL:]
    if tail != _SUM + b"%08x" % crc32(text) + _END:
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    record.pop("sum", None)
    return record


def crc32(data: bytes, before: int = 0) -> int:
    """CRC-32 as in gzip and zlib; `before` is that of the preceding bytes."""
    return isal_zlib.crc32(data, before)


def crc32_of(path: Path, length: int | None = None) -> tuple[int, int]:
    """The CRC-32 of a file's first `length` bytes, or of all, and the number of bytes."""
    with path.open("rb") as file:
        return crc32_in(file, length)


def crc32_in(file: IO[bytes], length: int | None = None, before: int = 0) -> tuple[int, int]:
    """The same from the current position of an open file."""
    found, count = before, 0
    while length is None or count < length:
        wanted = _PIECE_BYTES if length is None else min(_PIECE_BYTES, length - count)
        piece = file.read(wanted)
        if not piece:
            break
        found = crc32(piece, found)
        count += len(piece)
    return found, count
