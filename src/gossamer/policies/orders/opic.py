"""OPIC: the URL that has received the most cash first (Abiteboul, Preda and Cobena, 2003).

Each seed starts with a cash of 1. A page that is fetched hands all its cash on, in equal parts to
the pages it links to; a page without links gives it to a virtual page, which links to all. Cash
that comes to a fetched page flows on along its stored links, without a request: at once where it
is as much as a queued URL needs to be fetched now, else when the crawl has grown by 10 %. Then the
virtual page hands its cash on, too. No cash is made and none is lost. What a page has handed on is
`given`; with what it holds it is OPIC's estimate of importance.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.growth import Growth
from gossamer.policies.orders.ranks import spread

_HOPS: Final = 2  # of cash through fetched pages at once; each costs as much as a fetched page
_ROUNDS: Final = 5  # of all cash when the crawl has grown: what is left then is small


class Opic:
    """Keeps the columns `cash` and `given`."""

    site_power: Final = 0.0
    uses_links: Final = True
    is_newest_first: Final = False

    def __init__(self) -> None:
        self._growth = Growth()
        self.virtual = 0.0  # cash of the virtual page

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        return pages.cash[slots]

    def learn(self, pages: PageColumns, edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        sources = batch.sources
        pages.cash[sources[_is_new_seed(pages, sources)]] = 1.0
        least = pages.cash[sources].min(initial=np.inf)
        changed = [self._hand_on(pages, batch)]
        for _ in range(_HOPS):
            rich = self._rich(pages, changed[-1], least, len(sources))
            if not len(rich):
                break
            changed.append(self._hand_on(pages, edges.of(rich)))
        return np.concatenate(changed)

    def recompute(self, pages: PageColumns, edges: Edges, /) -> bool:
        """Let all cash of fetched pages flow, if the crawl has grown enough."""
        if not self._growth.is_due(pages.fetched):
            return False
        count = pages.count
        is_fetched = pages.is_fetched[:count]
        counts, links = spread(edges, count)
        cash = pages.cash[:count].astype(np.float64)
        for _ in range(_ROUNDS):
            moved = np.where(is_fetched, cash, 0.0)
            pages.given[:count] += moved.astype(np.float32)
            adrift = self.virtual + float(moved[counts == 0].sum())
            cash = cash - moved + links @ (moved / np.maximum(counts, 1)) + adrift / count
            self.virtual = 0.0
        pages.cash[:count] = cash
        return True

    def _hand_on(self, pages: PageColumns, batch: LinkBatch) -> UrlSlots:
        """Let the cash of fetched pages flow along their links; where it went."""
        moved = pages.cash[batch.sources]
        pages.given[batch.sources] += moved
        pages.cash[batch.sources] = 0.0
        self.virtual += float(moved[batch.counts == 0].sum(dtype=np.float64))
        shares = moved / np.maximum(batch.counts, 1).astype(np.float32)
        np.add.at(pages.cash, batch.targets, np.repeat(shares, batch.counts))
        return batch.targets

    def _rich(
        self, pages: PageColumns, slots: UrlSlots, least: np.float32, most: int
    ) -> UrlSlots:  # fmt: skip
        """Fetched pages among the slots that have at least so much cash; at most so many."""
        rich = np.unique(slots[pages.is_fetched[slots] & (pages.cash[slots] >= least)])
        if len(rich) > most:
            rich = rich[np.argsort(-pages.cash[rich], kind="stable")[:most]]
        return rich


def _is_new_seed(pages: PageColumns, slots: UrlSlots) -> np.typing.NDArray[np.bool_]:
    """Seeds that were fetched for the first time and were linked by no page before."""
    is_new: np.typing.NDArray[np.bool_] = (
        (pages.depth[slots] == 0) & (pages.cash[slots] == 0) & (pages.given[slots] == 0)
    )
    return is_new
