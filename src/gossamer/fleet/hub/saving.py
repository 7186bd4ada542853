"""Write changes before requests are answered, many requests with one sync.

A request that has changed something waits for a flush that began after its change. Requests that
arrive during a flush share the next one. A heartbeat changes nothing and waits for nothing.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from gossamer.fleet.hub.state import HubState


class SharedFlush:
    """Flushes of one event loop."""

    def __init__(self, state: HubState) -> None:
        self._state = state
        self._thread = ThreadPoolExecutor(1, "hub-store")
        self._one = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None

    async def saved(self) -> None:
        """Return when all changes made before the call are durable. Raises StoreError,
        DiskFault."""
        if self._state.saved >= self._state.edits:
            return
        if self._next is None:
            self._next = asyncio.ensure_future(self._run())
        await asyncio.shield(self._next)

    async def _run(self) -> None:
        async with self._one:
            self._next = None  # later requests wait for the flush after this one
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, self._state.flush)

    def close(self) -> None:
        self._thread.shutdown()
