"""The stored form of an HTTP head, and how the original is restored.

Stored bodies have no transfer coding, and tools trust what a head says about its body. So three
things are changed: `Transfer-Encoding`, and a `Content-Length` that differs from the body, get the
prefix `X-Archive-Orig-`; the first line of HTTP/2 or 3 is written as HTTP/1.1. Each change is
recorded in the metadata record, and `original_head` reverts it to the byte. A head that tools would
split from its body at the wrong place is repaired, and its original is stored whole.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gossamer.archive.fields import Fields

PREFIX: Final = b"X-Archive-Orig-"
_ABOUT_BODY: Final = re.compile(
    rb"^(?:(transfer-encoding)|content-length)[ \t]*:([^\r\n]*)", re.IGNORECASE | re.MULTILINE
)
_NEWER: Final = re.compile(rb"HTTP/[2-9](?:\.[0-9])?(?=[ \r\n])")
# A line without a printable ASCII character before the end of the head. Some readers strip it, as
# white space in UTF-8 or as the byte 0x85 in Latin-1, find it empty and end the head there.
_EARLY_END: Final = re.compile(rb"(?:\A|\n)[^!-~\n]*\n(?=.)", re.DOTALL)
# a candidate for such a line; the empty line at the end matches too
_ODD_LINE: Final = re.compile(rb"\n[^!-~]")
_PRINTABLE: Final = re.compile(rb"[!-~]")
_NEWER_REQUEST: Final = re.compile(rb"\A([^\r\n]* )(HTTP/[2-9](?:\.[0-9])?)(?=\r?\n)")


class StoredHead(NamedTuple):
    """A head as stored, with the metadata lines that revert the changes."""

    data: bytes
    notes: tuple[tuple[str, str], ...] = ()


def stored_head(head: bytes, status: int, body_bytes: int) -> StoredHead:
    """The head to store before a body of `body_bytes` bytes."""
    if _is_usual(head, body_bytes):
        return StoredHead(head)
    return changed_head(head, status, body_bytes)


def changed_head(head: bytes, status: int, body_bytes: int) -> StoredHead:
    """Do the same for a head that may need changes."""
    if not _is_sound(head):
        mended = _renamed(_mended(head, status), body_bytes)[0]
        return StoredHead(mended, (("originalHead", head.decode("latin-1")),))
    notes = []
    if newer := _NEWER.match(head):
        notes.append(("statusVersion", newer[0].decode("ascii")))
        head = b"HTTP/1.1" + head[newer.end() :]
    data, places = _renamed(head, body_bytes)
    if places:
        notes.append(("renamedAt", " ".join(map(str, places))))
    return StoredHead(data, tuple(notes))


def original_head(stored: bytes, fields: Fields) -> bytes:
    """The head as the server sent it. Raises ValueError if the metadata lines do not fit."""
    if "originalHead" in fields:
        return fields["originalHead"].encode("latin-1")
    parts, done = [], 0
    for place in map(int, fields.get("renamedAt", "").split()):
        if stored[place : place + len(PREFIX)] != PREFIX:
            raise ValueError(f"no renamed header stands at byte {place} of the head")
        parts.append(stored[done:place])
        done = place + len(PREFIX)
    head = b"".join([*parts, stored[done:]])
    if "statusVersion" in fields:
        head = fields["statusVersion"].encode("ascii") + head.removeprefix(b"HTTP/1.1")
    return head


def stored_request(request: bytes) -> StoredHead:
    """The request to store. Only the version in its first line may differ."""
    # every request that this program sends
    if request.endswith(b" HTTP/1.1\r", 0, request.find(b"\n")):
        return StoredHead(request)
    newer = _NEWER_REQUEST.match(request)
    if newer is None:
        return StoredHead(request)
    data = newer[1] + b"HTTP/1.1" + request[newer.end() :]
    return StoredHead(data, (("requestVersion", newer[2].decode("ascii")),))


def original_request(stored: bytes, fields: Fields) -> bytes:
    """The request as it was sent."""
    if "requestVersion" not in fields:
        return stored
    return stored.replace(b" HTTP/1.1", b" " + fields["requestVersion"].encode("ascii"), 1)


def _is_usual(head: bytes, body_bytes: int) -> bool:
    """Whether the head needs no change. True for most heads, and takes a fifth of the time."""
    if not (head.startswith(b"HTTP/1.") and head.endswith(b"\r\n\r\n")):
        return False
    odd_line = _ODD_LINE.search(head)
    if odd_line is None or odd_line.start() != len(head) - 3:
        return False
    lower = head.lower()
    lengths = lower.count(b"content-length")
    return b"transfer-encoding" not in lower and (
        lengths == 0 or (lengths == 1 and b"\ncontent-length: %d\r\n" % body_bytes in lower)
    )


def _is_sound(head: bytes) -> bool:
    return (
        head.startswith(b"HTTP/")
        and head.endswith((b"\r\n\r\n", b"\n\n"))
        and _EARLY_END.search(head) is None
    )


def _mended(head: bytes, status: int) -> bytes:
    """A head with the same headers that every reader ends at the same place."""
    lines = [line.rstrip(b"\r") for line in head.split(b"\n")]
    lines = [line for line in lines if _PRINTABLE.search(line)]
    if lines and lines[0].startswith(b"HTTP/"):
        first = _NEWER.sub(b"HTTP/1.1", lines.pop(0), count=1)
    else:
        first = b"HTTP/1.1 %d " % status
    return b"\r\n".join([first, *lines, b"", b""])


def _renamed(head: bytes, body_bytes: int) -> tuple[bytes, list[int]]:
    """The head with its misleading headers renamed, and the offsets of the prefixes."""
    parts: list[bytes] = []
    places: list[int] = []
    done = 0
    for header in _ABOUT_BODY.finditer(head):
        if header[1] is None and header[2].strip() == b"%d" % body_bytes:
            continue
        parts += (head[done : header.start()], PREFIX)
        places.append(header.start() + len(PREFIX) * len(places))
        done = header.start()
    return b"".join([*parts, head[done:]]), places
