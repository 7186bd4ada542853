"""Read sitemaps again from time to time, in a crawl that runs without end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gossamer.base.clock import Clock
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import LISTS_KEY
from gossamer.frontier.store import StateTable, Store
from gossamer.schedule.scheduler import Scheduler

_LOOK_S: Final = 60.0  # the longest time between two looks at the clock, which may be set


class ListReader:
    """Has all sitemaps of a crawl fetched again, each `every_s` seconds; 0: never. The time of the
    last reading is in the state, so that a crawl that is often restarted reads them no more often.
    """

    def __init__(
        self, frontier: Frontier, scheduler: Scheduler, store: Store, clock: Clock, every_s: float
    ) -> None:
        self._frontier = frontier
        self._scheduler = scheduler
        self._store = store
        self._clock = clock
        self._every_s = every_s

    async def keep_up(self, on_wanted: Callable[[], None]) -> None:
        """Run without end; the caller cancels it. `on_wanted` is called when sitemaps wait."""
        row = self._store.find(StateTable.META, LISTS_KEY)
        due_us = int.from_bytes(row, "big") if row else self._clock.wall_us()
        due_us += round(self._every_s * 1e6)
        while self._every_s:
            left_s = (due_us - self._clock.wall_us()) / 1e6
            if left_s <= 0:
                due_us = self._read_again() + round(self._every_s * 1e6)
                on_wanted()
            else:
                await self._clock.sleep_until(self._clock.now_s() + min(left_s, _LOOK_S))

    def _read_again(self) -> int:
        now_us = self._clock.wall_us()
        self._scheduler.read_sitemaps_again(self._store, needs_lists=True)
        self._frontier.pending.put(StateTable.META, LISTS_KEY, now_us.to_bytes(8, "big"))
        return now_us
