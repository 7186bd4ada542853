"""Join the stages: the one place that names concrete classes.

Nothing differs between one machine and many but what is plugged in here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from gossamer.archive.padding import SALT_FIELD
from gossamer.base.clock import Clock
from gossamer.base.values import dataclass
from gossamer.collection.archive_ends import known_ends
from gossamer.collection.archive_list import update_manifest
from gossamer.collection.cookies_file import CookiesFile
from gossamer.collection.crawl_log import CrawlLog
from gossamer.collection.directory import CollectionPaths, complete_change, locked, open_to_write
from gossamer.collection.forgotten import mend_forgotten
from gossamer.collection.stored_settings import (
    changed_settings,
    note_start,
    stored_bans,
    stored_seeds,
    stored_settings,
    with_stored_seeds,
)
from gossamer.errors import StoreError, UsageError
from gossamer.fetch.fetcher import checked_header
from gossamer.fetch.guard import Guard, forbidden_port, guard_of
from gossamer.fetch.judge import Judge
from gossamer.fetch.network import Network
from gossamer.fetch.resolve import Resolver
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import CLEAN_KEY, LOG_KEY, LOG_SUM_KEY, REJUDGE_KEY, SALT_KEY
from gossamer.frontier.store import Store, Table
from gossamer.node.bans import LiveBans
from gossamer.node.commit import Committer
from gossamer.node.import_intake import Intake
from gossamer.node.indexing import IndexFeed
from gossamer.node.link_files import LinkFiles
from gossamer.node.node import Node
from gossamer.node.parts import Parts
from gossamer.node.recovery import Recovered, recover
from gossamer.policies.throttle import Throttle
from gossamer.records import Found
from gossamer.schedule.admission import Admission, build_scope
from gossamer.schedule.matches import count_matches, matcher
from gossamer.schedule.rules import CrawlRules
from gossamer.schedule.scheduler import Scheduler
from gossamer.settings import Settings, values_of
from gossamer.urls.bans import BanList
from gossamer.urls.canonical import host_of, port_of
from gossamer.urls.keys import Keys
from gossamer.version import __version__
from gossamer.workers.build_worker import (
    WorkerContext,
    asking_nobody,
    build_gatherer,
    build_processor,
    build_worker,
    with_shared_memory,
)
from gossamer.workers.crash_marker import CrashMarker, delete_markers, read_deadly
from gossamer.workers.guarded_reader import GuardedReader
from gossamer.workers.pool import LocalPool, WorkerPool
from gossamer.workers.process import PageProcessor, ProcessedPage
from gossamer.workers.process_pool import Orders, ProcessPool
from gossamer.workers.worker import LinkGatherer

_MANY_HOSTS: Final = 50  # at a page a second each, one process does it with ease

_JUDGED_BY: Final = (
    "scope.",
    "frontier.max_",
    "frontier.avoid_unsafe",
    "fetch.max_redirects",
    "fetch.ports",
)
_WANTS_SITEMAPS: Final = ("urls.sitemaps", "urls.sitemaps_per_host", "scope.kind", "scope.depth")


def no_checkpoint(folder: Path) -> None:
    """Where the state is not on a disk."""
    raise StoreError(f"there is no state to save in {folder}")


@dataclass(frozen=True, slots=True)
class Opened:
    """A node that is ready to run, and what was found when it was opened."""

    node: Node
    recovered: Recovered
    changed: dict[str, tuple[object, object]]
    is_new: bool
    new_seeds: int
    settings: Settings  # in force
    intake: Intake | None = None  # for an import
    forgotten_seeds: Sequence[str] = ()  # they are not asked for
    new_sites: Sequence[str] = ()  # of the seeds, which the collection had not met
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
) -> Opened:
    """Open or make the collection, bring it up to its archive, and admit the seeds.

    With `is_import` nobody is asked: there are no workers, and `intake` takes what is brought.
    `settings_for` is told the settings of the stored crawl, or None. Raises UsageError, and
    changes nothing, when a stored crawl is to go on in another scope or normal form and
    `may_change` is not set. The caller closes the node, then `stack`.
    """
    complete_change(paths)
    is_new = not paths.exists
    settings = settings_for(None)
    if is_new:
        check_usable(settings, seeds)
    paths.make()
    stack.enter_context(locked(paths))
    store = open_to_write(paths, settings.frontier.memory_mb)
    try:
        if not is_new:
            settings = settings_for(stored_settings(store))
            used = asking_nobody(settings) if is_import else settings
            check_usable(used, [*stored_seeds(store), *seeds])
        index = None
        if settings.node.index:
            index = IndexFeed(paths.index, clock, settings.node.index_every_s)
            stack.callback(index.close)
        opened = _open(
            paths, store, index, settings, seeds, clock,
            is_new=is_new, may_change=may_change, is_import=is_import,
        )  # fmt: skip
        return replace(opened, checkpoint=store.checkpoint)
    except BaseException:
        store.close()
        raise


def check_usable(settings: Settings, seeds: Sequence[str]) -> None:
    """Raise for everything in the settings that only its user can tell to be wrong."""
    build_scope(settings, seeds)
    BanList.read(map(Path, settings.scope.ban_files))
    Judge(settings.fetch.types, settings.fetch.max_body_bytes)
    Guard(settings.fetch.allow_private)
    Network(settings.fetch)
    Throttle(settings.node.hours, settings.fetch.max_rate_bytes)
    for header in settings.fetch.headers:
        checked_header(header)
    for seed in seeds:
        refused = forbidden_port(port_of(seed), settings.fetch.ports)
        if refused is not None:
            raise UsageError(f"{seed} cannot be requested: {refused}")


def _open(
    paths: CollectionPaths,
    store: Store,
    index: IndexFeed | None,
    settings: Settings,
    seeds: Sequence[str],
    clock: Clock,
    *,
    is_new: bool,
    may_change: bool,
    is_import: bool,
) -> Opened:
    changed = changed_settings(store, settings, may_change=may_change)
    forgotten = mend_forgotten(paths.takedowns, clock.wall_us())
    left_out = tuple(seed for seed in seeds if forgotten.covers(seed))
    seeds = [seed for seed in seeds if seed not in left_out]
    all_seeds, typed = with_stored_seeds(store, seeds)
    live = stored_bans(store)
    files = BanList.read(map(Path, settings.scope.ban_files))
    admission = Admission(settings, all_seeds, files, BanList(live), forgotten)
    log_length = int.from_bytes(store.find(Table.META, LOG_KEY) or b"", "big")
    crawl_log = CrawlLog(paths.log, log_length, store.find(Table.META, LOG_SUM_KEY))
    frontier = Frontier(
        store,
        settings.frontier,
        admission,
        watch_depth=settings.scope.depth >= 0,
        on_refused=crawl_log.note_refusals,
    )
    salt = store.find(Table.META, SALT_KEY) or b""
    keys = Keys(salt)
    guard = guard_of(settings.fetch)
    processor = build_processor(settings, keys, forgotten)
    links = LinkFiles(paths.graph, clock, settings.node.keep_parts_s)
    is_unclean = store.find(Table.META, CLEAN_KEY) == b"0"
    scheduler = Scheduler(
        frontier, settings, clock,
        CrawlRules(
            keys=keys, guard=guard, typed_hosts=typed.hosts, secret_origins=typed.secret_origins,
            find_ban=admission.find_ban, may_request_sitemap=admission.may_ask_sitemap,
            is_in_scope=admission.is_in_scope,
        ),
        crawl_log.note_row, is_unclean=is_unclean,
    )  # fmt: skip
    context = WorkerContext(
        paths.path, "0", f"{clock.wall_us() // 1000:x}", _info(settings, all_seeds, salt)
    )
    gatherer = build_gatherer(settings, context, clock)
    workers = 0 if is_import else workers_for(settings, all_seeds)
    used = asking_nobody(settings) if is_import else settings
    cookies = CookiesFile(paths.cookies, used.fetch, clock)
    pool: WorkerPool
    if workers:
        shared = with_shared_memory(settings, workers)
        values = {key: value for key, value in values_of(shared).items() if value != ()}
        orders = Orders(values, salt, dict(context.info), context.run, workers, settings.node)
        pool = ProcessPool(paths, orders, processor, clock, cookies)
    else:
        worker = build_worker(used, context, processor, gatherer, clock, cookies.jar)
        pool = LocalPool(worker, cookies)
    is_match = matcher(settings)
    if settings.limits.max_matches:
        scheduler.allowance.matches = count_matches(store, is_match)
    committer = Committer(store, frontier, crawl_log, links, index, pool, log_length)
    node = Node(
        Parts(
            paths=paths,
            settings=settings,
            clock=clock,
            admission=admission,
            frontier=frontier,
            scheduler=scheduler,
            resolver=Resolver(clock, settings.fetch.dns_keep_s),
            pool=pool,
            reread=GuardedReader(processor).read,
            committer=committer,
            crawl_log=crawl_log,
            links=links,
            index=index,
            is_match=is_match,
            bans=LiveBans(frontier, admission, clock, live),
            tidy_store=store.tidy,
            close_store=store.close,
        )
    )
    deadly = read_deadly(paths.run)
    marker = CrashMarker(replace(context, name="start").marker)
    recovered = _recover(
        paths, store, settings, node, processor, gatherer, links, index, committer, deadly, marker
    )
    note_start(paths, store, frontier, settings, all_seeds, typed, clock, changed, is_new=is_new)
    if _must_judge_again(store, seeds, changed, is_new=is_new):
        frontier.judge_again(clock.wall_us())
        frontier.pending.delete(Table.META, REJUDGE_KEY)
    new_seeds = _admit_seeds(frontier, seeds, all_seeds, keys, clock.wall_us())
    committer.commit_now()
    scheduler.open_sitemaps(store, is_changed=any(key in _WANTS_SITEMAPS for key in changed))
    marker.close()
    delete_markers(paths.run, but=context.run)
    intake = (
        Intake(settings, keys, frontier, worker, node, committer, links, index, forgotten)
        if is_import
        else None
    )
    return Opened(
        node, recovered, changed, is_new, new_seeds, settings, intake, forgotten_seeds=left_out
    )


def _must_judge_again(
    store: Store, seeds: Sequence[str], changed: Iterable[str], *, is_new: bool
) -> bool:
    """Whether the rules are others than those by which URLs were refused or queued.

    What was imported before there was a seed is out of every scope until the first one comes.
    """
    is_first_seed = bool(seeds) and not is_new and not stored_seeds(store)
    is_half_judged = store.find(Table.META, REJUDGE_KEY) is not None
    return is_half_judged or is_first_seed or any(key.startswith(_JUDGED_BY) for key in changed)


def workers_for(settings: Settings, seeds: Sequence[str]) -> int:
    """How many worker processes: as many as cores, but none for a crawl that mostly rests."""
    if settings.node.workers >= 0:
        return 0 if sys.platform == "win32" else settings.node.workers
    hosts = len(set(map(host_of, seeds)))
    is_bounded = settings.scope.kind in ("page", "prefix", "host") and hosts < _MANY_HOSTS
    if sys.platform == "win32" or (settings.politeness.host_delay_s and is_bounded):
        return 0
    return os.cpu_count() or 1


def _recover(
    paths: CollectionPaths,
    store: Store,
    settings: Settings,
    node: Node,
    processor: PageProcessor,
    gatherer: LinkGatherer,
    links: LinkFiles,
    index: IndexFeed | None,
    committer: Committer,
    deadly: frozenset[tuple[str, int]],
    marker: CrashMarker,
) -> Recovered:
    known = dict(known_ends(store))
    linked = dict(links.manifest.covered) if settings.node.graph else known
    indexed = dict(index.covered) if index is not None else known

    def take(processed: ProcessedPage, to_state: bool) -> None:
        file, start = processed.report.stored.file, processed.report.stored.start
        if to_state:
            node.replay(processed)  # the index hears of it, too
        elif index is not None and start >= indexed.get(file, 0):
            index.take(processed, is_current=node.is_current(processed.report))
        if settings.node.graph and start >= linked.get(file, 0):
            gatherer.add(processed)
        # A whole archive may be read here, and memory is bounded.
        if gatherer.is_due and (due := gatherer.write_now()) is not None:
            links.note(due)
        if (index is not None and index.is_behind) or node.is_full:
            committer.commit_now()

    covered = {file: min(linked.get(file, 0), indexed.get(file, 0)) for file in known}
    recovered = recover(
        paths.archive, known, covered, processor, take, deadly=deadly, marker=marker
    )
    part = gatherer.write_now()
    if part is not None:
        links.note(part)
    update_manifest(paths.archive, store.find(Table.META, SALT_KEY) or b"", known)
    return recovered


def _admit_seeds(
    frontier: Frontier, seeds: Sequence[str], stored: Sequence[str], keys: Keys, now_us: int
) -> int:
    """Queue the seeds; how many were not known before.

    A seed that failed and is typed again is requested again. Without seeds that holds for the
    stored ones, where nothing has come of any of them.
    """
    new_seeds = frontier.admit(_as_found(seeds, keys), now_us)
    is_in_vain = not (frontier.counts.fetched or frontier.counts.redirects)
    frontier.retry(_as_found(stored if is_in_vain and not seeds else seeds, keys))
    return new_seeds


def _as_found(seeds: Iterable[str], keys: Keys) -> Iterable[Found]:
    return (Found(seed, keys.of(seed), 0) for seed in seeds)


def _info(settings: Settings, seeds: Sequence[str], salt: bytes) -> dict[str, str]:
    """The settings in force and the salt of keys, for the first record of every file; without
    credentials. With them the state can be made again (`operator_inputs.py`)."""
    default = values_of(Settings())
    kept = {
        key: repr(value)
        for key, value in values_of(settings).items()
        if value != default[key] and key != "fetch.headers"
    }
    return {
        "software": f"gossamer/{__version__}",
        "format": "WARC File Format 1.1",
        "robots": "obey",
        "seeds": " ".join(seeds[:20]),
        SALT_FIELD: salt.hex(),
        **kept,
    }
