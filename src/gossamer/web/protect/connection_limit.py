"""Who gets a place when there are more connections than places?

A connection that waits (for the rest of a request's head, or for its next request) costs its place
and nothing else. When all places are taken, the one that has waited longest is closed for a new
one, so that half-sent heads and idle connections keep nobody out. Only when no connection waits is
a new one refused.

Pure: told what happens, says what to close.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from gossamer.base.handles import room_for_connections

MOST: Final = 4_000  # connections; fewer where the system allows fewer open files


class ConnectionLimit:
    """The places of one server."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._waiting: dict[Hashable, None] = {}  # those that have waited longest come first
        self._working: set[Hashable] = set()

    @property
    def taken(self) -> int:
        return len(self._waiting) + len(self._working)

    def wait(self, connection: Hashable) -> None:
        """It waits for a request from now on; if it waits already, nothing changes."""
        self._working.discard(connection)
        self._waiting.setdefault(connection)

    def work(self, connection: Hashable) -> None:
        """A request of it is being answered."""
        self._waiting.pop(connection, None)
        self._working.add(connection)

    def leave(self, connection: Hashable) -> None:
        self._waiting.pop(connection, None)
        self._working.discard(connection)

    def superfluous(self) -> Hashable | None:
        """The connection to close, when there are too many: the one that waited longest."""
        if self.taken <= self._most or not self._waiting:
            return None
        return next(iter(self._waiting))


def server_connection_limit() -> ConnectionLimit:
    """A room as large as the system's limit of open files allows."""
    return ConnectionLimit(room_for_connections(MOST))
