"""Links of a page to URLs that the node knows already, as bytes: a key and a count per URL.

A worker reports each URL once. Later links to the same URL bring no new URL, but an order that
counts links (backlinks, OPIC) needs their number. A page has about 90 of them: as objects they
would take 10 microseconds to unpack, even where nobody counts them.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gossamer.urls.keys import KEY_BYTES

_LINKS: Final = struct.Struct(f">{KEY_BYTES}sH")
RECORD_BYTES: Final = _LINKS.size  # a key comes first in each
_MOST: Final = 0xFFFF  # links of one page to one URL


def pack_links(links: Mapping[bytes, int]) -> bytes:
    """Keys of URLs with the number of links to each."""
    most = max(links.values(), default=0)
    counts = links.values() if most <= _MOST else [min(count, _MOST) for count in links.values()]
    return b"".join(map(_LINKS.pack, links, counts))


def unpack_links(packed: bytes) -> Iterator[tuple[bytes, int]]:
    """What `pack_links` packed."""
    return _LINKS.iter_unpack(packed)


def repeated(targets: Iterable[bytes], reported: Iterable[bytes]) -> dict[bytes, int]:
    """How many links lead to each target, without one link for each time that it is reported."""
    counts = Counter(targets)  # counts in C
    for key in reported:
        count = counts.get(key, 0)
        if count > 1:
            counts[key] = count - 1
        else:
            counts.pop(key, None)
    return counts
