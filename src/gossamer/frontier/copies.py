"""How many pages are byte for byte the same as another?

Counted when a crawl ends, in one walk over the captures: some 2 microseconds for each page that was
ever fetched, where a table of digests would cost a lookup and a write for every page. URLs that are
known and were not fetched, ten times as many, are not looked at. A page is an answer of 200 with a
body, as it came last; of the pages that have one digest all but one are copies. Which page is the
first of them, `crawl/exports.py` says.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

import msgpack

from gossamer.frontier.rows import CAPTURE_FIELDS
from gossamer.frontier.store import Store, Table, walk
from gossamer.urls.keys import KEY_BYTES

_FEW: Final = 200_000  # pages whose digests may be a set: 15 MB
_STATUS, _SIZE, _DIGEST = map(CAPTURE_FIELDS.index, ("status", "size_bytes", "digest"))


def count_copies(store: Store, few: int = _FEW) -> int:
    """The pages in a state, as committed, that are copies of others."""
    # Of each page 8 bytes: two of ten million are mistaken once in 10^5 times.
    digests = array("q", (hash(one) for one in map(_page_digest, _last_captures(store)) if one))
    if len(digests) <= few:
        return len(digests) - len(set(digests))
    import numpy as np  # a crawl without a graph has not loaded it: 50 ms

    ordered = np.frombuffer(digests, np.int64)
    ordered.sort()  # in its place: of ten million pages a copy would be 80 MB
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def _last_captures(store: Store) -> Iterator[bytes]:
    """The newest capture of each URL; the table has them by URL and time."""
    key = newest = b""
    for name, row in walk(store, Table.CAPTURE):
        if name[:KEY_BYTES] != key and key:
            yield newest
        key, newest = name[:KEY_BYTES], row
    if key:
        yield newest


def _page_digest(capture: bytes) -> str:
    """Empty for all that is no answer of 200 with a body. A whole row costs five times as much."""
    values = msgpack.unpackb(capture)  # without the last ones that are empty
    is_page = len(values) > _SIZE and values[_STATUS] == 200 and values[_SIZE]
    return str(values[_DIGEST]) if is_page else ""
