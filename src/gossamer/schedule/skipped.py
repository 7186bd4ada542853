"""Queued URLs that are skipped: no request is sent for them.

A rule refuses them, their port is dead, or their host is given up. They leave the queue with a
reason that people can read. Some hundred are decided at a time, then other hosts get their turn: a
million URLs of one host would hold up all others for 20 s.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from gossamer.base.clock import Clock
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import QueueEntry, UrlRow
from gossamer.records import Reason
from gossamer.schedule.dead_ports import DeadPorts
from gossamer.schedule.host import Host
from gossamer.settings import Politeness
from gossamer.urls.canonical import origin_of

AT_ONCE: Final = 500  # URLs, some 10 ms
SLICE_DELAY_S: Final = 0.01  # before the next slice of the same host
_PENDING_ROWS: Final = 20_000  # not committed yet; writing more of them would block the event loop
_COMMIT_WAIT_S: Final = 0.05  # until the number of pending rows is checked again


class SkippedUrls:
    """Decides about URLs without a request. `count` says how many since it was set to 0."""

    def __init__(
        self,
        frontier: Frontier,
        politeness: Politeness,
        clock: Clock,
        on_decided: Callable[[UrlRow], None],
    ) -> None:
        self._frontier = frontier
        self._clock = clock
        self._on_decided = on_decided
        self.dead_ports = DeadPorts(politeness)
        self.count = 0

    def refuse_first(self, host: Host, entry: QueueEntry, reason: Reason, detail: str) -> None:
        """The host's first URL is refused."""
        self.count += 1
        self._frontier.take(host.key)
        self._on_decided(self._frontier.refuse(entry.key, reason, detail, self._clock.wall_us()))

    def skip_dead_port(self, host: Host, entry: QueueEntry) -> bool:
        """Skip the host's first URL if its port is dead: it waits for a retry, or has failed.
        Whether it was skipped."""
        now_us = self._clock.wall_us()
        port = self.dead_ports.find(origin_of(entry.url), now_us)
        if port is None:
            return False
        self.count += 1
        self._frontier.take(host.key)
        given = (entry.key, Reason.CONNECT, port.detail, now_us)
        if port.until_us is None:
            self._on_decided(self._frontier.fail(*given, tries=port.faults))
        else:
            self._frontier.put_off(*given, port.until_us, tries=port.faults)
        return True

    def give_up(self, key: bytes, reason: Reason, detail: str, now_us: int) -> None:
        """A URL that waits for a retry gets none."""
        self._on_decided(self._frontier.fail(key, reason, detail, now_us))

    def skip_some(self, host: Host, reason: Reason, detail: str) -> float | None:
        """Some of what a host has queued gets the verdict. Seconds until the rest may get it; None
        if nothing is left."""
        if self._frontier.pending.size > _PENDING_ROWS:
            return _COMMIT_WAIT_S
        now_us = self._clock.wall_us()
        is_rule = reason in (Reason.PRIVATE, Reason.CONTACT)
        faults = self._frontier.host(host.key).faults
        for entry in islice(self._frontier.drain(host.key), AT_ONCE):
            self.count += 1
            given = (entry.key, reason, detail, now_us)
            self._on_decided(
                self._frontier.refuse(*given)
                if is_rule
                else self._frontier.fail(*given, tries=faults)
            )
        if self._frontier.peek(host.key) is not None:
            return SLICE_DELAY_S
        return None
