"""Objects for exploring a collection: top pages, neighbours, changes, exports.

JSON objects, for the API and for the pages. Functions that read the whole graph use the cache of
slow answers.
"""

from __future__ import annotations

from typing import Any, Final

from gossamer.base.files import stamp_of
from gossamer.errors import NotKnown, UsageError
from gossamer.graph.ego import Ego, around_name, around_page, edges_of
from gossamer.graph.manifest import NAME as MANIFEST
from gossamer.graph.ranks.store import NAME as RANKS_FILE
from gossamer.graph.ranks.top import BY, RANKS, top, top_ranked
from gossamer.urls.site import site_of
from gossamer.web.open_collections import OpenCollections

MOST_NODES: Final = 60
MOST_TOP: Final = 1_000
ORDERS: Final = {
    "pagerank": "PageRank",
    "backlinks": "Pages that link to it",
    "hosts": "Hosts that link to it",
    "sites": "Sites that link to it",
}


def top_object(
    collections: OpenCollections, name: str, by: str, level: str, limit: int
) -> dict[str, Any]:
    """Return the top pages or sites by their links. Raises NoCollection, CorruptFile.

    Ranks are the last computed ones; computing them is the crawl's job.
    """
    paths = collections.existing(name)

    def make() -> list[dict[str, Any]]:
        # Only `top` of ranks would need a clock: it computes missing ranks.
        found = (
            top_ranked(paths.graph, by, level, MOST_TOP)
            if by in RANKS
            else top(paths.graph, collections.clock, by, level, MOST_TOP)
        )
        rows: list[dict[str, Any]] = found.to_pylist()
        return rows

    stamp = stamp_of(paths.graph / (RANKS_FILE if by in RANKS else MANIFEST))
    rows = collections.slowly.get(("top", *collections.identity(name), by, level), stamp, make)
    shown = [dict(row) for row in rows[:limit]]
    if level == "page":
        with collections.reader(name) as reader:
            for row in shown:
                known = reader.find(row["url"])
                row["title"] = known.title if known and known.title else None
                row["outcome"] = known.outcome.value if known else None
                row["status"] = (known.status or None) if known else None
    return {"schema": 1, "by": by, "level": level, "columns": list(BY[by]), "pages": shown}


def graph_object(ego: Ego) -> dict[str, Any]:
    """Return a node and its neighbours."""
    return {
        "schema": 1,
        "centre": ego.centre or None,
        "level": ego.level,
        "total": ego.total,
        "neighbours": [
            {"name": one.name, "links_in": one.links_in, "links_out": one.links_out}
            for one in ego.neighbours
        ],
        "between": [
            {"source": source, "target": target, "links": links}
            for source, target, links in ego.between
        ],
    }


def neighbours(collections: OpenCollections, name: str, of: str, level: str, most: int) -> Ego:
    """Return the neighbours of a URL, a host or a site; an empty `of` is the whole graph.

    Raises UsageError, NotKnown, NoCollection, CorruptFile, TooBusy.
    """
    paths = collections.existing(name)
    if "://" in of:
        with collections.reader(name) as reader:
            url = reader.get(of).url
        return around_page(paths.graph, url, level or "page", most)
    if level == "page":
        raise UsageError("pages need a URL; choose hosts or sites for a host or site")
    level = level or "host"
    edges = collections.slowly.get(
        ("edges", *collections.identity(name), level),
        stamp_of(paths.graph / MANIFEST),
        lambda: edges_of(paths.graph, level),
    )
    ego = around_name(edges, of.strip().lower(), level, most)
    if of and not ego.total and not _is_known(collections, name, of.strip().lower(), level):
        raise NotKnown(f"this crawl has no {level} {of[:200]!r}")
    return ego


def _is_known(collections: OpenCollections, name: str, of: str, level: str) -> bool:
    """Whether the crawl has a host or site, even one without links to it."""
    with collections.reader(name) as reader:
        hosts = (host.name for host in reader.host_rows())
        return any((one if level == "host" else site_of(one)) == of for one in hosts)
