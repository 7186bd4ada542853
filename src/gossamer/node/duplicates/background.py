"""Run the comparisons of `comparing.py` beside a crawl, an import or a rebuild."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gossamer.base.clock import Clock
from gossamer.frontier.duplicates.pointers import Fetch
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import DuplicateRow, time_of
from gossamer.node.commit import Committer

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.node.duplicates.comparing import Compared, Comparing

_EVERY_S: Final = 5.0
_LAG_US: Final = 10_000_000  # most pages that are requested by then have arrived
_LAST_US: Final = 2**62


class LiveComparing:
    """Compares the pages of a running crawl, in a thread."""

    def __init__(
        self, comparing: Comparing, frontier: Frontier, committer: Committer, clock: Clock
    ) -> None:
        self._comparing = comparing
        self._frontier = frontier
        self._committer = committer
        self._clock = clock
        # Pages up to here are committed, or come with a row of their own.
        self._until_us = frontier.duplicates.judged_us

    async def keep_up(self) -> None:
        """Compare new pages every few seconds, until it is cancelled."""
        while True:
            await self._clock.sleep_until(self._clock.now_s() + _EVERY_S)
            until_us = self._until_us
            # Pages of this moment that are not committed yet are read the next time.
            self._until_us = max(until_us, self._clock.wall_us() - _LAG_US)
            self._frontier.duplicates.judged_us = self._until_us
            while not await self._run(until_us):
                await self._committer.commit()

    async def finish(self) -> None:
        """Compare all pages that are left. No page may arrive meanwhile."""
        while not await self._run(_LAST_US):
            await self._committer.commit()
        await self._committer.commit()

    async def _run(self, until_us: int) -> bool:
        """Judge one piece; whether it was the last one. A cancelled run is completed first, because
        the judge has learned from it."""
        running = asyncio.ensure_future(asyncio.to_thread(self._comparing.run, until_us))
        try:
            found = await asyncio.shield(running)
        except asyncio.CancelledError:
            apply(self._frontier, await running)
            raise
        apply(self._frontier, found)
        return found.is_all


def compare_all(comparing: Comparing, frontier: Frontier, commit: Callable[[], None]) -> None:
    """Compare all pages of a state that no crawl uses."""
    is_all = False
    while not is_all:
        found = comparing.run(_LAST_US)
        apply(frontier, found)
        commit()
        is_all = found.is_all


def apply(frontier: Frontier, found: Compared) -> None:
    """Put what was found into the state, for the next commit. A page that was judged for the first
    time, and is a first page, has no pointer that must be removed."""
    verdicts = (
        (
            Fetch.decode(one.page),
            DuplicateRow(one.first[8:], "html95", round(one.similarity, 4)) if one.first else None,
        )
        for one in found.verdicts.values()
        if one.first or time_of(one.page) <= found.from_us
    )
    groups = frontier.duplicates
    groups.apply(found.judged_us, verdicts)
    groups.settle_again((Fetch.decode(page), was_there) for page, was_there in found.again)
