"""A collection of limited size: the least important pages leave when better ones come.

Before each commit the surplus leaves, so that no committed state has more pages than allowed. State
and log change in that very commit; the index follows with its next commit, and the graph with its
next part (`left_pages.py`). Both follow the state after a kill, too. When a crawl has grown by a
tenth, and before it ends, pages that left and have become important are queued again
(`policies/keep_best.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.base.clock import Clock
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.node.keeping.importance import LiveImportance
from gossamer.node.keeping.left_pages import LeftPages
from gossamer.policies.keep_best import KeepBest
from gossamer.policies.orders.columns import UrlSlots
from gossamer.policies.orders.growth import Growth
from gossamer.records import Reason

_AT_ONCE: Final = 1_000  # pages that are queued again in one look


@dataclass(slots=True)
class Keeper:
    """Lets pages leave and return. `on_left` is told the row of each page that left."""

    frontier: Frontier
    importance: LiveImportance
    policy: KeepBest
    metric: str
    left_pages: LeftPages | None  # None where there is no graph
    on_left: Callable[[UrlRow], None]
    clock: Clock
    returned: int = 0  # pages that were queued again
    _kept: dict[int, None] = field(default_factory=dict)  # slots, in the order of their fetches
    _left: dict[int, None] = field(default_factory=dict)  # slots of pages that are away
    _under_way: set[int] = field(default_factory=set)  # queued again, and not fetched yet
    _returns: dict[int, int] = field(default_factory=dict)
    _growth: Growth = field(default_factory=Growth)

    def note(self, slots: UrlSlots) -> None:
        """Pages were fetched, or fetched again, in this order."""
        for slot in slots.tolist():
            self._left.pop(slot, None)
            self._under_way.discard(slot)
            self._kept[slot] = None

    def note_left(self, slots: UrlSlots) -> None:
        """Earlier runs let pages leave."""
        self._left |= dict.fromkeys(slots.tolist())

    def before_commit(self) -> None:
        """Let the surplus leave, and tell the graph from time to time. Raises DiskFault."""
        if self.frontier.counts.fetched > self.policy.room:
            self._let_leave()
        if self._growth.is_due(self.frontier.counts.pages_had):
            self.bring_back(is_early=True)
        if self.left_pages is not None:
            self.left_pages.write()

    def finish(self) -> None:
        """The last commits of a crawl follow: write everything, and the importance of the pages
        that stay into their rows. Raises DiskFault."""
        self._let_leave()
        if self.left_pages is not None:
            self.left_pages.write(is_last=True)
        slots = self._slots(self._kept)
        for slot, value in zip(slots.tolist(), self.importance.values(slots).tolist(), strict=True):
            note_importance(self.frontier, self.importance.key_of(slot), value)

    def _let_leave(self) -> None:
        while (surplus := self.frontier.counts.fetched - self.policy.room) > 0:
            slots = self._slots(self._kept)
            values = self.importance.values(slots)
            leaving = self.policy.leaving(values, surplus)
            stay = np.ones(len(slots), np.bool_)
            stay[leaving] = False
            least = float(values[stay].min(initial=np.inf))
            now_us = self.clock.wall_us()
            before = len(self._kept)
            for place in leaving.tolist():
                self._leave(int(slots[place]), float(values[place]), least, now_us)
            if len(self._kept) == before:
                return  # all of them are being visited: the next commit looks again

    def _leave(self, slot: int, value: float, least: float, now_us: int) -> None:
        if not self._is_page(slot):  # it is gone, moved or refused by now, and takes no room
            del self._kept[slot]
            return
        told = (
            f"importance {value:.6g} by {self.metric}; the least of the {self.policy.room} pages "
            f"that stayed was {least:.6g}"
        )
        row = self.frontier.evict(self.importance.key_of(slot), told, now_us, value)
        if row is None:
            return  # it is being visited
        del self._kept[slot]
        self._left[slot] = None
        self.on_left(row)
        if self.left_pages is not None:
            self.left_pages.add(row.url, row.at_us)

    def _is_page(self, slot: int) -> bool:
        row = self.frontier.find(self.importance.key_of(slot))
        return row is not None and row.standing == Standing.FETCHED and not row.redirect

    def bring_back(self, *, is_early: bool = False) -> int:
        """Queue pages that left and have become better than others that stayed; how many there are.
        Some of them may have to wait for a second or two."""
        self._under_way = {slot for slot in self._under_way if self._is_queued(slot)}
        slots = self._slots(self._left)
        if not len(slots):
            return 0
        kept = self.importance.values(self._slots({**self._kept, **dict.fromkeys(self._under_way)}))
        times = np.array([self._returns.get(slot, 0) for slot in slots.tolist()], np.int32)
        values = self.importance.values(slots)
        best = self.policy.returning(values, times, kept, _AT_ONCE, is_early=is_early)
        now_us = self.clock.wall_us()
        return sum(self._bring_back(int(slots[place]), now_us) for place in best.tolist())

    def _bring_back(self, slot: int, now_us: int) -> bool:
        key = self.importance.key_of(slot)
        if not self.frontier.readmit(key, now_us):
            row = self.frontier.find(key)
            is_away = row is not None and row.reason == Reason.EVICTED
            if not is_away:
                del self._left[slot]
            return is_away
        del self._left[slot]
        self._under_way.add(slot)
        self._returns[slot] = self._returns.get(slot, 0) + 1
        self.returned += 1
        return True

    def _is_queued(self, slot: int) -> bool:
        row = self.frontier.find(self.importance.key_of(slot))
        return row is not None and row.standing == Standing.QUEUED

    def _slots(self, slots: dict[int, None]) -> UrlSlots:
        found: NDArray[np.int32] = np.fromiter(slots, np.int32, len(slots))
        return found


def note_importance(frontier: Frontier, key: bytes, value: float) -> None:
    """Write the importance of a fetched page into its row."""
    row = frontier.find(key)
    if row is not None and row.standing == Standing.FETCHED and row.importance != value:
        row.importance = value
        frontier.state.known.put(key, row)
