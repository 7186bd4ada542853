"""How many pages are byte for byte the same as another?

Counted when a crawl ends, in one walk over the state: some 2 microseconds for each known URL, where
a table of digests would cost a lookup and a write for every page. A page is an answer of 200 with a
body; of the pages that have one digest all but one are copies. Which page is the first of them,
`crawl/exports.py` says.
"""

from __future__ import annotations

from array import array

from gossamer.frontier.rows import page_digest
from gossamer.frontier.store import Store, Table

_PIECE_ROWS = 10_000


def count_copies(store: Store) -> int:
    """The pages in a state, as committed, that are copies of others."""
    import numpy as np  # only at the end of a crawl, when nobody waits for it

    digests = array("q")  # of each page 8 bytes: two of ten million are mistaken once in 10^5 times
    start = b""
    while rows := store.scan(Table.URL, start, None, _PIECE_ROWS):
        digests.extend(hash(digest) for _, row in rows if (digest := page_digest(row)))
        start = rows[-1][0] + b"\0"
    return len(digests) - int(np.unique(np.array(digests)).size)
