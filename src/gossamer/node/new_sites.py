"""Detect seeds that would mix a second crawl into a collection.

The default collection is `./gossamer`, so two crawls of two sites may meet there by accident. A
seed is of a new site if all of this holds: the collection has fetched pages, none from the seed's
host; no earlier seed is of the same site (registrable domain); and the scope does not contain the
seed anyway, as `any` and `list` may. Such a seed is added only with the operator's consent.

Redirect targets of seeds are stored with the seeds, so they count as known.
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
from gossamer.frontier.store import StateTable, Store
from gossamer.schedule.admission import build_scope
from gossamer.settings import Settings
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import Keys
from gossamer.urls.site import site_of

_SHOWN: Final = 3


class NewSite(UsageError):
    """A seed is of a site that is new to the collection."""

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
    """The new sites of the seeds. Raises NewSite if they may not be added."""
    sites = new_sites(store, settings, seeds)
    if sites and not may_add:
        met = dict.fromkeys(site_of(host_of(seed)) for seed in stored_seeds(store))
        raise NewSite(collection, sites, tuple(met), _counts(store).fetched)
    return sites


def new_sites(store: Store, settings: Settings, seeds: Sequence[str]) -> tuple[str, ...]:
    """The sites of the seeds that are new to the collection."""
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
    keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
    found = (
        site_of(host_of(seed))
        for seed in new
        if not scope.judge(seed).is_in and not _was_fetched_from(store, keys.of(seed))
    )
    return tuple(dict.fromkeys(site for site in found if site not in sites))


def _counts(store: Store) -> Counts:
    return Counts.decode(store.find(StateTable.META, COUNTS_KEY))


def _was_fetched_from(store: Store, key: bytes) -> bool:
    """Whether the collection holds a response of the URL's host."""
    row = store.find(StateTable.HOST, key[:HOST_BYTES])
    return row is not None and HostRow.decode(row).fetched > 0


def _some(names: Sequence[str]) -> str:
    """`a.org, b.org and 3 more`."""
    left = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {left} more" if left > 0 else "")
