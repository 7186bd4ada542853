"""Score queued URLs again while a crawl runs, whenever the scores of its order have changed.

Slices of some 10 ms take turns with everything else that the node does. A slice waits while much is
uncommitted, so memory is bounded. What a killed process did not finish, the next one does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from gossamer.base.clock import Clock
from gossamer.frontier.frontier import Frontier
from gossamer.policies.order import Order

_LOOK_EVERY_S: Final = 1.0
_PENDING_ROWS: Final = 20_000  # more would hold the crawl up while they are written
_COMMIT_WAIT_S: Final = 0.05


class LiveScores:
    """Keeps the places of queued URLs up to date with their order."""

    def __init__(self, frontier: Frontier, order: Order, clock: Clock) -> None:
        self._frontier = frontier
        self._order = order
        self._clock = clock
        self._revision = order.revision  # that the places of all queued URLs have, or will have

    async def keep_up(self, on_moved: Callable[[], None]) -> None:
        """Run without end; the caller cancels it. `on_moved` is called after each slice that moved
        a URL: another one may come first."""
        rescoring = self._frontier.rescoring
        while True:
            revision = self._order.revision
            if revision != self._revision:
                self._revision = revision
                rescoring.start()
            if not rescoring.is_running:
                await self._clock.sleep_until(self._clock.now_s() + _LOOK_EVERY_S)
            elif self._frontier.pending.size > _PENDING_ROWS:
                await self._clock.sleep_until(self._clock.now_s() + _COMMIT_WAIT_S)
            else:
                if rescoring.step():
                    on_moved()
                await asyncio.sleep(0)
