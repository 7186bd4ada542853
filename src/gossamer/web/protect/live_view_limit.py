"""Limit the number of open live views, in total and per client.

A live view stays open as long as its page. A view over the limit is refused at its start, so that
ordinary requests still work.
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
    """The open live views. Thread-safe."""

    def __init__(self) -> None:
        self._of_client: Counter[str] = Counter()
        self._counting = threading.Lock()

    def __len__(self) -> int:
        return self._of_client.total()

    def enter(self, client: str) -> str:
        """Count one more for a client; return the refusal if there are too many."""
        with self._counting:
            if len(self) >= MOST_WATCHERS:
                return f"the limit of {MOST_WATCHERS} live views is reached; try again later"
            if self._of_client[client] >= MOST_OF_ONE:
                return f"too many live views: you have {MOST_OF_ONE} open; close one"
            self._of_client[client] += 1
            return ""

    def leave(self, client: str) -> None:
        with self._counting:
            self._of_client[client] -= 1
            if not self._of_client[client]:
                del self._of_client[client]


class LiveView(StreamingResponse):
    """Events for a counted client; it is uncounted however the response ends."""

    def __init__(self, events: AsyncIterable[bytes], watchers: LiveViewLimit, client: str) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._watchers = watchers
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._watchers.leave(self._client)
