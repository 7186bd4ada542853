"""Tell log and index of URLs that were decided without a request."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.collection.crawl_log import CrawlLog
from gossamer.frontier.rows import Standing, UrlRow, standing_of
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.frontier.visits.results import OWN_RULES
from gossamer.node.indexing import IndexFeed
from gossamer.urls.keys import Keys


@dataclass(frozen=True, slots=True)
class DecidedUrls:
    """Passes decisions on."""

    crawl_log: CrawlLog
    index: IndexFeed | None
    keys: Keys

    def note(self, row: UrlRow) -> None:
        """A URL was refused or has failed. A page that was fetched before leaves the index if its
        site forbids it now."""
        self.crawl_log.note_row(row)
        if self.index is not None and has_lost_entry(row) and row.reason not in OWN_RULES:
            self.index.drop(self.keys.of(row.url))


def has_lost_entry(row: UrlRow) -> bool:
    """Whether a page was fetched once and is refused now."""
    return row.standing == Standing.REFUSED and bool(row.body_us)


def drop_lost_entries(store: Store, index: IndexFeed) -> None:
    """After a kill: the index may still have pages that the state calls refused. No exchange of the
    archive says so."""
    for key, packed in walk(store, StateTable.URL):
        if standing_of(packed) == Standing.REFUSED and has_lost_entry(UrlRow.decode(packed)):
            index.drop(key)
