"""The neighbours of a page, a host or a site in the graph.

Neighbours link to it or are linked from it. Each comes with the number of links both ways; the
links between two neighbours are included. Capped: the strongest neighbours are returned, and the
total number. Links within a node do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gossamer.graph.lookup import links_from, links_from_all, links_to
from gossamer.graph.network import check_level, network
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of

EgoEdge = tuple[str, str, int]  # source, target, links

# The number of edges between hosts or sites that are held: about 200 MB.
MOST_EDGES: Final = 1_000_000
_NAMED: Final[dict[str, Callable[[str], str]]] = {
    "page": str,
    "host": host_of,
    "site": lambda url: site_of(host_of(url)),
}


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A neighbour: links from it, and links to it."""

    name: str
    links_in: int
    links_out: int

    @property
    def links(self) -> int:
        return self.links_in + self.links_out


@dataclass(frozen=True, slots=True)
class Ego:
    """A node and its neighbours; `centre` is empty for the whole graph."""

    centre: str
    level: str
    neighbours: tuple[Neighbour, ...]
    total: int
    between: tuple[EgoEdge, ...]


def around_page(folder: Path, url: str, level: str, most: int) -> Ego:
    """A page with its neighbours, or with their hosts or sites.

    Raises UsageError for an unknown level, CorruptFile.
    """
    check_level(level)
    named = _NAMED[level]
    own = named(url)
    links_in = Counter(named(one) for one in _column(links_to(folder, url), "source"))
    links_out = Counter(named(one) for one in _column(links_from(folder, url), "target"))
    if level == "page":  # the host's other pages are neighbours, but never the page itself
        links_in.pop(own, None)
        links_out.pop(own, None)
    shown, total = _strongest(links_in, links_out, most)
    between: tuple[EgoEdge, ...] = ()
    if level == "page":
        names = [one.name for one in shown]
        found = links_from_all(folder, names)
        pairs = zip(_column(found, "source"), _column(found, "target"), strict=True)
        between = _between(((source, target, 1) for source, target in pairs), names)
    return Ego(url, level, shown, total, between)


def edges_of(folder: Path, level: str) -> list[EgoEdge]:
    """The edges between hosts or sites, strongest first, at most a million.

    Reads the whole graph: some seconds for ten million links. Raises CorruptFile.
    """
    sql = "select source, target, links from edges order by links desc, source, target limit ?"
    with network(folder, level) as graph:
        return graph.connection.execute(sql, [MOST_EDGES]).fetchall()


def around_name(edges: Iterable[EgoEdge], name: str, level: str, most: int) -> Ego:
    """A host or site with its neighbours; without a name, the strongest nodes of all."""
    edges = list(edges)
    links_in, links_out = Counter[str](), Counter[str]()
    for source, target, links in edges:
        if not name:
            links_in[source] += links
            links_out[target] += links
        elif target == name:
            links_in[source] += links
        elif source == name:
            links_out[target] += links
    shown, total = _strongest(links_in, links_out, most)
    return Ego(name, level, shown, total, _between(edges, [one.name for one in shown]))


def _strongest(
    links_in: Counter[str], links_out: Counter[str], most: int
) -> tuple[tuple[Neighbour, ...], int]:
    """Those with most links in both directions; ties are ordered by name."""
    names = set(links_in) | set(links_out)
    every = (Neighbour(name, links_in[name], links_out[name]) for name in names)
    ordered = sorted(every, key=lambda one: (-one.links, one.name))
    return tuple(ordered[:most]), len(names)


def _between(edges: Iterable[EgoEdge], names: list[str]) -> tuple[EgoEdge, ...]:
    """The edges between two of the names."""
    wanted = frozenset(names)
    found = Counter[tuple[str, str]]()
    for source, target, links in edges:
        if source in wanted and target in wanted and source != target:
            found[source, target] += links
    return tuple((*pair, links) for pair, links in sorted(found.items()))


def _column(table: Any, name: str) -> list[str]:
    found: list[str] = table.column(name).to_pylist()
    return found
