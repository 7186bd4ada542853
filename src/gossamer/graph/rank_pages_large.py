"""Pages and links as numbers, of a graph that memory does not hold: DuckDB joins and spills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import duckdb

from gossamer.graph.rank_links import packed
from gossamer.graph.rank_pages import SHOWN, Pages
from gossamer.graph.rank_spool import Spool
from gossamer.graph.tables import answers

_FOLLOWED: Final = f"create temp view followed as from links where kind <> '{SHOWN}'"
_NO_NOFOLLOW: Final = " and (rel = '' or not list_contains(string_split(rel, ' '), 'nofollow'))"
_NODES: Final = """
    create temp table nodes as
    select url, (row_number() over (order by url) - 1)::integer as node
    from (select source as url from captures union select target from followed)
"""
_PAIRS: Final = """
    select s.node as source, t.node as target
    from followed join nodes s on source = s.url join nodes t on target = t.url
"""
_URLS: Final = "select url from nodes order by node"


def number_pages(graph: duckdb.DuckDBPyConnection, links: Spool, *, nofollow: bool) -> Pages:
    """The pages of an open graph (`tables.opened`); their links are put into `links`."""
    graph.execute(_FOLLOWED + ("" if nofollow else _NO_NOFOLLOW))
    graph.execute(_NODES)
    for batch in answers(graph, _PAIRS):
        links.add(packed(batch["source"].to_numpy(), batch["target"].to_numpy()))
    ((count,),) = graph.execute("select count(*) from nodes").fetchall()

    def urls() -> Iterator[Any]:
        return (batch["url"] for batch in answers(graph, _URLS))

    return Pages(count, links, urls)
