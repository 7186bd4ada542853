"""The feed of the changes of a collection, of a site, or of the pages that match a query.

A feed for a query has the changes of pages that are in the index and match it now. A page that is
gone has left the index, so such a feed does not tell that it is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from gossamer.base.clock import iso_of
from gossamer.frontier.rows import time_of
from gossamer.frontier.store import StateTable, Store
from gossamer.reader.change_text import facts_text
from gossamer.reader.changes import SeenChange
from gossamer.search.results import Request
from gossamer.transfer.feeds import Feed, FeedEntry

_MOST_MATCHES: Final = 1_000  # pages of a query, the newest first
_LABELS: Final = {
    "new": "New",
    "changed": "Changed",
    "gone": "Gone",
    "back": "Back again",
    "moved": "Moved",
}


@dataclass(frozen=True, slots=True)
class FeedFilter:
    """What a feed is about; empty: everything."""

    site: str = ""
    query: str = ""
    kinds: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The filter for people: ` on example.org that match "rose"`."""
        site = f" on {self.site}" if self.site else ""
        return site + (f" that match {self.query}" if self.query else "")


def feed_of(
    found: Iterable[SeenChange],
    wanted: FeedFilter,
    collection: str,
    *,
    origin: str,
    address: str = "",
    page: str = "",
    page_of: Callable[[SeenChange], str] = lambda _change: "",
) -> Feed:
    """The feed of these changes, the newest first. `origin` tells collections apart."""
    kinds = f" ({', '.join(wanted.kinds)})" if wanted.kinds else ""
    return Feed(
        title=f"Changes{wanted.words}{kinds}: {collection}",
        identity=f"{origin}|{wanted.site}|{wanted.query}|{','.join(wanted.kinds)}",
        entries=tuple(_entry(change, page_of(change)) for change in found),
        address=address,
        page=page,
    )


def _entry(change: SeenChange, page: str) -> FeedEntry:
    label = _LABELS[change.kind.value]
    return FeedEntry(
        url=change.url,
        title=f"{label}: {change.title or change.url}",
        text=facts_text(change) or f"{label} page",
        at_us=change.at_us,
        kind=change.kind.value,
        page=page,
        facts=change.as_json(),
    )


def request_for(query: str, store: Store, since_us: int) -> Request:
    """The search for the pages whose changes a feed of this query has: those whose present version
    is not older than the first change.
    """
    first = store.scan(StateTable.CHANGE, b"", None, 1)
    from_us = max(since_us, time_of(first[0][0]) if first else 0)
    return Request(
        query=query, limit=_MOST_MATCHES, sort="date", since=iso_of(from_us), all_copies=True
    )
