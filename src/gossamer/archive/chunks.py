"""Remove chunked transfer coding from bodies. Other writers archive the chunks; this one does
not.
"""

from __future__ import annotations

import re
from typing import Final

_CHUNKED: Final = re.compile(
    rb"^transfer-encoding[ \t]*:[^\r\n]*\bchunked\b", re.IGNORECASE | re.MULTILINE
)
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\n]*)?\r?\n")


def is_chunked(head: bytes) -> bool:
    """Whether the head says so. Many archives say so of bodies that are already decoded."""
    return _CHUNKED.search(head) is not None


def unchunked(payload: bytes) -> bytes:
    """The decoded body of a chunked payload; the payload itself if it is not completely chunked."""
    parts: list[bytes] = []
    at = 0
    while (size := _SIZE.match(payload, at)) is not None:
        length = int(size[1], 16)
        if length == 0:
            return b"".join(parts)
        end = size.end() + length
        if end > len(payload):
            break
        parts.append(payload[size.end() : end])
        at = end + 2 if payload.startswith(b"\r\n", end) else end + payload.startswith(b"\n", end)
    return payload
