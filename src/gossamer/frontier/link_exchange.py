"""Bring found URLs to the frontier that owns them, on this node or on another.

`policies/partition.py` says who owns a URL. One node owns all of them: `LocalExchange`. Several
nodes: `PartitionedExchange`, which is made of one exchange for each partition. The caller cannot
tell which it has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol

from gossamer.frontier.frontier import Frontier
from gossamer.policies.partition import Partition
from gossamer.records import Found


class LinkExchange(Protocol):
    """Takes found URLs. Every implementation passes `tests/contract/test_link_exchange.py`.

    - Each URL is admitted by the frontier that owns it, and by no other.
    - A URL that is offered twice is admitted once. After a kill the node offers again what it had
      not committed, so that happens.
    - Nothing is dropped. What cannot be delivered now is delivered later; it is safe when the
      commit that follows the offer has ended.
    - URLs of one host arrive in the order in which they were offered.
    """

    def offer(
        self, found: Iterable[Found], now_us: int, *, is_listed: bool = False, run: int = 0
    ) -> int:
        """How many URLs are new to this node. `is_listed`: a sitemap names them
        (`Frontier.admit_listed`). `run`: of pages that brought nothing new (`Frontier.admit`)."""
        ...


class LocalExchange:
    """Every URL is ours."""

    def __init__(self, frontier: Frontier) -> None:
        self._admit = frontier.admit
        self._admit_listed = frontier.admit_listed

    def offer(
        self, found: Iterable[Found], now_us: int, *, is_listed: bool = False, run: int = 0
    ) -> int:
        """Admit all of them at once."""
        return self._admit_listed(found, now_us) if is_listed else self._admit(found, now_us, run)


class PartitionedExchange:
    """Passes each URL to the exchange of the partition that owns it."""

    def __init__(self, partition: Partition, exchanges: Mapping[int, LinkExchange]) -> None:
        """`exchanges` has one for each partition; our own is a `LocalExchange`."""
        missing = set(range(partition.count)) - set(exchanges)
        if missing:
            raise ValueError(f"no exchange for the partitions {sorted(missing)}")
        self._partition = partition
        self._exchanges = dict(exchanges)

    def offer(
        self, found: Iterable[Found], now_us: int, *, is_listed: bool = False, run: int = 0
    ) -> int:
        """Sort the URLs by owner; each exchange gets its own in their order."""
        by_owner: dict[int, list[Found]] = defaultdict(list)
        owner_of = self._partition.owner_of
        for one in found:
            by_owner[owner_of(one[1], one[0])].append(one)
        new = 0
        for owner, some in by_owner.items():
            taken = self._exchanges[owner].offer(some, now_us, is_listed=is_listed, run=run)
            new += taken if owner == self._partition.own else 0
        return new


def exchange_for(
    frontier: Frontier, partition: Partition, others: Mapping[int, LinkExchange] | None = None
) -> LinkExchange:
    """The exchange of a node. `others` bring URLs to the other partitions, by their numbers."""
    local = LocalExchange(frontier)
    if partition.count == 1:
        return local
    return PartitionedExchange(partition, {**(others or {}), partition.own: local})
