"""How many bytes do the answers under way hold, and who has to wait before it takes more?

Bodies are in memory until they are whole. With many connections and large bodies that would be
gigabytes (4096 times 10 MB), so there is a limit for all of them together. Beyond it every transfer
is paused but the one that holds the most, which is let go on to its end: so the bytes are never
more than the limit and one body, and somebody always gets on. When an answer has ended, all paused
ones try again.

Pure but for the one thing that it waits for: a new request is held back while there is no room.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol


class Reader(Protocol):
    """One answer under way."""

    held_bytes: int  # counted here; 0 before the first and after the last

    def resume(self) -> None:
        """It was paused, and may ask again."""


class HeldBytes:
    """The bytes of all answers under way in one process."""

    def __init__(self, limit: int) -> None:
        self.limit: Final = limit
        self._readers: dict[Reader, None] = {}  # those that hold some, the first of them first
        self._paused: dict[Reader, None] = {}  # the one that has waited longest first
        self._freed = asyncio.Event()
        self._is_awaited = False
        self.held = 0

    @property
    def is_full(self) -> bool:
        """Whether a new request has to wait."""
        return self.held >= self.limit

    async def wait_for_room(self) -> None:
        """Return when a new request may be sent."""
        while self.is_full:
            self._freed.clear()
            self._is_awaited = True
            await self._freed.wait()

    def take(self, reader: Reader, count: int) -> bool:
        """Whether so many more bytes may be held; if not, the reader must pause."""
        if self.held + count > self.limit and reader is not self._largest():
            self._paused[reader] = None
            return False
        if not reader.held_bytes:
            self._readers[reader] = None
        reader.held_bytes += count
        self.held += count
        return True

    def end(self, reader: Reader) -> None:
        """An answer has ended, whatever came of it: its bytes are somebody else's now."""
        self._paused.pop(reader, None)
        self._readers.pop(reader, None)
        self.held -= reader.held_bytes
        reader.held_bytes = 0
        if self._is_awaited:
            self._is_awaited = False
            self._freed.set()
        if self._paused:
            paused, self._paused = self._paused, {}
            for waiting in paused:
                waiting.resume()

    def _largest(self) -> Reader | None:
        """The one that holds the most; the first of them, for all agree on that."""
        return max(self._readers, key=lambda reader: reader.held_bytes, default=None)
