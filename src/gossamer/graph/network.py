"""The graph as nodes and edges: pages, or their hosts or sites.

Every URL that is linked or was captured is a node, or belongs to one. An edge stands for all links
from one node to another; those of a node to itself are left out. Nodes are sorted by name, edges by
their two names, and both come in batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from gossamer.errors import UsageError
from gossamer.graph.arrow import pa
from gossamer.graph.degrees import HOST_OF, name_homes
from gossamer.graph.tables import answers, opened

LEVELS: Final = ("page", "host", "site")

URLS: Final = "(select source as url from captures union all select target from links)"
_PAGE_EDGES: Final = """
    create temp table edges as
    select source, target, 1::bigint as pages, count(*)::bigint as links
    from links where source <> target group by source, target
"""
_PAGE_NODES: Final = f"select distinct url as name from {URLS}"  # noqa: S608
_HOME_EDGES: Final = """
    create temp table edges as
    select f.{name} as source, t.{name} as target,
           count(distinct l.source)::bigint as pages, count(*)::bigint as links
    from links l
    join homes f on f.name = {source}
    join homes t on t.name = {target}
    where f.{name} <> t.{name}
    group by all
"""
_HOME_NODES: Final = "select distinct {name} as name from homes"
_NODES: Final = """
    create temp table nodes as
    select name, row_number() over (order by name) as number from ({})
"""
_NUMBERED: Final = """
    select f.number as source, t.number as target, pages, links
    from edges join nodes f on f.name = edges.source join nodes t on t.name = edges.target
    order by 1, 2
"""


# The facts of a node besides degrees and rank.
NODE_FACTS: Final = pa.schema(
    [("url", pa.string()), ("title", pa.string()), ("status", pa.int64()), ("depth", pa.int64())]
)
NODE_COLUMNS: Final = (
    "number",
    "name",
    "title",
    "status",
    "depth",
    "in_degree",
    "out_degree",
    "rank",
)
_DESCRIBED: Final = """
    create or replace temp table described as
    select n.number, n.name, f.title, f.status, f.depth,
           coalesce(i.degree, 0)::bigint as in_degree, coalesce(o.degree, 0)::bigint as out_degree,
           {rank} as rank
    from nodes n
    left join (select target as name, count(*) as degree from edges group by 1) i using (name)
    left join (select source as name, count(*) as degree from edges group by 1) o using (name)
    left join {facts} f on f.url = n.name
    {ranked}
"""


@dataclass(frozen=True, slots=True)
class LinkNetwork:
    """Nodes and edges, while the graph is open."""

    connection: duckdb.DuckDBPyConnection

    def count(self) -> int:
        """The number of nodes."""
        ((found,),) = self.connection.execute("select count(*) from nodes").fetchall()
        return int(found)

    def nodes(self) -> Iterator[Any]:
        """Record batches: number, from 1, and name."""
        return answers(self.connection, "select number, name from nodes order by number")

    def describe(self, facts: str = "", ranked: str = "") -> None:
        """Set the facts of nodes. Both arguments are SQL table names: `facts` with the columns of
        NODE_FACTS, `ranked` with url and pagerank.
        """
        if not facts:
            self.connection.register("no_facts", NODE_FACTS.empty_table())
        rank = f"r.pagerank * (select count(*) from {ranked})" if ranked else "null::double"  # noqa: S608
        join = f"left join {ranked} r on r.url = n.name" if ranked else ""
        self.connection.execute(
            _DESCRIBED.format(facts=facts or "no_facts", rank=rank, ranked=join)
        )

    def described_nodes(self) -> Iterator[Any]:
        """Record batches of NODE_COLUMNS, with the facts from `describe`; without it only the
        degrees are known.
        """
        tables = self.connection.execute("select table_name from duckdb_tables()").fetchall()
        if ("described",) not in tables:
            self.describe()
        sql = f"select {', '.join(NODE_COLUMNS)} from described order by number"  # noqa: S608
        return answers(self.connection, sql)

    def edges(self) -> Iterator[Any]:
        """Record batches: source target pages links, by names."""
        return answers(self.connection, "from edges order by source, target")

    def numbered_edges(self) -> Iterator[Any]:
        """The same by the numbers of nodes."""
        return answers(self.connection, _NUMBERED)


@contextmanager
def network(folder: Path, level: str = "page") -> Iterator[LinkNetwork]:
    """The graph at a level. Raises UsageError for an unknown level, CorruptFile."""
    check_level(level)
    with opened(folder) as connection:
        if level == "page":
            connection.execute(_PAGE_EDGES)
            connection.execute(_NODES.format(_PAGE_NODES))
        else:
            name = "name" if level == "host" else "site_name"
            name_homes(connection, URLS, "url")
            ends = {"source": HOST_OF.format("l.source"), "target": HOST_OF.format("l.target")}
            connection.execute(_HOME_EDGES.format(name=name, **ends))
            connection.execute(_NODES.format(_HOME_NODES.format(name=name)))
        yield LinkNetwork(connection)


def check_level(level: str) -> None:
    """Raise UsageError for an unknown level."""
    if level not in LEVELS:
        raise UsageError(f"unknown level {level!r}; use page, host or site")
