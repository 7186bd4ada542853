"""Everything derived, made again from archive and log.

    graph   the parts of links and the CDXJ files, from the archive alone
    index   the words of pages, from the archive; which capture counts, the state says
    state   the page table: exchanges from the archive in the order in which they ended, as the
            live crawl took them; then, from the log, what was decided without asking

The new one is built beside the old and takes its place by renaming, so a kill leaves one or the
other; a rebuild that fails deletes what it has built. Pages are read under a guard
(`guarded_reader.py`): one that cannot be read is named, and the others are read.

What the crawl was told (seeds, settings, salt) comes from the old state, or, where that cannot be
read, from the archive's first record.
"""

from __future__ import annotations

import ast
import heapq
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgpack

from gossamer.archive.cdxj import write_cdxj
from gossamer.archive.reader import Exchange, iter_exchanges, read_info
from gossamer.archive.writer import disk_fault
from gossamer.base.clock import Clock
from gossamer.base.values import dataclass
from gossamer.crawl.admission import Admission
from gossamer.crawl.bans import bans_in, put_bans
from gossamer.crawl.commit import CLEAN_KEY, FILE_PREFIX, LOG_KEY, SEEDS_KEY
from gossamer.crawl.equip import build_harvester
from gossamer.crawl.forgotten import mend_forgotten, read_forgotten
from gossamer.crawl.guarded_reader import Guard, GuardedReader, UnreadPage, guarding
from gossamer.crawl.home import (
    FORMAT,
    SALT_KEY,
    VERSION_KEY,
    Home,
    locked,
    open_to_write,
    undo_half_swaps,
)
from gossamer.crawl.imported import note_imported
from gossamer.crawl.journal import note_act
from gossamer.crawl.links import LinkBook
from gossamer.crawl.rebuild_index import ended_us, rebuild_index
from gossamer.crawl.stored import SETTINGS_KEY, TYPED_KEY, stored_settings
from gossamer.crawl.worker import LinkGatherer
from gossamer.errors import NoCollection, StoreError, UsageError
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.rows import Standing
from gossamer.frontier.store import Store, Table
from gossamer.graph.manifest import NAME as MANIFEST
from gossamer.graph.ranks import compute
from gossamer.politeness.access import Access
from gossamer.politeness.retry import wait_before_retry
from gossamer.records import Found, Outcome, Purpose, Reason, Report
from gossamer.settings import KEYS, Settings, values_of, with_values
from gossamer.urls.bans import BanList
from gossamer.urls.canonical import host_of, origin_of
from gossamer.urls.keys import Keys

_COMMIT_EVERY: Final = 2_000  # exchanges: what one batch of the new state holds
_SHOWN: Final = 20  # pages that could not be read

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Told:
    """What the crawl was told by its operator."""

    settings: Settings
    seeds: tuple[str, ...]
    typed: tuple[str, ...]
    salt: bytes


def rebuild(home: Home, what: str, clock: Clock, tell: Tell) -> None:
    """Make `graph`, `index`, `state` or `all` again; what the crawl left out is no part of `all`.

    `tell` is told which pages could not be read. Raises NoCollection, CollectionInUse, CorruptFile,
    StoreError where it is not known what was forgotten, DiskFault; then what was built is deleted.
    """
    if what not in ("graph", "index", "state", "all"):
        raise UsageError(f"{what!r} cannot be rebuilt; there are graph, index, state and all")
    if not any(home.archive.glob("*.warc.gz")):
        raise NoCollection(home.path)
    home.run.mkdir(exist_ok=True)
    with locked(home):
        try:
            undo_half_swaps(home)
            mend_forgotten(home.takedowns, clock.wall_us())
            with guarding(home.run, "rebuild", clock) as guard:
                _rebuild(home, what, guard, clock, tell)
                _tell_unread(guard.unread, tell)
            note_act(home.acts, clock.wall_us(), "rebuild", what=what, unread=len(guard.unread))
        except BaseException as error:
            with suppress(OSError):
                undo_half_swaps(home)
            if isinstance(error, OSError):
                raise disk_fault(f"{what} of {home.path} could not be made", error) from error
            raise


def _rebuild(home: Home, what: str, guard: Guard, clock: Clock, tell: Tell) -> None:
    told = _told(home)
    if what == "graph" or (what == "all" and told.settings.node.graph):
        _rebuild_graph(home, told, guard, clock, tell)
    elif what == "all":
        for path in home.archive.glob("*.warc.gz"):
            write_cdxj(path)
    if what in ("state", "all"):
        _rebuild_state(home, told, guard, tell)
    if what == "index" or (what == "all" and told.settings.node.index):
        _rebuild_index(home, told, guard, clock, tell)


def _tell_unread(unread: Sequence[UnreadPage], tell: Tell) -> None:
    for page in unread[:_SHOWN]:
        tell(f"{page.url} could not be read ({page.why}); it is in the archive")
    if len(unread) > _SHOWN:
        tell(f"{len(unread) - _SHOWN} more pages could not be read; `gossamer verify` names them")


def _swap(part: Path) -> None:
    new, old = part.with_name(part.name + ".new"), part.with_name(part.name + ".old")
    if part.exists():
        part.rename(old)
    new.rename(part)
    shutil.rmtree(old, ignore_errors=True)


def _told(home: Home) -> Told:
    try:
        store = open_to_write(home, 16) if home.exists else None
    except StoreError:
        store = None
    if store is not None:
        try:
            settings = stored_settings(store)
            seeds, typed = store.find(Table.META, SEEDS_KEY), store.find(Table.META, TYPED_KEY)
            salt = store.find(Table.META, SALT_KEY)
            if settings and seeds and typed and salt:
                unpacked = tuple(msgpack.unpackb(seeds)), tuple(msgpack.unpackb(typed))
                return Told(settings, *unpacked, salt)
        finally:
            store.close()
    return _told_by_archive(home)


def _told_by_archive(home: Home) -> Told:
    info = read_info(min(home.archive.glob("*.warc.gz")))
    values = {key: ast.literal_eval(info[key]) for key in KEYS if key in info}
    seeds = tuple(info.get("seeds", "").split())
    settings = with_values(Settings(), values)
    return Told(settings, seeds, tuple(map(host_of, seeds)), os.urandom(16))


# -- the graph


def _rebuild_graph(home: Home, told: Told, guard: Guard, clock: Clock, tell: Tell) -> None:
    new = home.graph.with_name("graph.new")
    new.mkdir()
    forgotten = read_forgotten(home.takedowns)
    settings = with_values(told.settings, {"node.graph": True})  # who asks wants them now
    reader = guard.reader(build_harvester(settings, Keys(told.salt), forgotten))
    gatherer = LinkGatherer(new, f"{clock.wall_us() // 1000:x}-r", settings.node, clock)
    with closing(LinkBook(new, clock)) as book:
        for path in sorted(home.archive.glob("*.warc.gz")):
            tell(f"links of {path.name}")
            for exchange in iter_exchanges(path):
                gatherer.add(reader.read_exchange(exchange))
                if gatherer.is_due and (part := gatherer.write_now()) is not None:
                    book.note(part)
            if (part := gatherer.write_now()) is not None:
                book.note(part)
            book.name(book.take())
            write_cdxj(path)
        book.finish()
    if not (new / MANIFEST).exists():
        raise StoreError(f"{home.archive} holds no exchange of ours; nothing was changed")
    _swap(home.graph)
    tell("ranks")
    compute(home.graph, clock)


# -- the index


def _rebuild_index(home: Home, told: Told, guard: Guard, clock: Clock, tell: Tell) -> None:
    store = open_to_write(home, told.settings.frontier.memory_mb)
    try:
        rebuild_index(home, store, told.settings, told.salt, guard, clock, tell)
    finally:
        store.close()
    _swap(home.index)


# -- the state


def _rebuild_state(home: Home, told: Told, guard: Guard, tell: Tell) -> None:
    store = RocksStore.open(home.state.with_name("state.new"), told.settings.frontier.memory_mb)
    try:
        _fill(home, store, told, guard, tell)
    finally:
        store.close()
    _swap(home.state)


def _fill(home: Home, store: Store, told: Told, guard: Guard, tell: Tell) -> None:
    settings, keys, forgotten = told.settings, Keys(told.salt), read_forgotten(home.takedowns)
    bans = BanList.read(map(Path, settings.scope.ban_files))
    lines = bans_in(home.acts)
    admission = Admission(settings, told.seeds, bans, BanList(lines))
    watch = settings.scope.depth >= 0
    frontier = Frontier(store, settings.frontier, admission, watch_depth=watch)
    reader = guard.reader(build_harvester(settings, keys, forgotten))
    replay = _Replay(frontier, reader, keys, settings)
    paths = sorted(home.archive.glob("*.warc.gz"))
    first_us = min((e.answer.at_us for p in paths for e in _first(p)), default=0)
    seeds = (seed for seed in told.seeds if not forgotten.covers(seed))
    frontier.admit((Found(seed, keys.of(seed), 0) for seed in seeds), first_us)
    exchanges = heapq.merge(*map(iter_exchanges, paths), key=ended_us)
    for count, exchange in enumerate(exchanges, 1):
        replay.take(exchange)
        if count % _COMMIT_EVERY == 0:
            _commit(store, frontier)
            tell(f"{count} exchanges")
    _commit(store, frontier)
    for line in _log_lines(home):
        replay.take_line(line)
    _write_meta(home, frontier, told, paths)
    if lines:
        put_bans(frontier, lines)
    _commit(store, frontier)
    frontier.count_duplicates()
    _commit(store, frontier)


def _first(path: Path) -> Iterator[Exchange]:
    for exchange in iter_exchanges(path):
        yield exchange
        return


def _commit(store: Store, frontier: Frontier) -> None:
    changes = frontier.begin_commit()
    store.write(changes)
    frontier.end_commit(changes)


def _write_meta(home: Home, frontier: Frontier, told: Told, paths: list[Path]) -> None:
    def put(key: bytes, row: bytes) -> None:
        frontier.pending.put(Table.META, key, row)

    put(VERSION_KEY, str(FORMAT).encode())
    put(SALT_KEY, told.salt)
    put(SETTINGS_KEY, msgpack.packb(values_of(told.settings)))
    put(SEEDS_KEY, msgpack.packb(list(told.seeds)))
    put(TYPED_KEY, msgpack.packb(list(told.typed)))
    put(CLEAN_KEY, b"1")
    log_bytes = home.log.stat().st_size if home.log.exists() else 0
    put(LOG_KEY, log_bytes.to_bytes(8, "big"))
    for path in paths:
        put(FILE_PREFIX + path.name.encode(), path.stat().st_size.to_bytes(8, "big"))


def _log_lines(home: Home) -> Iterator[dict[str, Any]]:
    """Lines about URLs whose fate was decided without asking: nothing in the archive tells it."""
    if not home.log.exists():
        return
    with home.log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                fields = json.loads(line)
            except ValueError:
                continue  # half a line, of a kill: what it told of was never committed
            is_line = isinstance(fields, dict) and "address" not in fields
            if is_line and fields.get("outcome") in ("refused", "failed"):
                yield fields


class _Replay:
    """Takes exchanges and log lines as the live crawl took them."""

    def __init__(
        self, frontier: Frontier, reader: GuardedReader, keys: Keys, settings: Settings
    ) -> None:
        self._frontier = frontier
        self._reader = reader
        self._keys = keys
        self._settings = settings

    def take(self, exchange: Exchange) -> None:
        # Where the salt was lost with the state, the archive's keys are of another one.
        lease = exchange.lease
        if lease.purpose is Purpose.PAGE or not lease.source:
            lease = replace(lease, key=self._keys.of(lease.url))
        report = self._reader.read(lease, exchange.answer, exchange.stored).report
        if lease.source:
            note_imported(self._frontier, report)
            return
        if report.lease.purpose is Purpose.ROBOTS:
            self._take_robots(report)
            return
        if report.lease.purpose is Purpose.SITEMAP:
            self._frontier.admit_listed(() if report.redirect else report.found, report.at_us)
            return
        if self._frontier.report(report, self._retry_us(report)):
            self._frontier.admit(report.found, report.at_us)
        self._frontier.take_shallower()

    def _retry_us(self, report: Report) -> int | None:
        if report.outcome is not Outcome.FAILED or report.reason is None:
            return None
        wait_s = wait_before_retry(report.reason, report.lease.tries, self._settings.politeness)
        return None if wait_s is None else report.at_us + round(wait_s * 1e6)

    def _take_robots(self, report: Report) -> None:
        if report.outcome is not Outcome.FETCHED or report.redirect:
            return
        origin = origin_of(report.lease.via or report.lease.url)
        access = Access.from_answer(
            report.status, report.body, report.at_us, self._settings.politeness
        )
        self._frontier.pending.put(Table.ORIGIN, origin.encode(), access.encode())
        name = host_of(f"{origin}/")
        row = self._frontier.touch(self._keys.host(name))
        row.name, row.crawl_delay_s = row.name or name, access.crawl_delay_s or 0.0

    def take_line(self, line: dict[str, Any]) -> None:
        try:
            key, reason, at_us = (
                self._keys.of(line["url"]),
                Reason(line["reason"]),
                _us_of(line["at"]),
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            return  # a damaged line: `verify` tells of it
        row = self._frontier.find(key)
        if row is None or row.standing != Standing.QUEUED:
            return
        decide = self._frontier.refuse if line["outcome"] == "refused" else self._frontier.fail
        decide(key, reason, str(line.get("detail", "")), at_us)


def _us_of(iso: str) -> int:
    return round(datetime.fromisoformat(iso).timestamp() * 1e6)
