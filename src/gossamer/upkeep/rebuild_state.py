"""Rebuild the state: the page table, host rows and robots.txt.

Exchanges are replayed from the archive in the order in which they ended, as during the crawl. The
log has decisions that were made without a request: those about fetched pages are replayed between
the exchanges, because a later visit counts from there; the others at the end. Queued URLs are
queued again, because the pages that link to them are read again. Pauses of hosts and retry dates
are not in archive or log: they start from zero.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from gossamer.archive.reader import Exchange, iter_exchanges, read_exchange
from gossamer.base.checked_lines import crc32_of
from gossamer.base.packing import pack
from gossamer.collection.crawl_log import read_actions
from gossamer.collection.directory import FORMAT, CollectionPaths
from gossamer.collection.forgotten import read_forgotten
from gossamer.collection.operator_inputs import OperatorInputs
from gossamer.collection.starting_points import ACTION, pack_points, points_in
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_exchange import LocalExchange
from gossamer.frontier.meta_keys import (
    CLEAN_KEY,
    FILE_PREFIX,
    LOG_KEY,
    LOG_SUM_KEY,
    ORIGINS_KEY,
    POINTS_KEY,
    SALT_KEY,
    SEEDS_KEY,
    SETTINGS_KEY,
    TYPED_KEY,
    VERSION_KEY,
)
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.frontier.store import StateTable, Store
from gossamer.frontier.visits.results import OWN_RULES
from gossamer.node.bans import TRUST, bans_in, lines_in, put_bans, put_lines
from gossamer.node.duplicates.background import compare_all
from gossamer.node.imported import note_imported
from gossamer.policies.duplicates import duplicates_named
from gossamer.policies.named_order import order_named
from gossamer.policies.policies import Policies
from gossamer.politeness.access import Access
from gossamer.politeness.retry import wait_before_retry
from gossamer.records import NAMED, Found, Outcome, Purpose, Reason, Report
from gossamer.schedule.admission import Admission
from gossamer.settings import Settings, values_of
from gossamer.upkeep.progress import Notify
from gossamer.upkeep.rebuild_index import in_order
from gossamer.upkeep.retention.carry_over import (
    carry_learned,
    carry_over,
    pruned_state,
    urls_not_found_again,
)
from gossamer.urls.bans import BanList
from gossamer.urls.canonical import host_of, origin_of
from gossamer.urls.keys import Keys
from gossamer.workers.build_worker import build_processor
from gossamer.workers.guarded_reader import CrashGuard, GuardedReader

_COMMIT_EVERY: Final = 2_000  # exchanges: what one batch of the new state holds
_LOG_UNIT_US: Final = 1_000_000  # times of the log are whole seconds, rounded down


def fill_state(
    paths: CollectionPaths,
    store: Store,
    inputs: OperatorInputs,
    guard: CrashGuard,
    notify: Notify,
    *,
    is_clean: bool,
) -> None:
    """Fill an empty state. `is_clean`: index and graph cover the archive, or will.

    Raises CorruptFile, DiskFault.
    """
    settings, keys, forgotten = inputs.settings, Keys(inputs.salt), read_forgotten(paths.takedowns)
    bans = BanList.read(map(Path, settings.scope.ban_files))
    lines = bans_in(paths.actions)
    admission = Admission(settings, inputs.seeds, bans, BanList(lines), forgotten)
    watch = settings.scope.depth >= 0
    policies = Policies(
        order_named(settings.frontier.order), duplicates=duplicates_named(settings.duplicates)
    )
    frontier = Frontier(store, settings.frontier, admission, watch_depth=watch, policies=policies)
    processor = build_processor(settings, keys, forgotten, archive=paths.archive)
    reader = guard.reader(processor)
    reader.locate = frontier.locate
    replay = _Replay(paths, frontier, admission, reader, keys, inputs)
    warc_paths = sorted(paths.archive.glob("*.warc.gz"))
    first_us = min((e.answer.at_us for p in warc_paths for e in _first(p)), default=0)
    seeds = (seed for seed in inputs.seeds if not forgotten.covers(seed))
    frontier.admit((Found(seed, keys.of(seed), 0) for seed in seeds), first_us)
    for count, exchange in enumerate(in_order(warc_paths), 1):
        replay.take(exchange)
        if count % _COMMIT_EVERY == 0:
            _commit(store, frontier)
            notify(f"{count} exchanges read")
    _commit(store, frontier)
    with pruned_state(paths) as old:
        if old is not None:
            frontier.admit(list(urls_not_found_again(old, store)), first_us)
            _commit(store, frontier)
        for line in _log_lines(paths):
            replay.take_line(line)
        inputs = replace(inputs, seeds=tuple(admission.seeds))
        _write_meta(paths, frontier, inputs, warc_paths, is_clean=is_clean)
        if lines:
            put_bans(frontier, lines)
        if trusted := lines_in(paths.actions, TRUST):
            put_lines(frontier, TRUST, trusted)
        _commit(store, frontier)
        if settings.duplicates.mode == "html95":
            _compare(paths, store, frontier, settings)
        if old is not None:
            carry_over(old, store)
    carry_learned(paths, store)


def _compare(paths: CollectionPaths, store: Store, frontier: Frontier, settings: Settings) -> None:
    """Compare the pages, as the crawl did."""
    from gossamer.node.duplicates.comparing import Comparing, HtmlReader  # it loads NumPy

    reader = HtmlReader(store, paths.archive, settings.parse.max_decoded_bytes)
    comparing = Comparing(store, reader.read, settings.duplicates.threshold)
    compare_all(comparing, frontier, lambda: _commit(store, frontier))


def _first(path: Path) -> Iterator[Exchange]:
    for exchange in iter_exchanges(path):
        yield exchange
        return


def _commit(store: Store, frontier: Frontier) -> None:
    changes = frontier.begin_commit()
    store.write(changes)
    frontier.end_commit(changes)


def _write_meta(
    paths: CollectionPaths,
    frontier: Frontier,
    inputs: OperatorInputs,
    warc_paths: list[Path],
    *,
    is_clean: bool,
) -> None:
    def put(key: bytes, row: bytes) -> None:
        frontier.pending.put(StateTable.META, key, row)

    put(VERSION_KEY, str(FORMAT).encode())
    put(SALT_KEY, inputs.salt)
    put(SETTINGS_KEY, pack(values_of(inputs.settings)))
    put(SEEDS_KEY, pack(list(inputs.seeds)))
    put(TYPED_KEY, pack(list(inputs.typed)))
    if inputs.origins is not None:
        put(ORIGINS_KEY, pack(list(inputs.origins)))
    if points := list(points_in(read_actions(paths.actions, ACTION))):
        put(POINTS_KEY, pack_points((), points))
    put(CLEAN_KEY, b"1" if is_clean else b"0")
    log_sum, log_bytes = crc32_of(paths.log) if paths.log.exists() else (0, 0)
    put(LOG_KEY, log_bytes.to_bytes(8, "big"))
    put(LOG_SUM_KEY, log_sum.to_bytes(4, "big"))
    for path in warc_paths:
        put(FILE_PREFIX + path.name.encode(), path.stat().st_size.to_bytes(8, "big"))


def _log_lines(paths: CollectionPaths) -> Iterator[Mapping[str, Any]]:
    """Yield log lines of URLs that were decided without a request: the archive lacks them."""
    return _lines_in(paths.log)


def _lines_in(log: Path) -> Iterator[Mapping[str, Any]]:
    if not log.exists():
        return
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                fields = json.loads(line)
            except ValueError:
                continue
            is_line = isinstance(fields, dict) and "address" not in fields
            if is_line and fields.get("outcome") in ("refused", "failed"):
                yield fields


def evictions(log: Path) -> Iterator[tuple[str, int]]:
    """Yield pages that left a collection of limited size, and when, as the log says."""
    for line in _lines_in(log):
        if line.get("reason") == Reason.EVICTED:
            with suppress(KeyError, TypeError, ValueError):
                yield line["url"], _us_of(line["at"])


class _Replay:
    """Replays exchanges and log lines in the way the crawl processed them."""

    def __init__(
        self,
        paths: CollectionPaths,
        frontier: Frontier,
        admission: Admission,
        reader: GuardedReader,
        keys: Keys,
        inputs: OperatorInputs,
    ) -> None:
        self._archive = paths.archive
        self._frontier = frontier
        self._admission = admission
        self._reader = reader
        self._keys = keys
        self._settings = inputs.settings
        self._lines = _log_lines(paths)
        self._line = next(self._lines, None)

    def take(self, exchange: Exchange) -> None:
        self._take_lines(exchange.answer.at_us - _LOG_UNIT_US)
        if not self._has_body(exchange):
            return
        report = self._reader.read_exchange(exchange).report
        if report.lease.source:
            note_imported(self._frontier, LocalExchange(self._frontier), report)
            return
        if report.lease.purpose is Purpose.ROBOTS:
            self._take_robots(report)
            return
        if report.lease.purpose is Purpose.SITEMAP:
            self._frontier.admit_listed(() if report.redirect else report.found, report.at_us)
            return
        if self._frontier.report(report, self._retry_us(report)):
            self._frontier.admit(self._found(report), report.at_us)
        while keys := self._frontier.take_shallower():
            for key in keys:
                self._find_links_again(key, report.at_us)

    def _has_body(self, exchange: Exchange) -> bool:
        """False for a visit without change whose body a retention rule has deleted: the visit was
        deleted, too, but its file was not written anew yet."""
        origin = exchange.revisit_of
        if origin is None:
            return True
        return self._frontier.capture_at(self._keys.of(origin.url), origin.at_us) is not None

    def _found(self, report: Report) -> Iterable[Found]:
        """A seed that redirects: its target is a seed from then on (`learning.py`)."""
        if not report.redirect or report.lease.depth:
            return report.found
        row = self._frontier.find(report.lease.key)
        if row is not None and row.via == NAMED:
            return [one._replace(via=NAMED) for one in report.found]
        self._admission.adopt(report.redirect)
        return report.found

    def _find_links_again(self, key: bytes, at_us: int) -> None:
        """A shorter path to a fetched page was found: its links get a smaller depth too."""
        capture, row = self._frontier.last_capture(key), self._frontier.find(key)
        if capture is None or row is None:
            return
        exchange = read_exchange(self._archive / capture.file, capture.offset)
        lease = structs.replace(exchange.lease, depth=row.depth)
        processed = self._reader.read_exchange(replace(exchange, lease=lease))
        self._frontier.admit(processed.report.found, at_us)

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
        self._frontier.pending.put(StateTable.ORIGIN, origin.encode(), access.encode())
        name = host_of(f"{origin}/")
        row = self._frontier.touch(self._keys.host(name))
        row.name, row.crawl_delay_s = row.name or name, access.crawl_delay_s or 0.0

    def _take_lines(self, until_us: int) -> None:
        """Take what the log says up to a time of fetched pages. `take_line` gets all lines again at
        the end; the rows know by then of those that were taken here."""
        while self._line is not None:
            read = self._read_line(self._line)
            if read is not None and read[2] > until_us:
                return
            row = self._frontier.find(read[0]) if read else None
            if row is not None and row.standing == Standing.FETCHED:
                self.take_line(self._line)
            self._line = next(self._lines, None)

    def _read_line(self, line: Mapping[str, Any]) -> tuple[bytes, Reason, int] | None:
        """Key, reason and time; None if the line is damaged."""
        try:
            return self._keys.of(line["url"]), Reason(line["reason"]), _us_of(line["at"])
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            return None

    def take_line(self, line: Mapping[str, Any]) -> None:
        """A decision that was made without a request."""
        read = self._read_line(line)
        if read is None:
            return
        key, reason, at_us = read
        row = self._frontier.find(key)
        detail = str(line.get("detail", ""))
        if row is not None and row.standing == Standing.FETCHED:
            self._take_visit_line(key, row, line["outcome"], reason, detail, at_us)
            return
        if row is None or row.standing != Standing.QUEUED:
            return
        decide = self._frontier.refuse if line["outcome"] == "refused" else self._frontier.fail
        decide(key, reason, detail, at_us)

    def _take_visit_line(
        self, key: bytes, row: UrlRow, outcome: str, reason: Reason, detail: str, at_us: int
    ) -> None:
        """A page that was fetched was not visited again, and the log says why."""
        if at_us <= max(row.at_us, row.missed_us):
            return
        if reason is Reason.EVICTED:
            self._frontier.evict(key, detail, at_us)
        elif outcome != "refused":
            self._frontier.miss(key, reason, detail, at_us)
        elif reason not in OWN_RULES and (row.waits or self._frontier.visit_again(key)):
            self._frontier.refuse(key, reason, detail, at_us)


def _us_of(iso: str) -> int:
    return round(datetime.fromisoformat(iso).timestamp() * 1e6)
