"""One record of a WARC or ARC file of any writer.

Supports WARC/0.17 to 1.1 and ARC 1.x. Only the outer format is checked here, and every fault raises
CorruptFile. `reader.py` interprets the fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from gossamer.archive.digests import fits_digest, is_known_digest
from gossamer.archive.streams import Stream
from gossamer.archive.warc import date_us
from gossamer.errors import CorruptFile

MAX_HEADER_BYTES: Final = 1 << 20  # of the headers of one record; the longest seen are below 10 KB
# Some files were written in text mode: their lines end in \r\r\n.
_VERSION: Final = re.compile(rb"WARC/\d+\.\d+[ \t]*\r*\n")
_VERSION_INSIDE: Final = re.compile(rb"\nWARC/\d+\.\d+[ \t]*\r*\n")
# The same, or the part of it that a member of a compressed file holds.
_VERSION_AHEAD: Final = re.compile(
    rb"WARC/\d+\.\d+[ \t]*\r*\n|(?:W|WA|WAR|WARC|WARC/[\d.]*[ \t]*\r*)\Z"
)
_AHEAD_BYTES: Final = 32
# Address and date in the line of an ARC record: `URL address date type ... length`. The URL may
# contain spaces; address and date (14 digits or more) end it. They are searched separately, because
# a pattern of the whole line takes an hour for 1 MB of dates.
_ARC_MIDDLE: Final = re.compile(rb"(?= ([0-9A-Fa-f.:]+) (\d{12,18}) )")
_HEAD_END: Final = re.compile(rb"(?:\A|\n)\r*\n")
_STATUS: Final = re.compile(rb"HTTP/[\d.]+[ \t]+(\d{3})(?!\d)")
_HTTP_TYPES: Final = frozenset({"response", "request", "revisit"})


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it is in a file.

    `offset` and `length` are its span in the file; length is 0 if it shares a gzip member with
    others. `content` is the block, or its first part if `is_cut`; `size` is that of the whole
    block. A record that damage cut off is yielded with `is_whole` False before the error is raised.
    """

    version: str  # "WARC/1.1"; "ARC" for ARC files
    type: str  # "arc_header" for the first record of an ARC file
    headers: tuple[tuple[str, str], ...]  # in file order; ARC fields have WARC names
    offset: int
    length: int
    content: bytes
    size: int
    is_whole: bool = True
    preamble: bytes = b""  # version line, headers and empty line, unchanged; empty for ARC

    @property
    def is_cut(self) -> bool:
        """Whether only a part of the block was kept."""
        return len(self.content) < self.size

    def header(self, name: str) -> str:
        """The first header of that name, or an empty string."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")

    @property
    def uri(self) -> str:
        """The target URI, without the angle brackets and spaces that some writers add."""
        uri = self.header("WARC-Target-URI")
        if self.version == "ARC":
            return uri
        if uri.startswith("<") and uri.endswith(">"):
            uri = uri[1:-1]
        return uri.replace(" ", "%20")

    @property
    def at_us(self) -> int | None:
        """The date of the record; None if it is invalid."""
        try:
            return date_us(self.header("WARC-Date"))
        except (ValueError, OverflowError):
            return None

    @property
    def is_http(self) -> bool:
        """Whether the block is an HTTP message with a head."""
        return (
            self.type in _HTTP_TYPES
            and self.uri[:6].lower().startswith(("http:", "https:"))
            and (self.type == "request" or self.content[:5] in (b"HTTP/", b"", b"\n", b"\r\n"))
        )

    @property
    def head_bytes(self) -> int:
        """The length of the HTTP head; 0 if there is none."""
        if not self.is_http:
            return 0
        end = _HEAD_END.search(self.content)
        return end.end() if end else len(self.content)

    @property
    def head(self) -> bytes:
        """The HTTP head with the empty line at its end."""
        return self.content[: self.head_bytes]

    @property
    def payload(self) -> bytes:
        """The block without the HTTP head: the body as stored, in files of other writers maybe
        chunked.
        """
        return self.content[self.head_bytes :]

    @property
    def status(self) -> int | None:
        """The status code of a response."""
        found = _STATUS.match(self.content) if self.is_http and self.type != "request" else None
        return int(found[1]) if found else None


def next_record(stream: Stream, is_gzip: bool, start: int, limit: int) -> Record | None:
    """The next record, with up to `limit` bytes of its block; None at the end of the file.

    `start` is the offset at which the stream was opened. Raises CorruptFile.
    """
    line = b""
    while not line.strip(b"\r\n"):  # some writers put line ends before a record, too
        found = stream.find_record()
        if found is None:
            return None
        member, is_first = found
        offset = member if is_gzip else start + stream.place
        stream.note_begin(offset)
        line = stream.line(MAX_HEADER_BYTES)
    if _VERSION.fullmatch(line):
        record = _warc_record(stream, is_gzip, line, limit)
    elif arc := _arc_fields(line):
        record = _arc_record(stream, is_gzip, arc, limit)
    else:
        stream.give_back(line[1:])  # a record may begin inside it
        what = f"no record begins here, but {line[:40]!r}"
        raise stream.fault or CorruptFile(stream.path, offset, what)
    block_end = start + stream.place
    member_end = stream.end_record()
    if is_gzip:
        length = member_end - offset if is_first and member_end is not None else 0
    else:
        length = block_end - offset
    if member_end is None and not _has_right_length(stream, record, is_gzip):
        what = f"the length of the record that begins at byte {offset} is wrong"
        if not stream.line_ends:
            what = f"no empty line follows the record that begins at byte {offset}"
        place = offset if is_gzip else block_end
        stream.note_wrong_length(CorruptFile(stream.path, place, what), is_packed=is_gzip)
    return replace(record, length=length, is_whole=stream.end_begun())


def _has_right_length(stream: Stream, record: Record, is_packed: bool) -> bool:
    """Whether the stated length of a record is right, judged by the bytes after it in its member.

    The next record should follow, after an empty line. If other bytes follow, the record may be
    whole and followed by garbage: then its digest decides, or, without one, whether there is a
    record inside it.
    """
    if record.version == "ARC" or stream.fault is not None:
        return True
    if _VERSION_AHEAD.match(stream.peek(_AHEAD_BYTES)):
        return is_packed or bool(stream.line_ends)
    digest = record.header("WARC-Block-Digest")
    if is_known_digest(digest) and not record.is_cut:
        return stream.line_ends > 0 and fits_digest(digest, record.content)
    return stream.line_ends > 1 and _VERSION_INSIDE.search(record.content) is None


def _warc_record(stream: Stream, is_packed: bool, line: bytes, limit: int) -> Record:
    offset = stream.begun_at
    headers, lines = _headers(stream, offset)
    by_name = {name.lower(): value for name, value in reversed(headers)}
    size = by_name.get("content-length", "")
    if not (size.isascii() and size.isdigit() and len(size) < 20):
        raise CorruptFile(stream.path, offset, f"the record's Content-Length is {size[:40]!r}")
    content = _block(stream, is_packed, int(size), limit)
    version = line.strip().decode("ascii")
    kind = by_name.get("warc-type", "").lower()
    preamble = b"".join((line, *lines))
    named = tuple(headers)
    return Record(version, kind, named, offset, 0, content, int(size), preamble=preamble)


def _headers(stream: Stream, offset: int) -> tuple[list[tuple[str, str]], list[bytes]]:
    """Names and values, and their raw lines, including the empty line at the end."""
    headers: list[tuple[str, list[str]]] = []  # a value may continue on further lines
    lines: list[bytes] = []
    left = MAX_HEADER_BYTES
    while True:
        line = stream.line(left)
        left -= len(line)
        if not line.endswith(b"\n"):
            what = "are too long" if left <= 0 else "are cut off by the end of the file"
            raise stream.fault or CorruptFile(stream.path, offset, f"the record's headers {what}")
        lines.append(line)
        text = _text(line.rstrip(b"\r\n"))
        if not text:
            return [(name, " ".join(values)) for name, values in headers], lines
        if text[0] in " \t" and headers:
            headers[-1][1].append(text.strip())
            continue
        name, colon, value = text.partition(":")
        if not colon:
            raise CorruptFile(stream.path, offset, f"the record has a header {text[:40]!r}")
        headers.append((name.strip(), [value.strip()]))


def _block(stream: Stream, is_packed: bool, size: int, limit: int) -> bytes:
    """The block, or the part that exists: then the stream has a fault."""
    content, used = stream.take(size, limit)
    if used < size and stream.fault is None:
        what = f"the record has {size} bytes, but the file ends after {used} of them"
        fault = CorruptFile(stream.path, stream.begun_at, what)
        stream.note_wrong_length(fault, is_packed=is_packed)
    return content


def _arc_fields(line: bytes) -> tuple[bytes, ...] | None:
    """URL (may contain spaces), address, date, type and length; None if the line has another
    form.
    """
    before, _, length = line.rstrip(b"\r\n").rpartition(b" ")
    middles = [found for found in _ARC_MIDDLE.finditer(before) if found.start()]
    if not length or not middles or line[:1].isspace():
        return None
    address, date = middles[-1].groups()
    mime, _, _ = before[middles[-1].end(2) + 1 :].partition(b" ")
    return before[: middles[-1].start()], address, date, mime, length


def _arc_record(stream: Stream, is_packed: bool, line: tuple[bytes, ...], limit: int) -> Record:
    offset = stream.begun_at
    url, address, date, mime, length = (_text(part) for part in line)
    # Some old writers wrote -1 or a word. Then the length is unknown: the block is taken as empty,
    # and a record must follow.
    size = int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0
    headers = (
        ("WARC-Target-URI", url),
        ("WARC-IP-Address", address),
        ("WARC-Date", _arc_date(date)),
        ("Content-Type", mime),
        ("Content-Length", str(size)),
    )
    if not url.startswith("filedesc:"):
        content = _block(stream, is_packed, size, limit)
        return Record("ARC", "response", headers, offset, 0, content, size)
    # The block begins with two lines of ARC itself: the version, and the names of the fields.
    own = len(stream.line(MAX_HEADER_BYTES)) + len(stream.line(MAX_HEADER_BYTES))
    left = max(0, size - own)
    content = _block(stream, is_packed, left, limit)
    return Record("ARC", "arc_header", headers, offset, 0, content, left)


def _arc_date(digits: str) -> str:
    d = digits.ljust(14, "0")
    return f"{d[:4]}-{d[4:6]}-{d[6:8]}T{d[8:10]}:{d[10:12]}:{d[12:14]}Z"


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
