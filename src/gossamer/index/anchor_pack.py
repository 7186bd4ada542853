"""The words of a page's links on their way to the index, as bytes.

A page brings some twenty of them. As pairs of key and text they were sixty objects, made by whoever
reads the page, once more by the node, and thrown away by the index, which only wants their bytes.

    link: key of its target (16 bytes), length (2), words in UTF-8

Loads little: who packs needs no index.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final

MAX_CHARS: Final = 500  # of an anchor
KEY_BYTES: Final = 16
_HEAD: Final = struct.Struct(f">{KEY_BYTES}sH")


def pack_anchors(links: Iterable[tuple[bytes, str]]) -> bytes:
    """Links, each a key and words; without those that have no words or, as what is no URL, no key.

    Half of a surrogate pair is no text. There is a twin in C (`workers/_link_cache.c`).
    """
    parts: list[bytes] = []
    for key, words in links:
        if words and len(key) == KEY_BYTES:
            text = words[:MAX_CHARS].encode(errors="replace")
            parts += (_HEAD.pack(key, len(text)), text)
    return b"".join(parts)


def unpack_anchors(packed: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys, and words in UTF-8. Raises ValueError when these are no bytes of `pack_anchors`."""
    at = 0
    while at < len(packed):
        start = at + _HEAD.size
        if start > len(packed):
            raise ValueError("half a link")
        key, size = _HEAD.unpack_from(packed, at)
        at = start + size
        if at > len(packed):
            raise ValueError("half a link")
        yield key, packed[start:at]
