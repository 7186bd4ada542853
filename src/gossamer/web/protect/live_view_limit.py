"""How many live views may be open? So many in all, and so many of one client.

A live view stays open as long as its page. What is over the limit is refused before it begins, so
that ordinary requests go on.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import AsyncIterable
from typing import Final

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

MOST_WATCHERS: Final = 200
MOST_OF_ONE: Final = 50  # of one address; a browser opens 6 at once


class LiveViewLimit:
    """The live views that are open. Any number of threads may ask."""

    def __init__(self) -> None:
        self._of_client: Counter[str] = Counter()
        self._counting = threading.Lock()

    def __len__(self) -> int:
        return self._of_client.total()

    def enter(self, client: str) -> str:
        """Count one more of a client; why not, where there are too many."""
        with self._counting:
            if len(self) >= MOST_WATCHERS:
                return f"{MOST_WATCHERS} live views are open already, and there may not be more"
            if self._of_client[client] >= MOST_OF_ONE:
                return f"you have {MOST_OF_ONE} live views open already; close one"
            self._of_client[client] += 1
            return ""

    def leave(self, client: str) -> None:
        with self._counting:
            self._of_client[client] -= 1
            if not self._of_client[client]:
                del self._of_client[client]


class LiveView(StreamingResponse):
    """Events of a client that has entered; it leaves however the sending ends, begun or not."""

    def __init__(self, events: AsyncIterable[bytes], watchers: LiveViewLimit, client: str) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._watchers = watchers
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._watchers.leave(self._client)
