"""Limit the number of connections, and close idle ones for new ones.

An idle connection (waiting for the rest of a request's head, or for its next request) costs only
its slot. When all slots are taken, the connection that has been idle longest is closed for a new
one, so incomplete heads and idle connections block no other client. A new connection is refused
only if no other is idle.

Pure: methods take events; `superfluous` returns the connection to close.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from gossamer.base.handles import room_for_connections

MOST: Final = 4_000  # connections; fewer if the system allows fewer open files


class ConnectionLimit:
    """The connection slots of one server."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._waiting: dict[Hashable, None] = {}  # longest idle first
        self._working: set[Hashable] = set()

    @property
    def taken(self) -> int:
        return len(self._waiting) + len(self._working)

    def wait(self, connection: Hashable) -> None:
        """Mark a connection as idle; no change if it is idle already."""
        self._working.discard(connection)
        self._waiting.setdefault(connection)

    def work(self, connection: Hashable) -> None:
        """Mark a connection as busy with a request."""
        self._waiting.pop(connection, None)
        self._working.add(connection)

    def leave(self, connection: Hashable) -> None:
        self._waiting.pop(connection, None)
        self._working.discard(connection)

    def superfluous(self) -> Hashable | None:
        """Return the connection to close if there are too many: the one idle longest."""
        if self.taken <= self._most or not self._waiting:
            return None
        return next(iter(self._waiting))


def server_connection_limit() -> ConnectionLimit:
    """Return a limit that fits the system's limit of open files."""
    return ConnectionLimit(room_for_connections(MOST))
