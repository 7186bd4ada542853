"""What a crawl knows of its URLs, one array per fact.

Each URL has a *slot*: its row number, in the order in which URLs were found. A crawl gives slots to
the URLs of its frontier, the lab to the pages of a graph. Orders read the columns; who fills which
one is said beside it. Pure: no I/O, no clock.
"""

from __future__ import annotations

import copy
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
UrlSlots = NDArray[np.int32]  # of several URLs
Values = NDArray[np.float32]  # what URLs are worth; as long as the slots

_FIRST_ROOM: Final = 1_024
NO_RANK: Final = 0.15  # PageRank of a URL without links to it
NEUTRAL: Final = 0.5  # relevance of a URL of which nothing is known
_COMPUTED: Final = ("rank", "cash", "given", "relevance")  # columns that `recompute` may write


class PageColumns:
    """Facts about the URLs with slots 0 to `count` - 1. Arrays may be longer than `count`."""

    # name -> type and value of a new slot
    _COLUMNS: Final[dict[str, tuple[type[np.generic], float]]] = {
        "depth": (np.int32, 0),
        "site": (np.int32, 0),
        "links": (np.int32, 0),
        "is_fetched": (np.bool_, 0),
        "rank": (np.float32, NO_RANK),
        "cash": (np.float32, 0),
        "given": (np.float32, 0),
        "relevance": (np.float32, NEUTRAL),
        "text": (np.float32, 0),
    }

    depth: Ints  # links from a seed, by the path that was found first
    site: Ints  # number of its site
    links: Ints  # fetched pages that link to it
    is_fetched: NDArray[np.bool_]
    rank: Values  # PageRank (`ranks.py`), written by orders that compute it; 0.15 without links
    cash: Values  # of OPIC: what it holds now; written by it
    given: Values  # of OPIC: what it has handed on so far; written by it
    relevance: Values  # to the topic of a focused crawl, 0 to 1: predicted, or judged when fetched
    text: Values  # what URL, anchor and context are worth, for orders that look at words

    def __init__(self, room: int = _FIRST_ROOM) -> None:
        """`room` is the expected number of URLs; more are possible."""
        self.count = 0
        self.fetched = 0  # slots that are fetched
        self.site_fetched: Ints = np.zeros(_FIRST_ROOM, np.int32)  # by number of site
        for name, (kind, value) in self._COLUMNS.items():
            setattr(self, name, np.full(max(room, 1), value, kind))

    def add(self, depths: Ints | int, sites: Ints | int, many: int = 1) -> int:
        """Give slots to `many` new URLs; the first of them. The others follow it."""
        first, self.count = self.count, self.count + many
        if self.count > len(self.depth):
            self._grow()
        self.depth[first : self.count] = depths
        self.site[first : self.count] = sites
        most = int(np.max(sites)) if many else 0
        if most >= len(self.site_fetched):
            self.site_fetched = longer(self.site_fetched, 2 * most, 0)
        return first

    def note_fetched(self, slots: UrlSlots) -> None:
        """These URLs, all different, have been fetched. Those that were before count once."""
        new = slots[~self.is_fetched[slots]]
        self.is_fetched[new] = True
        self.fetched += len(new)
        np.add.at(self.site_fetched, self.site[new], 1)

    def note_links(self, targets: UrlSlots) -> None:
        """Fetched pages link to these; one entry for each link."""
        np.add.at(self.links, targets, 1)

    def snapshot(self) -> PageColumns:
        """The columns as they are now, for `ColumnOrder.recompute` in another thread. `adopt` takes
        over what was computed; columns that orders do not write are shared."""
        other = copy.copy(self)
        for name in ("is_fetched", *_COMPUTED):
            setattr(other, name, getattr(self, name).copy())
        return other

    def adopt(self, other: PageColumns) -> None:
        """Take over the columns that orders compute, for the slots that a snapshot has."""
        for name in _COMPUTED:
            getattr(self, name)[: other.count] = getattr(other, name)[: other.count]

    def _grow(self) -> None:
        for name, (_, value) in self._COLUMNS.items():
            setattr(self, name, longer(getattr(self, name), 2 * self.count, value))


def longer(column: NDArray[Any], room: int, value: float) -> NDArray[Any]:
    """The column with room for so many entries; new ones have `value`."""
    more = np.full(room - len(column), value, column.dtype)
    return np.concatenate((column, more))
