"""Pack the anchor texts of a page for the index.

A page has about twenty of them. As pairs of key and text they were sixty objects, built by the
reader of the page, built again by the node, and dropped by the index, which needs only the bytes.

    link: key of its target (16 bytes), length (2), text in UTF-8

Imports little, because a packing process needs no index.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final

from gossamer.urls.keys import KEY_BYTES

MAX_CHARS: Final = 500  # of an anchor text
_HEAD: Final = struct.Struct(f">{KEY_BYTES}sH")


def pack_anchors(links: Iterable[tuple[bytes, str]]) -> bytes:
    """Pack links, each a key and a text. Links without a text, and invalid URLs, which have no key,
    are left out.

    Lone surrogates are replaced. `native/link_cache.c` does the same in C.
    """
    parts: list[bytes] = []
    for key, words in links:
        if words and len(key) == KEY_BYTES:
            text = words[:MAX_CHARS].encode(errors="replace")
            parts += (_HEAD.pack(key, len(text)), text)
    return b"".join(parts)


def unpack_anchors(packed: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys, and texts in UTF-8. Raises ValueError for bytes that `pack_anchors` did not make."""
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
