"""The thread that talks to the hub, so that a slow hub delays neither orders of the owner nor the
watch over jobs."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from dataclasses import dataclass

from gossamer.base.clock import boot_ns
from gossamer.errors import HubError
from gossamer.fleet.client import HubClient
from gossamer.fleet.protocol import BannedLines, Poll, PollAnswer


@dataclass(frozen=True, slots=True)
class Polled:
    """The end of one poll: an answer, or an error. `asked_ns` is when the request began: a lease
    counts from there, because the answer may have been on its way for long."""

    asked: Poll
    asked_ns: int
    answer: PollAnswer | None = None
    bans: BannedLines | None = None  # if the list has changed
    error: HubError | None = None


class Poller(threading.Thread):
    """One poll at a time."""

    def __init__(self, client: HubClient) -> None:
        super().__init__(daemon=True, name="poller")
        self._client = client
        self._asked: queue.Queue[Poll | None] = queue.Queue(1)
        self._ended: queue.Queue[Polled] = queue.Queue(1)
        self.is_busy = False
        self.has_ended = threading.Event()  # set when an answer waits
        self.start()

    def ask(self, poll: Poll) -> None:
        """Begin a poll; none may be under way."""
        self.is_busy = True
        self._asked.put(poll)

    def take(self) -> Polled | None:
        """The end of the poll, if it has ended."""
        try:
            polled = self._ended.get_nowait()
        except queue.Empty:
            return None
        self.has_ended.clear()
        self.is_busy = False
        return polled

    def wait(self, within_s: float) -> Polled | None:
        """The end of the poll, if it ends in time."""
        self.has_ended.wait(within_s)
        return self.take()

    def close(self) -> None:
        if not self.is_busy:
            self._asked.put(None)

    def run(self) -> None:
        while (poll := self._asked.get()) is not None:
            self._ended.put(self._poll(poll))
            self.has_ended.set()
        self._client.close()

    def _poll(self, poll: Poll) -> Polled:
        asked_ns = boot_ns()
        try:
            answer = self._client.poll(poll)
        except HubError as fault:
            return Polled(poll, asked_ns, error=fault)
        bans = None
        if answer.bans_version != poll.bans_version:
            with suppress(HubError):  # the next poll tells again that it has changed
                bans = self._client.bans()
        return Polled(poll, asked_ns, answer, bans)
