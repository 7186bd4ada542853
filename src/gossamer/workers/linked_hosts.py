"""To how many hosts may the links of one page lead?

A page with links to 20,000 hosts that nobody has met would cost the node 20,000 rows, names to look
up and robots.txt to fetch. A worker tells the node of the first `frontier.hosts_per_page` of them.
A seed is the operator's choice, and all of its links count.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.records import Edge, Found

_HOST_BYTES = 8


def hosts_of_first(found: Sequence[Found], most: int) -> set[bytes] | None:
    """The keys of the first `most` hosts of these; None where there are no more."""
    if len(found) <= most:
        return None
    hosts: set[bytes] = set()
    for one in found:
        hosts.add(one[1][:_HOST_BYTES])
        if len(hosts) > most:
            hosts.discard(one[1][:_HOST_BYTES])
            return hosts
    return None


def found_at(found: Sequence[Found], hosts: set[bytes]) -> tuple[Found, ...]:
    """Those that lie at these hosts."""
    return tuple(one for one in found if one[1][:_HOST_BYTES] in hosts)


def edges_to(edges: Sequence[Edge], hosts: set[bytes]) -> Sequence[Edge]:
    """The same of links."""
    return [edge for edge in edges if edge.key[:_HOST_BYTES] in hosts]
