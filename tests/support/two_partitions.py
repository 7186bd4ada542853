"""Two nodes in one process that share the hosts of a web: a stand-in for two machines.

Hosts belong to a partition by the last bit of their keys. What one node finds for the other waits
in a mailbox until `deliver` is called, as it would on a network; it may come twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_exchange import LinkExchange, exchange_for
from gossamer.frontier.store import MemoryStore
from gossamer.records import Found
from gossamer.settings import Frontier as FrontierSettings
from gossamer.urls.keys import HALF_BYTES


@dataclass(frozen=True, slots=True)
class HalfOfAll:
    """One of two partitions."""

    own: int
    count: int = 2

    def owner_of(self, key: bytes, _url: str, /) -> int:
        return key[HALF_BYTES - 1] % 2


@dataclass(slots=True)
class Mailbox:
    """URLs on their way to the frontier of the other node."""

    frontier: Frontier
    waiting: list[tuple[tuple[Found, ...], int, bool, int]] = field(default_factory=list)

    def offer(
        self, found: Iterable[Found], now_us: int, *, is_listed: bool = False, run: int = 0
    ) -> int:
        self.waiting.append((tuple(found), now_us, is_listed, run))
        return 0

    def deliver(self, *, times: int = 1) -> None:
        """Let all that waits arrive; a network may bring a message more than once."""
        waiting, self.waiting = self.waiting, []
        for found, now_us, is_listed, run in waiting:
            for _ in range(times):
                if is_listed:
                    self.frontier.admit_listed(found, now_us)
                else:
                    self.frontier.admit(found, now_us, run)


class TwoNodes:
    """Both nodes, each with its frontier and its exchange."""

    def __init__(self) -> None:
        self.partitions = (HalfOfAll(0), HalfOfAll(1))
        self.frontiers = tuple(
            Frontier(MemoryStore(), FrontierSettings(), lambda _: None) for _ in range(2)
        )
        self.mailboxes = tuple(Mailbox(frontier) for frontier in self.frontiers)
        self.exchanges: tuple[LinkExchange, ...] = tuple(
            exchange_for(
                self.frontiers[own], self.partitions[own], {1 - own: self.mailboxes[1 - own]}
            )
            for own in range(2)
        )

    def deliver(self, *, times: int = 1) -> None:
        for mailbox in self.mailboxes:
            mailbox.deliver(times=times)
