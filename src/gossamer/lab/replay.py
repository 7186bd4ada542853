"""Let a refresh policy visit the pages of a change trace, and measure freshness and age.

Time passes in steps. In each step new pages are fetched at the moment at which they appear; then
the policy chooses as many pages as the budget allows, and is told of each whether it has changed
since its last visit and when it changed last, as a server tells by Last-Modified. The budget is
one visit of each page in so many days on average, of the pages that exist at the time.

Freshness is the share of time for which a copy was up to date, and age the mean time since a stale
copy became stale (0 while it is fresh), over all pages that exist. Both are exact: the time of each
change counts, not the step. They are measured from `measured_from_s` on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from gossamer.lab.traces import ChangeTrace
from gossamer.policies.refresh.policy import Floats, RefreshPolicy, Slots

DAY_S: Final = 86400.0
_MAX_STEPS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a policy has reached."""

    freshness: float
    age_s: float
    visits: int
    expected: float  # freshness that the policy predicted, mean over the measured time


def step_s(trace: ChangeTrace, budget_days: float) -> float:
    """A day, or a seventh of a round if that is less; at most 20,000 steps."""
    span_s = max(trace.end_s - trace.start_s, 1.0)
    return max(min(DAY_S, budget_days * DAY_S / 7.0), span_s / _MAX_STEPS)


def replay(trace: ChangeTrace, policy: RefreshPolicy, budget_days: float) -> Replayed:
    """Play a whole trace with a policy that is new."""
    world = _World(trace)
    owed, visits, step = 0.0, 0, step_s(trace, budget_days)
    predicted: list[float] = []
    for number, now_s in enumerate(_times(trace, step)):
        born, gone = world.advance(now_s)
        for slot in born.tolist():
            policy.add(slot, float(trace.born_s[slot]), group=int(trace.group[slot]))
        for slot in gone.tolist():
            policy.remove(slot)
        owed += world.alive * step / (budget_days * DAY_S)
        count = int(owed + 1e-9)
        owed -= count
        if count:
            chosen = policy.choose(now_s, count)
            policy.visited(chosen, now_s, world.visit(chosen, now_s), world.modified_s[chosen])
            visits += len(chosen)
        if number % 50 == 0 and now_s > trace.measured_from_s:
            predicted.append(policy.freshness(now_s))
    fresh, age_s = world.end()
    return Replayed(fresh, age_s, visits, float(np.mean(predicted or [1.0])))


def _times(trace: ChangeTrace, step: float) -> Iterator[float]:
    now_s = trace.start_s
    while now_s < trace.end_s:
        now_s = min(now_s + step, trace.end_s)
        yield now_s


class _World:
    """The pages as they are, and the copies of them as they were last visited."""

    def __init__(self, trace: ChangeTrace) -> None:
        pages = len(trace.paths)
        self._trace = trace
        self._changes = np.argsort(trace.at_s, kind="stable")
        self._births = np.argsort(trace.born_s, kind="stable")
        self._ends = np.argsort(trace.gone_s, kind="stable")
        self._done = [0, 0, 0]  # of each of these
        self._first = np.searchsorted(trace.page, np.arange(pages + 1))  # changes of each page
        self._passed = self._first[:-1].copy()  # the next change of each page
        self._is_alive = np.zeros(pages, dtype=np.bool_)
        self._last_s = np.zeros(pages)
        self._stale_s = np.full(pages, np.inf)  # since when each copy is out of date
        self._sums = np.zeros(3)  # seconds of fresh and stale copies, and of age
        self.modified_s: Floats = trace.born_s.copy()  # the last change so far
        self.alive = 0

    def advance(self, now_s: float) -> tuple[Slots, Slots]:
        """Let time pass; the pages that were born, and those that are gone."""
        trace = self._trace
        changes = self._until(0, self._changes, trace.at_s, now_s)
        np.add.at(self._passed, trace.page[changes], 1)
        self.modified_s[trace.page[changes]] = trace.at_s[changes]
        born = self._until(1, self._births, trace.born_s, now_s)
        self._is_alive[born] = True
        self._last_s[born] = trace.born_s[born]
        self._stale_s[born] = self._change_s(born, self._first[born])
        gone = self._until(2, self._ends, trace.gone_s, now_s)
        self._count(gone, trace.gone_s[gone])
        self._is_alive[gone] = False
        self.alive += len(born) - len(gone)
        return born, gone

    def _until(self, which: int, order: Slots, times: Floats, now_s: float) -> Slots:
        begin = self._done[which]
        ahead = int(np.searchsorted(times, now_s, side="right", sorter=order))
        self._done[which] = ahead
        return order[begin:ahead]

    def visit(self, slots: Slots, now_s: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Copy pages; which of them have changed since their last copy."""
        self._count(slots, now_s)
        is_changed = self._stale_s[slots] <= now_s
        self._last_s[slots] = now_s
        self._stale_s[slots] = self._change_s(slots, self._passed[slots])
        return is_changed

    def end(self) -> tuple[float, float]:
        """Count the copies that are left; freshness and age."""
        self._count(np.flatnonzero(self._is_alive), self._trace.end_s)
        fresh, stale, age = self._sums.tolist()
        total = fresh + stale
        return (fresh / total, age / total) if total else (1.0, 0.0)

    def _change_s(self, slots: Slots, number: Slots) -> Floats:
        """The time of a change by its number; infinity where the page has no more of them."""
        is_there = number < self._first[slots + 1]
        times = np.full(len(slots), np.inf)
        times[is_there] = self._trace.at_s[number[is_there]]
        return times

    def _count(self, slots: Slots, until_s: float | Floats) -> None:
        """Count what copies were like since their last visit, from the measured time on."""
        begin = np.maximum(self._last_s[slots], self._trace.measured_from_s)
        end = np.maximum(until_s, begin)
        stale_s = self._stale_s[slots]
        middle = np.clip(stale_s, begin, end)
        old, young = np.maximum(end - stale_s, 0.0), np.maximum(begin - stale_s, 0.0)
        age = (old * old - young * young) / 2.0
        self._sums += (middle - begin).sum(), (end - middle).sum(), age.sum()
