"""Admit URLs that were found: each new one is queued, or refused by a rule, once.

A URL that is found again changes nothing, with two exceptions: a refusal that depends on the path
(`rows.LIFTABLE`) is judged again, and a shorter path counts where a depth limit holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from gossamer.frontier.host_budget import HostBudget, PageHosts
from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.levels.demoting import Demoting
from gossamer.frontier.levels.level import Level
from gossamer.frontier.rows import (
    JUDGED_ALONE,
    LIFTABLE,
    HostRow,
    Standing,
    UrlRow,
    depth_of,
    refused,
    standing_of,
)
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable
from gossamer.frontier.url_queues import UrlQueues
from gossamer.records import NAMED, Found, Reason
from gossamer.urls.canonical import host_of

AdmissionCheck = Callable[[Found], tuple[Reason, str] | None]


class Refusal(NamedTuple):
    """A URL that was refused when it was found."""

    url: str
    reason: Reason
    detail: str
    depth: int
    at_us: int


OnRefused = Callable[[list[Refusal]], None]

_made: Final = tuple.__new__  # half the time of a call of `Refusal`
# To ask a class for its member takes as long as to use it.
_URL: Final = StateTable.URL
_BUDGET: Final = Reason.BUDGET
_QUEUED: Final = Standing.QUEUED
_REFUSED: Final = Standing.REFUSED
_FOR_NOW: Final = Standing.REFUSED_FOR_NOW
_LOOKED_UP_AT_ONCE: Final = 256
_LISTED_AT_ONCE: Final = 1_000  # names of a sitemap that come at the same level of the order


class Rules(NamedTuple):
    """What decides whether a new URL is queued."""

    judge: AdmissionCheck
    budget: HostBudget
    urls_per_host: int
    watch_depth: bool  # a depth limit holds, so a shorter path to a known URL matters
    on_refused: OnRefused | None


class Admitting:
    """Takes in found URLs."""

    def __init__(self, state: State, queues: UrlQueues, rules: Rules, demoting: Demoting) -> None:
        self._pending = state.pending
        self._counts = state.counts
        self._known = state.known
        self._hosts = state.hosts
        self._queues = queues
        self._rules = rules
        self._judge = rules.judge
        self._counts_links = queues.counts_links
        self._shallower: list[bytes] = []
        self._demoting = demoting
        self._guard = demoting.guard
        self._suspects = demoting.guard.suspects
        self._run = 0  # of what is being admitted
        self._fresh: list[str] = []
        self._later = 0  # levels by which what is being admitted comes later than its depth says

    def admit_listed(self, found: Iterable[Found], now_us: int) -> int:
        """Admit the URLs of a sitemap. Each further thousand comes a level later in the order;
        otherwise 50,000 of them would come before all pages that others link to."""
        new, some = 0, iter(found)
        try:
            while few := list(islice(some, _LISTED_AT_ONCE)):
                new += self.admit(few, now_us)
                self._later += 1
        finally:
            self._later = 0
        return new

    def admit(self, found: Iterable[Found], now_us: int, run: int = 0) -> int:
        """Take in what is new; the number of URLs that were not known before. `run`: of pages up to
        the one that names them, which brought nothing new."""
        self._run, self._fresh = run, []
        pending, new = self._pending, 0
        refusals: list[Refusal] = []
        page = PageHosts()
        for one, row in self._with_rows(found):
            if row is not None:
                self._found_again(one, row)
                continue
            url, key, depth, _, _, _ = one
            new += 1
            host = self._hosts.touch(key[:HOST_BYTES])
            verdict = self._admit(one, now_us, host, page)
            if verdict is not None:
                reason, detail = verdict
                if reason is _BUDGET and self._is_dropped(one, host, page):
                    new -= 1
                    continue
                host.refused += 1
                standing = _FOR_NOW if reason in LIFTABLE else _REFUSED
                pending.urls[key] = refused(one, standing, reason, detail, now_us, run)
                refusals.append(_made(Refusal, (url, reason, detail, depth, now_us)))
        self._counts.known += new
        self._counts.dropped += page.dropped
        self._known.limit_keys()
        if refusals:
            self._report_refusals(refusals)
        return new

    def _with_rows(self, found: Iterable[Found]) -> Iterator[tuple[Found, bytes | None]]:
        """Each URL with its row, None for a new one. For a long list the store is asked for many
        at once; for the links of a page that takes 3 microseconds longer than one by one."""
        known, pending = self._known.keys, self._pending
        if known is not None:
            for one in found:
                key = one[1]
                if key in known:
                    yield one, pending.find(_URL, key)
                else:
                    known.add(key)
                    yield one, None
            return
        some = iter(found)
        while few := list(islice(some, _LOOKED_UP_AT_ONCE)):
            if len(few) < _LOOKED_UP_AT_ONCE:
                for one in few:
                    yield one, pending.find(_URL, one[1])
                return
            rows = pending.find_many(_URL, [one[1] for one in few])
            for one in few:
                key = one[1]
                # The newest rows come first: it may have come before in this very list.
                yield one, pending.urls.get(key) or rows[key]

    def _report_refusals(self, refusals: list[Refusal]) -> None:
        """URLs were refused when they were found, and have their rows."""
        self._counts.refused += len(refusals)
        for _, reason, _, _, _ in refusals:
            self._counts.count_reason(reason)
        if self._rules.on_refused is not None:
            self._rules.on_refused(refusals)

    def _admit(
        self, found: Found, now_us: int, host: HostRow, page: PageHosts
    ) -> tuple[Reason, str] | None:
        """Queue a URL that was not known, unless a rule is against it; then that rule."""
        page.is_nameless = not host.name
        if page.is_nameless:
            host.name = host_of(found[0])
        is_new = host.known == host.refused
        host.known += 1
        verdict = self._judge(found)
        if verdict is not None:
            return verdict
        if is_new:
            is_free = not found.via or found.via == NAMED  # the operator named it
            full = None if is_free else self._rules.budget.forbids(host.name)
            if full is not None:
                return _BUDGET, full
            self._rules.budget.note(host.name)
        if host.known > self._rules.urls_per_host:
            return _BUDGET, "the host has frontier.urls_per_host known URLs"
        if not self._run and found[1][:HOST_BYTES] not in self._suspects:
            self._queues.enqueue(found, now_us, host, levels_later=self._later)
            return None
        return self._admit_suspect(found, now_us, host)

    def _admit_suspect(self, found: Found, now_us: int, host: HostRow) -> tuple[Reason, str] | None:
        """Queue a URL behind others if pages like it brought nothing new, or refuse it."""
        url, key, _, via, _, _ = found
        run, is_first = self._run, not self._fresh
        if key[:HOST_BYTES] == via[:HOST_BYTES]:
            self._fresh.append(url)
            if run:
                self._guard.note_child(key, via)
        else:
            run = 0  # the host that names it says nothing about this one
            self._guard.note_linking(key, url, via)
        level = self._guard.level(key, url, run, via, is_first=is_first)
        is_trial = False
        if level:
            why = self._guard.refusal(key, url, run, level)
            is_trial = self._guard.take_trial(key)
            if why is not None and not is_trial:
                self._guard.note_refused(key)
                return Reason.TRAP, why
        place = Level(run, 0 if is_trial else level, is_first, is_trial)
        self._queues.enqueue(found, now_us, host, levels_later=self._later, level=place)
        return None

    def take_fresh(self) -> list[str]:
        """The URLs that the last page named first, of its own host, as far as they matter."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def _is_dropped(self, found: Found, host: HostRow, page: PageHosts) -> bool:
        """Whether a URL that was refused for its budget is only counted: no row, no host."""
        key = found.key
        if host.known - host.refused > 1:
            return False  # the budget of its host, not of its site
        if self._rules.budget.is_recorded(page):
            return False
        host.known -= 1
        self._known.drop_key(key)
        if page.is_nameless:
            self._hosts.drop_new(key[:HOST_BYTES])
        return True

    # -- found again

    def _found_again(self, found: Found, row: bytes) -> None:
        if self._counts_links:
            self._queues.count_links(found.key)
            row = self._pending.find(_URL, found.key) or row
        standing = standing_of(row)
        is_named = found.via == NAMED and standing == _REFUSED
        if standing == _QUEUED and found.key[:HOST_BYTES] in self._suspects:
            is_own = found.key[:HOST_BYTES] == found.via[:HOST_BYTES]
            self._demoting.come_back(found.key, self._run if is_own else 0)
        if standing == _FOR_NOW or is_named:
            old = UrlRow.decode(row)
            if old.reason in JUDGED_ALONE and self._judge(found) is None:
                old.run = min(old.run, self._run)
                if old.reason != Reason.TRAP or not self._is_trap(old, found.key):
                    self.lift(old, found)
        elif self._rules.watch_depth and found.depth < depth_of(row) and self._judge(found) is None:
            self._come_nearer(found, UrlRow.decode(row))

    def _come_nearer(self, found: Found, row: UrlRow) -> None:
        """A shorter path to a known URL was found. One that is leased is not queued again: its
        report finds that the row says less than the lease."""
        key = found.key
        before, row.depth = row.depth, found.depth
        if row.standing == Standing.FETCHED:
            self._shallower.append(key)
            if not row.redirect:
                self._counts.count_depth(before, -1)
                self._counts.count_depth(row.depth)
        elif row.standing == Standing.QUEUED and not self._queues.is_leased(row, key):
            row.via, row.redirects = found.via, found.redirects
            if row.place:
                self._queues.move_to_depth(row, key)
        self._known.put(key, row)

    def note_shallower(self, key: bytes) -> None:
        """A page was fetched to which a shorter path was found meanwhile."""
        self._shallower.append(key)

    def take_shallower(self) -> list[bytes]:
        """Fetched URLs to which a shorter path was found: their links are nearer now, too."""
        keys, self._shallower = self._shallower, []
        return keys

    # -- queued after all

    def lift(self, row: UrlRow, found: Found) -> None:
        """A refused URL is queued after all; it may have been fetched before it was refused."""
        level = Level(row.run, 0, is_first=True) if row.run else None
        self._queues.requeue(row, found, levels_later=self._later, level=level)

    def _is_trap(self, row: UrlRow, key: bytes) -> bool:
        return self._guard.is_refused(key, row.url, row.run)

    def retry(self, found: Iterable[Found]) -> int:
        """Queue those that failed for good once more, as if never requested, and pages that were
        refused after they had been fetched; how many."""
        retried = 0
        for one in found:
            row = self._known.find(one.key)
            if row is None or not _may_retry(row) or self._judge(one) is not None:
                continue
            host = self._hosts.touch(one.key[:HOST_BYTES])
            host.faults, host.trouble, host.free_us = 0, "", 0
            self.lift(row, one)
            retried += 1
        return retried


def _may_retry(row: UrlRow) -> bool:
    if row.standing == Standing.REFUSED:
        return row.body_us > 0 and row.reason != Reason.EVICTED
    return row.standing == Standing.FAILED
