"""Limit the number of hosts to which the links of one page lead.

A page with links to 20,000 unknown hosts would cost the node 20,000 rows, DNS lookups and
robots.txt fetches. A worker reports only the first `frontier.hosts_per_page` hosts. Links of a seed
are not limited, because the operator chose it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.records import Edge, Found

_HOST_BYTES = 8


def hosts_of_first(found: Sequence[Found], most: int) -> set[bytes] | None:
    """The keys of the first `most` hosts. None if there are no more than `most`."""
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
    """The URLs at these hosts."""
    return tuple(one for one in found if one[1][:_HOST_BYTES] in hosts)


def edges_to(edges: Sequence[Edge], hosts: set[bytes]) -> Sequence[Edge]:
    """The links to these hosts."""
    return [edge for edge in edges if edge.key[:_HOST_BYTES] in hosts]
