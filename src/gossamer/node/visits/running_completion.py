"""What the end of a crawl computes, for a crawl that has no end: late anchor texts and ranks, from
time to time.

It is done only if enough has changed since the last time, and takes at most a twentieth of the
time. Anchor texts are added between two commits, ranks are computed beside the crawl.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from gossamer.base.clock import Clock
from gossamer.frontier.frontier import Frontier
from gossamer.node.parts import Parts

_LEAST_SHARE: Final = 0.005  # of the pages that must be new or changed
_PAUSE: Final = 20  # times as long as it took


class RunningCompletion:
    """Completes the derived parts of a collection while its crawl runs."""

    def __init__(self, parts: Parts, every_s: float) -> None:
        self._parts = parts
        self._every_s = every_s
        self._done_at = 0  # of the sum of pages that were new or changed

    async def keep_up(self, _on_done: Callable[[], None]) -> None:
        """Run without end; the caller cancels it. Raises DiskFault, StoreError."""
        clock: Clock = self._parts.clock
        wait_s = self._every_s
        while self._every_s:
            await clock.sleep_until(clock.now_s() + wait_s)
            if self._is_worth_it():
                began_s = clock.now_s()
                await self.complete()
                wait_s = max(self._every_s, _PAUSE * (clock.now_s() - began_s))

    def _is_worth_it(self) -> bool:
        new = _pages_seen(self._parts.frontier) - self._done_at
        return new > 0 and new >= _LEAST_SHARE * self._parts.frontier.counts.fetched

    async def complete(self) -> None:
        """Compute everything once. What has begun is completed, also when the task is cancelled."""
        parts = self._parts
        self._done_at = _pages_seen(parts.frontier)
        if parts.index is not None:
            await parts.committer.between_commits(parts.index.add_late_anchors)
        if not parts.settings.node.graph:
            return
        working = asyncio.ensure_future(asyncio.to_thread(_compute_ranks, parts))
        try:
            await asyncio.shield(working)
        except asyncio.CancelledError:
            await working
            raise


def _compute_ranks(parts: Parts) -> None:
    # imported here, because it loads SciPy
    from gossamer.graph.ranks.ranks import compute_with_little_memory

    compute_with_little_memory(parts.paths.graph, parts.clock)


def _pages_seen(frontier: Frontier) -> int:
    """Pages that are new or were seen to change, over the life of the collection."""
    counts = frontier.counts
    return counts.fetched + counts.changed + counts.gone + counts.back
