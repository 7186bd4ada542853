"""Move hosts to the queues where they belong. The one place that does.

A host says where (`Host.move`), `HostQueues` takes it there. A host that is given up loses its
auxiliary fetches and its queued URLs on the way, some hundred at a time; the hosts that waited for
one of those fetches are moved, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gossamer.base.clock import Clock
from gossamer.frontier.frontier import Frontier
from gossamer.schedule.auxiliary import AuxiliaryFetches
from gossamer.schedule.host import Host
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.host_queues import HostQueues
from gossamer.schedule.moves import IDLE, Move, Queue
from gossamer.schedule.skipped import SkippedUrls

_GIVEN_UP: Final = Queue.GIVEN_UP  # a global is read three times as fast as a member of its class


class Placement:
    """Asks hosts where they belong, and moves them there."""

    def __init__(
        self,
        frontier: Frontier,
        clock: Clock,
        hosts: HostCache,
        queues: HostQueues[Host],
        auxiliary: AuxiliaryFetches,
        skipped: SkippedUrls,
    ) -> None:
        self._first_key = frontier.first_place
        self._clock = clock
        self._hosts = hosts
        self._apply = queues.apply
        self._auxiliary = auxiliary
        self._skipped = skipped

    def place(self, host: Host, now_s: float) -> None:
        """Move a host to where it belongs now."""
        move = host.move(now_s, self._first_key)
        if move.queue is _GIVEN_UP:
            move = self._given_up(host, now_s)
        self._apply(host, move)

    def place_all(self, hosts: Iterable[Host], now_s: float) -> None:
        """The same for hosts that something has changed."""
        for host in hosts:
            self.place(host, now_s)

    def _given_up(self, host: Host, now_s: float) -> Move:
        reason, detail = host.why_given_up
        self._hosts.note_trouble(host, detail)
        changed = self._auxiliary.abandon(host, reason, detail, self._clock.wall_us())
        self.place_all(changed, now_s)
        wait_s = self._skipped.skip_some(host, reason, detail)
        if wait_s is None:
            host.emptied()
            return IDLE
        return Move(_GIVEN_UP, now_s + wait_s)
