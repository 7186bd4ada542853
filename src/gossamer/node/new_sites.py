"""Would a seed mix a second crawl into a collection?

A collection without a name is `./gossamer`, so two crawls of two sites meet there by accident. A
seed is of a new site when the collection has fetched pages, none of them from the seed's host, no
earlier seed belongs to the seed's site (registrable domain), and the scope in force does not hold
the seed anyway, as `any` and `list` may. Such a seed joins only when the operator says so.

The targets of redirects of seeds are stored with the seeds, so they count as met.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gossamer.base.plurals import counted
from gossamer.collection.stored_settings import stored_seeds
from gossamer.errors import UsageError
from gossamer.frontier.counts import Counts
from gossamer.frontier.frontier import HOST_BYTES
from gossamer.frontier.meta_keys import COUNTS_KEY, SALT_KEY
from gossamer.frontier.rows import HostRow
from gossamer.frontier.store import Store, Table
from gossamer.schedule.admission import build_scope
from gossamer.settings import Settings
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import Keys
from gossamer.urls.site import site_of

_SHOWN: Final = 3


class NewSite(UsageError):
    """A seed is of a site that the collection has not met."""

    def __init__(
        self, collection: Path, sites: Sequence[str], met: Sequence[str], pages: int
    ) -> None:
        self.collection = collection
        self.announced = (
            f"{_some(sites)} {'is' if len(sites) == 1 else 'are'} new to {collection}, which holds "
            f"a crawl of {_some(met)} ({counted(pages, 'page')})"
        )
        super().__init__(
            f"{self.announced}; add --add to crawl it into the same collection, or name another "
            "collection with -c DIR"
        )


def added_sites(
    collection: Path, store: Store, settings: Settings, seeds: Sequence[str], *, may_add: bool
) -> tuple[str, ...]:
    """The new sites that the seeds bring. Raises NewSite where they may not."""
    sites = new_sites(store, settings, seeds)
    if sites and not may_add:
        met = dict.fromkeys(site_of(host_of(seed)) for seed in stored_seeds(store))
        raise NewSite(collection, sites, tuple(met), _counts(store).fetched)
    return sites


def new_sites(store: Store, settings: Settings, seeds: Sequence[str]) -> tuple[str, ...]:
    """The sites of those seeds that are of none that the collection has met."""
    before = stored_seeds(store)
    counts = _counts(store)
    if not before or not (counts.fetched or counts.redirects):
        return ()
    hosts = set(map(host_of, before))
    new = [seed for seed in seeds if host_of(seed) not in hosts]
    if not new:
        return ()
    scope = build_scope(settings, before)
    sites = set(map(site_of, hosts))
    keys = Keys(store.find(Table.META, SALT_KEY) or b"")
    found = (
        site_of(host_of(seed))
        for seed in new
        if not scope.judge(seed).is_in and not _was_fetched_from(store, keys.of(seed))
    )
    return tuple(dict.fromkeys(site for site in found if site not in sites))


def _counts(store: Store) -> Counts:
    return Counts.decode(store.find(Table.META, COUNTS_KEY))


def _was_fetched_from(store: Store, key: bytes) -> bool:
    """Whether an answer of the URL's host is in the collection."""
    row = store.find(Table.HOST, key[:HOST_BYTES])
    return row is not None and HostRow.decode(row).fetched > 0


def _some(names: Sequence[str]) -> str:
    """`a.org, b.org and 3 more`."""
    left = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {left} more" if left > 0 else "")
