"""Assemble what decides about requests: admission, frontier and scheduler.

This is the only function that does. A crawl (`node/build.py`) and a dry run (`node/dry_run.py`)
both call it, so a dry run tells what the crawl would do. They differ in the clock, in who is told
of refusals, and in what becomes of a lease.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gossamer.base.clock import Clock
from gossamer.collection.stored_settings import Typed, stored_bans, stored_trust, with_stored_seeds
from gossamer.collection.visit_log import read_visits
from gossamer.fetch.guard import guard_of
from gossamer.frontier.frontier import Frontier, Refusal
from gossamer.frontier.link_exchange import LinkExchange, exchange_for
from gossamer.frontier.meta_keys import CLEAN_KEY, FOCUS_KEY, SALT_KEY
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable, Store
from gossamer.policies.duplicates import duplicates_named
from gossamer.policies.named_order import is_focused, order_named, values_named
from gossamer.policies.policies import Policies
from gossamer.policies.stop import Allowance
from gossamer.schedule.admission import Admission
from gossamer.schedule.rules import CrawlRules
from gossamer.schedule.scheduler import Scheduler
from gossamer.settings import Settings
from gossamer.urls.bans import BanList
from gossamer.urls.forgotten import Forgotten
from gossamer.urls.keys import Keys

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.policies.orders.column_order import ColumnOrder


@dataclass(frozen=True, slots=True)
class StoredCrawl:
    """What a collection and its operator bring to a run."""

    store: Store
    keys: Keys
    seeds: Sequence[str]  # of this run, without those that were forgotten
    all_seeds: Sequence[str]  # with those of the runs before
    forgotten_seeds: Sequence[str]  # of this run; they are not requested
    typed: Typed
    bans: Sequence[str]  # that were added while a crawl was running
    trusted: Sequence[str]  # lines of URLs that are no traps
    forgotten: Forgotten
    is_unclean: bool  # the last process was killed


class Listeners(NamedTuple):
    """Who is told of URLs that are not requested: when they are found, and after they were
    queued."""

    on_refused: Callable[[list[Refusal]], None]
    on_decided: Callable[[UrlRow], None]


@dataclass(frozen=True, slots=True)
class CrawlCore:
    """The parts that decide which URL is requested when."""

    keys: Keys
    admission: Admission
    frontier: Frontier
    exchange: LinkExchange
    scheduler: Scheduler
    policies: Policies


def read_stored(
    store: Store, seeds: Sequence[str], forgotten: Forgotten, found: Sequence[str] = ()
) -> StoredCrawl:
    """Read what a run begins with. `seeds` are those of this run; `found` are further ones, which
    nobody typed."""
    left_out = [seed for seed in (*seeds, *found) if forgotten.covers(seed)]
    typed_seeds = [seed for seed in seeds if seed not in left_out]
    all_seeds, typed = with_stored_seeds(store, typed_seeds)
    more = [seed for seed in found if seed not in left_out]
    seeds = list(dict.fromkeys((*typed_seeds, *more)))
    all_seeds = list(dict.fromkeys((*all_seeds, *more)))
    return StoredCrawl(
        store=store,
        keys=Keys(store.find(StateTable.META, SALT_KEY) or b""),
        seeds=seeds,
        all_seeds=all_seeds,
        forgotten_seeds=left_out,
        typed=typed,
        bans=stored_bans(store),
        trusted=stored_trust(store),
        forgotten=forgotten,
        is_unclean=store.find(StateTable.META, CLEAN_KEY) == b"0",
    )


def policies_for(settings: Settings, store: Store | None = None) -> Policies:
    """The policies that the settings name. A focused crawl begins with the model in the store."""
    return Policies(
        order=order_named(settings.frontier.order),
        duplicates=duplicates_named(settings.duplicates),
        stop=Allowance(settings.limits),
        values=values_named(settings.frontier, read_visits(settings), focus_for(settings, store)),
    )


def focus_for(settings: Settings, store: Store | None = None) -> ColumnOrder | None:
    """The order of a focused crawl; None for another crawl, or without a topic. Raises
    UsageError."""
    if not is_focused(settings.frontier.order):
        return None
    from gossamer.collection.focus_topic import focus_of  # loads NumPy

    return focus_of(settings, store.find(StateTable.META, FOCUS_KEY) if store else None)


def assemble(
    crawl: StoredCrawl,
    settings: Settings,
    policies: Policies,
    clock: Clock,
    listeners: Listeners,
) -> CrawlCore:
    """Join admission, frontier and scheduler over a stored crawl, or over an empty store."""
    files = BanList.read(map(Path, settings.scope.ban_files))
    admission = Admission(settings, crawl.all_seeds, files, BanList(crawl.bans), crawl.forgotten)
    frontier = Frontier(
        crawl.store,
        settings.frontier,
        admission,
        watch_depth=settings.scope.depth >= 0,
        on_refused=listeners.on_refused,
        policies=policies,
        trusted=BanList(crawl.trusted),
    )
    rules = CrawlRules(
        keys=crawl.keys,
        guard=guard_of(settings.fetch),
        stop=policies.stop,
        typed_hosts=crawl.typed.hosts,
        secret_origins=crawl.typed.secret_origins,
        find_ban=admission.find_ban,
        may_request_sitemap=admission.may_request_sitemap,
        is_in_scope=admission.is_in_scope,
    )
    scheduler = Scheduler(
        frontier, settings, clock, rules, listeners.on_decided, is_unclean=crawl.is_unclean
    )
    exchange = exchange_for(frontier, policies.partition)
    return CrawlCore(crawl.keys, admission, frontier, exchange, scheduler, policies)
