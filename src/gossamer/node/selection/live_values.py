"""Keep the values of an order up to date while a crawl runs.

What is computed from all links (PageRank, say) is computed in a thread, over a copy of the columns.
Links of pages that are fetched meanwhile count when it has ended. Then queued URLs go where their
new values belong, in slices of some milliseconds that take turns with everything else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gossamer.base.clock import Clock

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.frontier.selection.selection import Selection
    from gossamer.node.selection.restore import Restorer

_LOOK_EVERY_S: Final = 0.25
_AT_ONCE: Final = 5_000  # URLs in a slice: some 5 ms where all of them move


class LiveValues:
    """Computes values anew as the crawl grows."""

    def __init__(self, selection: Selection, clock: Clock, restorer: Restorer | None) -> None:
        """`restorer` reads what earlier runs learned, if that was not done before."""
        self._selection = selection
        self._restorer = restorer
        self._clock = clock

    async def keep_up(self, on_moved: Callable[[], None]) -> None:
        """Run without end; the caller cancels it. `on_moved` is called when another URL may come
        first."""
        if self._restorer is not None:
            await self._restorer.restore_meanwhile(on_moved)
            self._restorer = None
        while True:
            if self._selection.wants_computing:
                await self._compute()
                await self._place(on_moved)
            else:
                await self._clock.sleep_until(self._clock.now_s() + _LOOK_EVERY_S)

    async def _compute(self) -> None:
        selection = self._selection
        pages, links = selection.begin_computing()
        is_new = False
        try:
            is_new = await asyncio.to_thread(selection.order.recompute, pages, links)
        finally:
            selection.end_computing(pages, is_new=is_new)

    async def _place(self, on_moved: Callable[[], None]) -> None:
        while self._selection.place_some(_AT_ONCE):
            on_moved()
            await asyncio.sleep(0)
        on_moved()
