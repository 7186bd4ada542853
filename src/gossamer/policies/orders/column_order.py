"""The contract of orders that score URLs by what the crawl has learned of all of them.

One object serves one run: a crawl, or a replay in the lab. The caller keeps the columns up to
date, tells the order of every fetched page (`learn`), asks it now and then whether scores must be
computed again (`recompute`), and requests the URL with the largest value next. Pure: no I/O, no
clock.
"""

from __future__ import annotations

from typing import Protocol

from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch


class ColumnOrder(Protocol):
    """Scores URLs by their columns."""

    @property
    def site_power(self) -> float:
        """How much a site loses by what it has had. Where URLs of different sites compete, values
        are divided by (1 + fetched pages of the site) to this power; pages in flight count as
        fetched. 0: sites do not matter. It may change when `recompute` returns True."""
        ...

    @property
    def uses_links(self) -> bool:
        """Whether the column `links`, and `learn` and `recompute`, are needed. Otherwise the caller
        does not collect links: it saves a lookup for each."""
        ...

    @property
    def is_newest_first(self) -> bool:
        """Among equal values the URL that was found last comes first; otherwise the first found."""
        ...

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        """What URLs are worth now: 0 or more, the largest first."""
        ...

    def learn(self, pages: PageColumns, edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        """Pages were fetched. Columns and edges know of them already. An order that hands values on
        along links does it here. The URLs whose values may have changed; some may be named more
        than once."""
        ...

    def recompute(self, pages: PageColumns, edges: Edges, /) -> bool:
        """Compute values anew if the crawl has grown enough since the last time; whether it was
        done. Then any value may have changed. The cost of all calls together is bounded by a
        constant times the cost of one at the end."""
        ...
