"""Open a node: join all parts over a collection, and bring it up to date.

    start/assemble.py     what decides about requests: admission, frontier, scheduler
    start/build_pool.py   the workers that carry them out
    start/catch_up.py     what the archive holds beyond state, graph and index

Nothing differs between one machine and many but what is plugged in here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gossamer.base.clock import Clock
from gossamer.collection.crawl_log import CrawlLog
from gossamer.collection.directory import CollectionPaths, complete_change, locked, open_to_write
from gossamer.collection.forgotten import mend_forgotten
from gossamer.collection.starting_points import StartingPoint, urls_of
from gossamer.collection.stored_settings import (
    changed_settings,
    note_start,
    stored_seeds,
    stored_settings,
)
from gossamer.collection.visit_log import read_visits
from gossamer.errors import StoreError, UsageError
from gossamer.fetch.fetcher import checked_header
from gossamer.fetch.guard import AddressGuard, forbidden_port
from gossamer.fetch.judge import ResponseJudge
from gossamer.fetch.network import NetworkAccess
from gossamer.fetch.resolve import Resolver
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import LOG_KEY, LOG_SUM_KEY, REJUDGE_KEY
from gossamer.frontier.store import StateTable, Store
from gossamer.node.bans import LiveBans
from gossamer.node.commit import Committer
from gossamer.node.duplicates.background import LiveComparing
from gossamer.node.duplicates.refill import refill
from gossamer.node.import_intake import ImportIntake
from gossamer.node.indexing import IndexFeed
from gossamer.node.link_files import LinkFiles
from gossamer.node.node import Node
from gossamer.node.notify.build_notifier import build_notifier
from gossamer.node.notify.targets import targets_of
from gossamer.node.parts import Parts
from gossamer.node.recovery import Recovered
from gossamer.node.rescoring import LiveScores
from gossamer.node.start.add_revisit import add_revisit
from gossamer.node.start.assemble import (
    CrawlCore,
    Listeners,
    StoredCrawl,
    assemble,
    focus_for,
    policies_for,
    read_stored,
)
from gossamer.node.start.build_keeping import build_keeping, restore_keeping, uses_importance
from gossamer.node.start.build_pool import Workers, build_workers
from gossamer.node.start.build_values import add_values
from gossamer.node.start.catch_up import CatchUp
from gossamer.node.start.decided_urls import DecidedUrls
from gossamer.node.visits.revisit_filter import RevisitFilter
from gossamer.policies.named_order import disk_order, order_named, values_named
from gossamer.policies.policies import Policies
from gossamer.policies.retention import RetentionRule
from gossamer.policies.throttle import Throttle
from gossamer.records import Found
from gossamer.schedule.admission import build_scope
from gossamer.schedule.matches import count_matches, matcher
from gossamer.settings import Settings
from gossamer.urls.bans import BanList
from gossamer.urls.canonical import port_of
from gossamer.urls.keys import Keys
from gossamer.workers.build_worker import without_requests
from gossamer.workers.guarded_reader import GuardedReader

_JUDGED_BY: Final = (
    "scope.",
    "frontier.max_",
    "frontier.avoid_unsafe",
    "fetch.max_redirects",
    "fetch.ports",
)
_WANTS_SITEMAPS: Final = ("urls.sitemaps", "urls.sitemaps_per_host", "scope.kind", "scope.depth")


Changed = dict[str, tuple[object, object]]  # settings: what they were, and what they are


def no_checkpoint(folder: Path) -> None:
    """Where the state is not on a disk."""
    raise StoreError(f"there is no state to save in {folder}")


@dataclass(frozen=True, slots=True)
class Opened:
    """A node that is ready to run, and what was found when it was opened."""

    node: Node
    recovered: Recovered
    changed: Changed
    is_new: bool
    new_seeds: int
    settings: Settings  # in force
    intake: ImportIntake | None = None  # set only if the node was opened for an import
    forgotten_seeds: Sequence[str] = ()  # they are not requested
    new_sites: Sequence[str] = ()  # of the seeds, which the collection had not met
    revisit_since: int = 0  # when a revisit began that is resumed; 0: there is none
    checkpoint: Callable[[Path], None] = no_checkpoint  # lays the state aside, for a backup


SettingsFor = Callable[[Settings | None], Settings]


def open_node(
    paths: CollectionPaths,
    settings_for: SettingsFor,
    seeds: Sequence[str],
    clock: Clock,
    stack: ExitStack,
    *,
    may_change: bool = False,
    is_import: bool = False,
    is_forever: bool = False,
    revisit: RevisitFilter | None = None,
    policies: Policies | None = None,
    points: Sequence[StartingPoint] = (),
) -> Opened:
    """Open or make the collection, bring it up to its archive, and admit the seeds.

    With `is_import` no request is sent, and `intake` takes what is brought. With `is_forever` the
    crawl has no end, and visits known pages again; with `revisit` it visits those once more.
    `points` are seeds that a search gave: nobody typed them.
    `settings_for` is told the settings of the stored crawl, or None. Without `policies` the
    settings name them. Raises UsageError, and changes nothing, if a stored crawl is to continue in
    another scope or normal form and `may_change` is not set. The caller closes the node, then
    `stack`.
    """
    complete_change(paths)
    is_new = not paths.exists
    settings = settings_for(None)
    if is_new:
        check_usable(settings, [*seeds, *urls_of(points)])
    paths.make()
    stack.enter_context(locked(paths))
    store = open_to_write(paths, settings.frontier.memory_mb)
    try:
        if not is_new:
            settings = settings_for(stored_settings(store))
            used = without_requests(settings) if is_import else settings
            check_usable(used, [*stored_seeds(store), *seeds], store)
        index = None
        if settings.node.index:
            index = IndexFeed(paths.index, clock, settings.node.index_every_s)
            stack.callback(index.close)
        policies = policies or policies_for(settings, store)
        start = _Start(
            paths=paths, store=store, index=index, settings=settings, clock=clock,
            policies=replace(policies, values=None) if is_import else policies,
            is_new=is_new, is_import=is_import, is_forever=is_forever, revisit=revisit,
            points=points,
        )  # fmt: skip
        changed = changed_settings(store, settings, may_change=may_change)
        return replace(_open(start, seeds, changed), checkpoint=store.checkpoint)
    except BaseException:
        store.close()
        raise


def check_usable(settings: Settings, seeds: Sequence[str], store: Store | None = None) -> None:
    """Raise for everything in the settings that only its user can tell to be wrong. `store`: of a
    crawl that is resumed."""
    build_scope(settings, seeds)
    BanList.read(map(Path, settings.scope.ban_files))
    ResponseJudge(settings.fetch.types, settings.fetch.max_body_bytes)
    AddressGuard(settings.fetch.allow_private)
    NetworkAccess(settings.fetch)
    Throttle(settings.node.hours, settings.fetch.max_rate_bytes)
    order_named(settings.frontier.order)
    values_named(settings.frontier, read_visits(settings), focus_for(settings, store))
    targets_of(settings.watch, Path())
    RetentionRule.read(settings.archive.keep)
    for header in settings.fetch.headers:
        checked_header(header)
    for seed in seeds:
        refused = forbidden_port(port_of(seed), settings.fetch.ports)
        if refused is not None:
            raise UsageError(f"{seed} cannot be requested: {refused}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What a node is opened with."""

    paths: CollectionPaths
    store: Store
    index: IndexFeed | None
    settings: Settings
    policies: Policies
    clock: Clock
    is_new: bool
    is_import: bool
    is_forever: bool
    revisit: RevisitFilter | None
    points: Sequence[StartingPoint]


def _open(start: _Start, seeds: Sequence[str], changed: Changed) -> Opened:
    """Join the parts, catch up with the archive, and admit the seeds."""
    paths, store, settings, clock = start.paths, start.store, start.settings, start.clock
    forgotten = mend_forgotten(paths.takedowns, clock.wall_us())
    crawl = read_stored(store, seeds, forgotten, urls_of(start.points))
    log_length = int.from_bytes(store.find(StateTable.META, LOG_KEY) or b"", "big")
    crawl_log = CrawlLog(paths.log, log_length, store.find(StateTable.META, LOG_SUM_KEY))
    decided = DecidedUrls(crawl_log, start.index, crawl.keys)
    listeners = Listeners(crawl_log.note_refusals, decided.note)
    core = assemble(crawl, settings, start.policies, clock, listeners)
    workers = build_workers(
        paths,
        crawl,
        settings,
        clock,
        is_import=start.is_import,
        counts_links=_counts_links(start.policies) or uses_importance(settings),
    )
    parts = _parts(start, crawl, core, workers, crawl_log, log_length)
    if not start.is_import:
        parts.keeping = build_keeping(
            paths, settings, core.frontier, parts.links, decided.note, clock
        )
    node = Node(parts)
    catch_up = CatchUp(node, parts, workers, crawl)
    recovered = catch_up.run()
    refill(parts, store)
    new_seeds = _begin(start, crawl, core, changed)
    if not start.is_import:
        add_revisit(parts, store, start.revisit)
    parts.committer.commit_now()
    wants_others = any(key in _WANTS_SITEMAPS for key in changed)
    core.scheduler.open_sitemaps(store, is_changed=wants_others)
    if parts.revisit_run is not None and not parts.revisit_run.is_resumed:
        core.scheduler.read_sitemaps_again(store)
    catch_up.done()
    restore_keeping(parts.keeping, paths, store, crawl.keys)
    add_values(parts, store, crawl.keys)
    return Opened(
        node=node,
        recovered=recovered,
        changed=changed,
        is_new=start.is_new,
        new_seeds=new_seeds,
        settings=settings,
        intake=_intake(node, parts, workers, crawl, decided) if start.is_import else None,
        forgotten_seeds=crawl.forgotten_seeds,
        revisit_since=_resumed_since(parts),
    )


def _counts_links(policies: Policies) -> bool:
    """Whether workers report all links of a page, also those to known URLs."""
    values = policies.values
    return policies.order.uses_link_counts or (values is not None and values.uses_links)


def _resumed_since(parts: Parts) -> int:
    run = parts.revisit_run
    return run.began_us if run is not None and run.is_resumed else 0


def _parts(
    start: _Start,
    crawl: StoredCrawl,
    core: CrawlCore,
    workers: Workers,
    crawl_log: CrawlLog,
    log_length: int,
) -> Parts:
    """What the node is made of."""
    paths, store, settings, clock = start.paths, start.store, start.settings, start.clock
    frontier, pool = core.frontier, workers.pool
    links = LinkFiles(paths.graph, clock, settings.node.keep_parts_s)
    is_match = matcher(settings)
    if settings.limits.max_matches:
        core.policies.stop.matches = count_matches(store, is_match)
    committer = Committer(store, frontier, crawl_log, links, start.index, pool, log_length)
    parts = Parts(
        paths=paths,
        settings=settings,
        clock=clock,
        policies=core.policies,
        admission=core.admission,
        frontier=frontier,
        exchange=core.exchange,
        scheduler=core.scheduler,
        resolver=Resolver(clock, settings.fetch.dns_keep_s),
        pool=pool,
        reread=GuardedReader(workers.processor).read,
        committer=committer,
        crawl_log=crawl_log,
        links=links,
        index=start.index,
        is_match=is_match,
        bans=LiveBans(frontier, core.admission, clock, crawl.bans, crawl.trusted),
        comparing=_comparing(start, frontier, committer),
        scores=LiveScores(frontier, core.policies.order, clock),
        notifier=None if start.is_import else build_notifier(paths, store, settings.watch, clock),
        tidy_store=store.tidy,
        close_store=store.close,
    )
    if frontier.selection is not None and frontier.selection.focus is not None:
        from gossamer.node.focus.live_focus import add_focus  # loads NumPy

        add_focus(parts, frontier.selection.focus, crawl.keys, store)
    if start.is_forever:
        from gossamer.node.start.build_visits import add_visits  # loads NumPy

        add_visits(parts, store)
    return parts


def _comparing(start: _Start, frontier: Frontier, committer: Committer) -> LiveComparing | None:
    """The comparison of pages, where the mode of duplicates needs one."""
    if start.policies.duplicates.mode != "html95":
        return None
    # imported here, because it loads NumPy
    from gossamer.node.duplicates.comparing import Comparing, HtmlReader

    most_bytes = start.settings.parse.max_decoded_bytes
    reader = HtmlReader(start.store, start.paths.archive, most_bytes)
    comparing = Comparing(start.store, reader.read, start.policies.duplicates.threshold)
    return LiveComparing(comparing, frontier, committer, start.clock)


def _begin(start: _Start, crawl: StoredCrawl, core: CrawlCore, changed: Changed) -> int:
    """Note the start, apply rules that have changed, and queue the seeds; how many are new."""
    frontier, clock = core.frontier, start.clock
    note_start(
        start.paths, start.store, frontier, start.settings, crawl.all_seeds, crawl.typed, clock,
        changed, is_new=start.is_new, points=start.points,
    )  # fmt: skip
    if _has_other_places(changed):
        frontier.rescoring.start()
    if _must_judge_again(start.store, crawl.seeds, changed, is_new=start.is_new):
        frontier.judge_again(clock.wall_us())
        frontier.pending.delete(StateTable.META, REJUDGE_KEY)
    return _admit_seeds(core, crawl, clock.wall_us())


def _has_other_places(changed: Changed) -> bool:
    """Whether the order has changed so that queued URLs belong in other places on disk."""
    before, now = map(str, changed.get("frontier.order", ("", "")))
    return disk_order(before) != disk_order(now)


def _intake(
    node: Node, parts: Parts, workers: Workers, crawl: StoredCrawl, decided: DecidedUrls
) -> ImportIntake:
    assert workers.local is not None, "the worker of an import is in this process"
    return ImportIntake(
        parts.settings, crawl.keys, parts.frontier, workers.local, node, parts.committer,
        parts.links, parts.index, crawl.forgotten, parts.exchange, decided.note,
    )  # fmt: skip


def _must_judge_again(
    store: Store, seeds: Sequence[str], changed: Iterable[str], *, is_new: bool
) -> bool:
    """Whether the rules are others than those by which URLs were refused or queued.

    What was imported before there was a seed is out of every scope until the first one comes.
    """
    is_first_seed = bool(seeds) and not is_new and not stored_seeds(store)
    is_half_judged = store.find(StateTable.META, REJUDGE_KEY) is not None
    return is_half_judged or is_first_seed or any(key.startswith(_JUDGED_BY) for key in changed)


def _admit_seeds(core: CrawlCore, crawl: StoredCrawl, now_us: int) -> int:
    """Queue the seeds; how many were not known before.

    A seed that failed and is typed again is requested again. Without seeds that holds for the
    stored ones, where nothing has come of any of them.
    """
    frontier, keys, seeds = core.frontier, crawl.keys, crawl.seeds
    new_seeds = core.exchange.offer(_as_found(seeds, keys), now_us)
    is_in_vain = not (frontier.counts.fetched or frontier.counts.redirects)
    frontier.retry(_as_found(crawl.all_seeds if is_in_vain and not seeds else seeds, keys))
    return new_seeds


def _as_found(seeds: Iterable[str], keys: Keys) -> Iterable[Found]:
    return (Found(seed, keys.of(seed), 0) for seed in seeds)
