"""Which known pages are visited again, and when: the part of a node that runs a refresh policy.

About once a second it asks the policy for the most urgent pages, as many as may wait
(`budget.py`), and puts them into the queues of their hosts. Politeness decides when each is
requested. Every visit that ends tells the policy what was found, and the row of its page what is
known of its rate, in the same commit. So a killed crawl resumes where it was: `restore` reads the
rows in one walk, about 10 s for a million pages. A page costs about 170 bytes of memory.

A visit that was given out and came to nothing (a ban, robots.txt, a host that is gone) is not
reported. `_look_after` finds it after a minute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Final

import numpy as np

from gossamer.base.clock import Clock
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import FRESHNESS_KEY
from gossamer.frontier.rows import Standing, UrlRow, standing_of
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.frontier.visits.freshness import Freshness
from gossamer.frontier.visits.kinds import GONE_STATUSES, VisitKind
from gossamer.node.visits.budget import VisitBudget
from gossamer.node.visits.due_times import DueTimes
from gossamer.node.visits.figures import FigureMaker, VisitSpeed
from gossamer.node.visits.hints import ListHints
from gossamer.node.visits.measured import FreshnessMeter, Interval
from gossamer.node.visits.slot_table import SlotTable
from gossamer.policies.refresh.policy import KnownPage, RefreshPolicy
from gossamer.records import Report
from gossamer.settings import Refresh

_TURN_S: Final = 1.0
_FIGURES_EVERY_S: Final = 5.0
_PAGES_A_SECOND: Final = 50_000  # for figures, about a hundredth of a core
_LOST_AFTER_S: Final = 60.0
_FULL_HOST_S: Final = 0.9  # a host that has enough to do is looked at again in the next turn
_ROUNDS: Final = 8  # of choosing in one turn, where many pages are of such hosts
_FIRST_PAUSE_S: Final = 60.0  # after a visit that failed; it doubles with each
_LONGEST_PAUSE_S: Final = 86_400.0
_HOST_BYTES: Final = 8
_INF: Final = float("inf")

# How much a page counts: its weight by depth, rank or neither.
WeightOf = Callable[[UrlRow], float]


class Refresher:
    """The visits of one running crawl."""

    def __init__(
        self,
        frontier: Frontier,
        policy: RefreshPolicy,
        settings: Refresh,
        requests_per_s: float,
        clock: Clock,
        weight_of: WeightOf,
    ) -> None:
        self._frontier = frontier
        self._policy = policy
        self._settings = settings
        self._clock = clock
        self._weight_of = weight_of
        self.table = SlotTable()
        self.meter = FreshnessMeter()
        self.learn_list = ListHints(frontier, policy, self.table).learn
        self._budget = VisitBudget(requests_per_s)
        self._groups: dict[int, int] = {}  # by hash of a directory
        self._due = DueTimes()
        self._given: dict[int, float] = {}  # slots that wait or are requested, and since when
        self._full_until_s: dict[bytes, float] = {}  # by host
        self._speed = VisitSpeed()
        self.figures: Freshness | None = None
        self._figures_due_s = -_INF

    # -- the pages

    def restore(self, store: Store) -> None:
        """Take up what earlier runs know of all pages."""
        known = store.find(StateTable.META, FRESHNESS_KEY)
        if known is not None:
            self.figures = Freshness.decode(known)
            self.meter = FreshnessMeter(self.figures.sums)
            self._speed = VisitSpeed(self.figures.visits_per_s)
            if self.figures.policy == self._settings.policy:
                self._policy.restore_figures(self.figures.policy_figures)
        for key, packed in walk(store, StateTable.URL):
            if standing_of(packed) == Standing.FETCHED:
                self._take_up(key, UrlRow.decode(packed))

    def _take_up(self, key: bytes, row: UrlRow) -> None:
        slot = self._slot(key)
        seen_s = row.at_us / 1e6
        self._policy.restore(
            slot,
            KnownPage(
                seen_s,
                *_evidence(row),
                weight=self._weight(row),
                group=self._group(row.url),
                modified_s=_modified_s(row.modified_at, seen_s) or _last_change_s(row),
            ),
        )
        if row.hint_us > row.at_us:
            self._policy.hint(slot, row.hint_us / 1e6)
        self._due.about_s[slot] = _due_of(row)
        self._due.latest_s[slot] = self._latest_s(seen_s)
        if row.waits:
            self._policy.missed(slot, _INF)
            self._note_given(slot, seen_s)
        else:
            self._policy.missed(slot, max(seen_s, row.missed_us / 1e6) + self._pause_s(row))

    def _slot(self, key: bytes) -> int:
        slot = self.table.add(key)
        self._due.grow(self.table.size)
        return slot

    def _weight(self, row: UrlRow) -> float:
        """Pages that are gone, redirects and errors count less: they seldom change."""
        if row.status in GONE_STATUSES:
            return 0.1 * self._weight_of(row)
        return self._weight_of(row) * (0.3 if row.redirect or row.status >= 400 else 1.0)

    def _group(self, url: str) -> int:
        """Pages of one directory are siblings."""
        directory = hash(url.partition("?")[0].rpartition("/")[0])
        return self._groups.setdefault(directory, len(self._groups))

    def _pause_s(self, row: UrlRow) -> float:
        """How long a page is left alone after its last visit."""
        pause_s = self._settings.min_interval_s
        if row.missed:
            failing_s = _FIRST_PAUSE_S * 2 ** min(row.missed - 1, 20)
            pause_s = max(pause_s, min(failing_s, _LONGEST_PAUSE_S))
        return pause_s

    # -- choosing

    async def keep_up(self, on_chosen: Callable[[], None]) -> None:
        """Run without end; the caller cancels it. `on_chosen` is called when visits wait."""
        try:
            while True:
                if self.turn():
                    on_chosen()
                await self._clock.sleep_until(self._clock.now_s() + _TURN_S)
        finally:
            self._note_figures(self._clock.wall_us() / 1e6)

    def turn(self) -> int:
        """Choose the visits of the next second or two. How many were chosen."""
        now_s = self._clock.wall_us() / 1e6
        self._look_after(now_s)
        self._budget.next_turn()
        self._speed.tick(now_s)
        chosen = self._give_late(now_s) if self._settings.max_interval_s else 0
        for _ in range(_ROUNDS):
            room = self._budget.room(len(self._given))
            slots = self._policy.choose(now_s, room).tolist() if room > 0 else []
            chosen += sum(self._give(slot, now_s) for slot in slots)
            if len(slots) < room or room <= 0:
                break
        if now_s >= self._figures_due_s:
            self._note_figures(now_s)
        return chosen

    def _give_late(self, now_s: float) -> int:
        """Visit what had no visit for too long, whatever the policy says."""
        late = self._due.late(now_s, self._budget.room(len(self._given)))
        for slot in late:
            self._policy.missed(slot, _INF)
        return sum(self._give(slot, now_s) for slot in late)

    def _give(self, slot: int, now_s: float) -> bool:
        """Put a page into the queue of its host, unless that has enough to do."""
        key = self.table.key_of(slot)
        if self._is_full(key[:_HOST_BYTES], now_s):
            self._policy.missed(slot, self._full_until_s[key[:_HOST_BYTES]])
            return False
        if not self._frontier.visit_again(key):
            self._set_right(slot, key, now_s)
            return False
        self._note_given(slot, now_s)
        return True

    def _is_full(self, host_key: bytes, now_s: float) -> bool:
        """Whether a host has enough to do. Then none of its pages is taken for a while, and all are
        free again at the same moment: else a page that is less urgent would take the place of
        those that were looked at before it."""
        if now_s < self._full_until_s.get(host_key, -_INF):
            return True
        is_full = self._frontier.host(host_key).visits >= self._budget.room_at(host_key)
        if is_full:
            self._full_until_s[host_key] = now_s + _FULL_HOST_S
        else:
            self._full_until_s.pop(host_key, None)
        return is_full

    def _note_given(self, slot: int, now_s: float) -> None:
        self._given[slot] = now_s
        self._due.latest_s[slot] = _INF

    def _latest_s(self, seen_s: float) -> float:
        return seen_s + (self._settings.max_interval_s or _INF)

    def _set_right(self, slot: int, key: bytes, now_s: float) -> None:
        """A page that cannot be visited now: it waits already, or was refused or failed."""
        row = self._frontier.find(key)
        if row is None or row.standing != Standing.FETCHED:
            self._policy.remove(slot)
        elif row.waits:
            self._note_given(slot, now_s)
        else:
            self._pause(slot, now_s, max(_FIRST_PAUSE_S, self._pause_s(row)))

    def _pause(self, slot: int, now_s: float, pause_s: float) -> None:
        """A visit came to nothing."""
        self._policy.missed(slot, now_s + pause_s)
        self._due.latest_s[slot] = max(now_s + pause_s, self._latest_s(now_s))

    def _look_after(self, now_s: float) -> None:
        """Set right what was given out long ago and does not wait any more."""
        lost = [slot for slot, since_s in self._given.items() if since_s < now_s - _LOST_AFTER_S]
        for slot in lost[:1000]:
            del self._given[slot]
            self._set_right(slot, self.table.key_of(slot), now_s)

    # -- learning

    def learn(self, kind: VisitKind, report: Report) -> None:
        """A URL got an outcome, which its row says. Notes in the row what is known of its rate."""
        key = report.lease.key
        row = self._frontier.find(key)
        if kind is VisitKind.RETRY or row is None:
            return  # it still waits
        if row.standing != Standing.FETCHED:
            self._drop(key)
            return
        now_s = report.at_us / 1e6
        slot = self._slot(key)
        self._given.pop(slot, None)
        if kind is not VisitKind.NEW:
            self._budget.ended(key[:_HOST_BYTES])
            self._speed.ended()
        if kind is VisitKind.MISSED:
            self._pause(slot, now_s, self._pause_s(row))
            return
        if kind is VisitKind.NEW or not self._is_known(slot):
            self._take_up(key, row)
        else:
            self._learn_visit(slot, key, row, now_s)
        self._policy.missed(slot, now_s + self._settings.min_interval_s)
        self._due.latest_s[slot] = self._latest_s(now_s)
        self._note_due(slot, row, now_s)
        self._frontier.state.known.put(key, row)

    def _is_known(self, slot: int) -> bool:
        try:
            self._policy.known(slot)
        except KeyError:
            return False
        return True

    def _learn_visit(self, slot: int, key: bytes, row: UrlRow, now_s: float) -> None:
        is_change = row.changed_us == row.at_us
        last_s = self._policy.known(slot).last_s
        modified_s = _modified_s(row.modified_at, now_s) if is_change else None
        since_s = modified_s - last_s if modified_s and modified_s > last_s else None
        interval = Interval(now_s - last_s, is_change, self._policy.rate(slot), since_s)
        pages = self._frontier.host(key[:_HOST_BYTES]).fetched
        self.meter.note(key[:_HOST_BYTES], interval, self.table.size, pages)
        self._policy.visited(slot, now_s, is_change, modified_s)
        known = self._policy.known(slot)
        row.rate_shape, row.rate_scale = known.shape, known.scale
        if known.weight != np.float32(weight := self._weight(row)):
            self._policy.restore(slot, known._replace(weight=weight))

    def _note_due(self, slot: int, row: UrlRow, now_s: float) -> None:
        due_s = self._policy.due_s(slot, self._speed.per_s)
        due_s = max(due_s, now_s + self._settings.min_interval_s)
        if self._settings.max_interval_s:
            due_s = min(due_s, now_s + self._settings.max_interval_s)
        self._due.about_s[slot] = due_s
        row.next_us = -1 if math.isinf(due_s) else round(due_s * 1e6)

    def _drop(self, key: bytes) -> None:
        slot = self.table.find(key)
        if slot is not None:
            self._given.pop(slot, None)
            self._policy.remove(slot)
            self._due.forget(slot)

    # -- figures

    def _note_figures(self, now_s: float) -> None:
        """Compute the figures; the next commit keeps them."""
        maker = FigureMaker(
            self._policy, self._settings.policy, self.table, self.meter, self._host_name
        )
        due_s = self._due.about_s[: self.table.size]
        self.figures = maker.make(now_s, due_s, self._speed.per_s)
        self._frontier.pending.put(StateTable.META, FRESHNESS_KEY, self.figures.encode())
        self._figures_due_s = now_s + max(_FIGURES_EVERY_S, self.table.size / _PAGES_A_SECOND)

    def _host_name(self, host_key: bytes) -> str:
        return self._frontier.host(host_key).name


def _evidence(row: UrlRow) -> tuple[float, float]:
    """Changes that were seen, and in how many seconds. A run that visited all pages once more kept
    no such numbers: then what the row says of the last visits must do."""
    if row.rate_scale or not row.visits:
        return row.rate_shape, row.rate_scale
    since_us = row.changed_us or row.first_us
    return float(bool(row.changed_us)), max(0.0, (row.at_us - since_us) / 1e6)


def _last_change_s(row: UrlRow) -> float:
    """When a page without a Last-Modified header was seen to change, or seen first."""
    since_us = row.changed_us or row.first_us
    return since_us / 1e6 if since_us else math.nan


def _due_of(row: UrlRow) -> float:
    if row.next_us < 0:
        return _INF
    return row.next_us / 1e6 if row.next_us else math.nan


def _modified_s(modified_at: str, now_s: float) -> float | None:
    """The time of a Last-Modified header; None where it is none, or in the future."""
    if not modified_at:
        return None
    try:
        moment_s = parsedate_to_datetime(modified_at).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return moment_s if 0 < moment_s <= now_s else None
