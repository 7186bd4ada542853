"""What every link exchange promises (`frontier/link_exchange.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_exchange import LinkExchange, PartitionedExchange, exchange_for
from gossamer.frontier.store import MemoryStore
from gossamer.policies.partition import OnePartition, Partition
from gossamer.records import Found
from gossamer.settings import Frontier as FrontierSettings
from gossamer.urls.keys import Keys
from support.two_partitions import HalfOfAll, TwoNodes

KEYS = Keys(b"salt" * 4)
HOSTS = [f"h{number}.example" for number in range(8)]


@dataclass(frozen=True, slots=True)
class Node:
    """A node under test: its exchange, and every frontier that may get a URL."""

    exchange: LinkExchange
    partition: Partition
    frontiers: Sequence[Frontier]
    deliver: Callable[[int], None]

    def owner(self, host: str) -> Frontier:
        url = f"http://{host}/"
        return self.frontiers[self.partition.owner_of(KEYS.of(url), url)]


def local_node() -> Node:
    frontier = Frontier(MemoryStore(), FrontierSettings(), lambda _: None)
    partition = OnePartition()
    return Node(exchange_for(frontier, partition), partition, (frontier,), lambda _times: None)


def first_of_two() -> Node:
    nodes = TwoNodes()
    return Node(
        nodes.exchanges[0],
        nodes.partitions[0],
        nodes.frontiers,
        lambda times: nodes.deliver(times=times),
    )


MAKERS = pytest.mark.parametrize("make", [local_node, first_of_two], ids=["local", "two"])


def found(host: str, path: int, depth: int = 1) -> Found:
    url = f"http://{host}/{path}"
    return Found(url, KEYS.of(url), depth, via=b"v" * 16)


def queued(frontier: Frontier, host: str) -> list[str]:
    return [entry.url for entry in frontier.drain(KEYS.host(host))]


OFFERS = st.lists(
    st.lists(st.tuples(st.sampled_from(HOSTS), st.integers(0, 9)), max_size=12), max_size=6
)


@MAKERS
@given(offers=OFFERS, times=st.integers(1, 3))
def test_each_url_is_admitted_once_by_its_owner_and_by_no_other(
    make: Callable[[], Node], offers: list[list[tuple[str, int]]], times: int
) -> None:
    node = make()
    for offer in offers:
        node.exchange.offer([found(host, path) for host, path in offer], 1)
    node.deliver(times)

    offered = list(dict.fromkeys(pair for offer in offers for pair in offer))
    for host in HOSTS:
        expected = [f"http://{host}/{path}" for name, path in offered if name == host]
        for frontier in node.frontiers:
            is_owner = frontier is node.owner(host)
            assert queued(frontier, host) == (expected if is_owner else [])


@MAKERS
def test_the_urls_that_are_new_to_this_node_are_counted(make: Callable[[], Node]) -> None:
    node = make()
    own = [host for host in HOSTS if node.owner(host) is node.frontiers[0]]

    assert node.exchange.offer([found(host, 1) for host in HOSTS], 1) == len(own)
    assert node.exchange.offer([found(host, 1) for host in HOSTS], 1) == 0


@MAKERS
def test_names_of_a_sitemap_come_later_in_the_order(make: Callable[[], Node]) -> None:
    node = make()
    host = next(host for host in HOSTS if node.owner(host) is node.frontiers[-1])

    node.exchange.offer((found(host, path) for path in range(2500)), 1, is_listed=True)
    node.exchange.offer([found(host, 9999, depth=2)], 1)
    node.deliver(1)

    urls = queued(node.owner(host), host)
    # The second thousand has the level of the page, and came before it; the third is a level later.
    assert urls.index(f"http://{host}/9999") == 2000


@MAKERS
def test_an_offer_of_nothing_is_nothing(make: Callable[[], Node]) -> None:
    node = make()

    assert node.exchange.offer([], 1) == 0
    node.deliver(1)

    assert all(frontier.counts.known == 0 for frontier in node.frontiers)


def test_the_two_halves_have_hosts_each() -> None:
    urls = [f"http://{host}/" for host in HOSTS]
    owners = {HalfOfAll(0).owner_of(KEYS.of(url), url) for url in urls}

    assert owners == {0, 1}


def test_a_partition_that_nothing_leads_to_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no exchange for the partitions \[1\]"):
        PartitionedExchange(HalfOfAll(0), {0: TwoNodes().exchanges[0]})
