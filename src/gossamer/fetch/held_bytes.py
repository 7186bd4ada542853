"""Limit the memory that responses in flight take together.

Bodies are in memory until they are complete. Many connections with large bodies could take
gigabytes (4096 times 10 MB), so there is a limit for all together. Above it every transfer is
paused except the one that holds the most, which may complete. So the total never exceeds the limit
plus one body, and one transfer always makes progress. When a response has ended, all paused
transfers try again.

Pure except for one wait: a new request waits while there is no room.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol


class Reader(Protocol):
    """One response in flight."""

    held_bytes: int  # counted here; 0 before the first byte and after the end

    def resume(self) -> None:
        """Continue after a pause, and ask for room again."""


class HeldBytes:
    """The bytes of all responses in flight in one process."""

    def __init__(self, limit: int) -> None:
        self.limit: Final = limit
        # those that hold bytes, in order of their first byte
        self._readers: dict[Reader, None] = {}
        self._paused: dict[Reader, None] = {}  # in order of their waiting time, longest first
        self._freed = asyncio.Event()
        self._is_awaited = False
        self.held = 0

    @property
    def is_full(self) -> bool:
        """Whether a new request must wait."""
        return self.held >= self.limit

    async def wait_for_room(self) -> None:
        """Return when a new request may be sent."""
        while self.is_full:
            self._freed.clear()
            self._is_awaited = True
            await self._freed.wait()

    def take(self, reader: Reader, count: int) -> bool:
        """Whether `count` more bytes may be held. If not, the reader must pause."""
        if self.held + count > self.limit and reader is not self._largest():
            self._paused[reader] = None
            return False
        if not reader.held_bytes:
            self._readers[reader] = None
        reader.held_bytes += count
        self.held += count
        return True

    def end(self, reader: Reader) -> None:
        """Release the bytes of a response that has ended, with any result."""
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
        """The reader that holds the most; the first of several, so that the choice is stable."""
        return max(self._readers, key=lambda reader: reader.held_bytes, default=None)
