"""From links to ranks: the numbering of pages, the computation, and the files it leaves.

Pages are numbered in the order of their URLs. So neighbours on the web, which link to each other
most, are neighbours in memory; and the same links give the same numbers, whatever files they come
from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from gossamer.errors import CorruptFile
from gossamer.graph import rank_store as store
from gossamer.graph.arrow import pa
from gossamer.graph.degrees import HOST_OF, name_homes
from gossamer.graph.rank_links import InLinks, gather, packed, unpacked
from gossamer.graph.rank_reader import RankReader
from gossamer.graph.rank_spool import Spool
from gossamer.graph.rank_store import Hashes, RankInfo
from gossamer.graph.rank_vectors import (
    DAMPING,
    ROUNDS,
    TOLERANCE,
    Hits,
    Ranked,
    Vector,
    hits,
    pagerank,
)
from gossamer.graph.tables import answers

_NODES: Final = """
    create temp table nodes as
    select url, (row_number() over (order by url) - 1)::integer as node
    from (select source as url from captures union select target from followed)
"""
_FOLLOWED: Final = """
    create temp view followed as
    select source, target from links where kind <> 'media'
"""
_NO_NOFOLLOW: Final = " and (rel = '' or not list_contains(string_split(rel, ' '), 'nofollow'))"
_PAIRS: Final = """
    select s.node as source, t.node as target
    from followed join nodes s on source = s.url join nodes t on target = t.url
"""
_KEYS: Final = "select md5_number_lower(url) as key from nodes order by node"
_URLS: Final = "select url from nodes order by node"
_SITES: Final = """
    create temp table sites as
    select site, site_name as url, (row_number() over (order by site_name) - 1)::integer as node
    from (select distinct site, site_name from homes)
"""
_HOMES: Final = f"""
    select sites.node as site
    from nodes join homes on {HOST_OF.format("nodes.url")} = name join sites using (site)
    order by nodes.node
"""  # noqa: S608
_SITE_NAMES: Final = "select url from sites order by node"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to compute. PageRank of pages is always among it."""

    hits: bool = False
    sites: bool = False
    nofollow: bool = False  # count links marked so
    damping: float = DAMPING
    tolerance: float = TOLERANCE
    rounds: int = ROUNDS


@dataclass(frozen=True, slots=True)
class Work:
    """An open graph, where files go, and what is wanted."""

    folder: Path
    spill: Path
    graph: duckdb.DuckDBPyConnection
    wanted: Wanted


def computed(work: Work, digest: str, at_us: int) -> RankInfo:
    """Compute, and write all files but ranks.json."""
    stem = f"{store.PREFIX}{at_us:x}-{os.getpid()}"
    pairs, nodes = _number(work)
    keys = _keys(work, nodes)
    links = gather(pairs, nodes, work.spill)
    ranked = _pagerank(work.wanted, links, _earlier(work.folder, keys))
    info = RankInfo(
        graph=digest,
        at_us=at_us,
        with_nofollow=work.wanted.nofollow,
        pages=nodes,
        links=links.links,
        rounds=ranked.rounds,
        change=ranked.change,
        pages_file=f"{stem}-pages.parquet",
        keys_file=f"{stem}-keys.npy",
        values_file=f"{stem}-values.npy",
        with_hits=work.wanted.hits,
        sites_file=f"{stem}-sites.parquet" if work.wanted.sites else "",
    )
    urls = (batch["url"] for batch in answers(work.graph, _URLS))
    _write(work, info.pages_file, urls, ranked, links)
    order = np.argsort(keys, kind="stable")
    store.write_array(work.folder / info.keys_file, keys[order])
    store.write_array(work.folder / info.values_file, ranked.values[order] * nodes)
    if info.sites_file:
        _write_sites(work, info.sites_file, pairs, nodes)
    return info


def _number(work: Work) -> tuple[Spool, int]:
    """The links as pairs of pages, and how many pages there are."""
    work.graph.execute(_FOLLOWED + ("" if work.wanted.nofollow else _NO_NOFOLLOW))
    work.graph.execute(_NODES)
    pairs = Spool(work.spill, "pairs")
    for batch in answers(work.graph, _PAIRS):
        pairs.add(packed(_numbers(batch["source"]), _numbers(batch["target"])))
    return pairs, _count(work.graph, "nodes")


def _keys(work: Work, nodes: int) -> Hashes:
    keys = np.empty(nodes, np.uint64)
    start = 0
    for batch in answers(work.graph, _KEYS):
        keys[start : start + len(batch)] = _numbers(batch["key"])
        start += len(batch)
    return keys


def _earlier(folder: Path, keys: Hashes) -> Vector | None:
    """The ranks before; damaged ones are none, and are about to be replaced."""
    try:
        return RankReader(folder).of_keys(keys)
    except CorruptFile:
        return None


def _pagerank(wanted: Wanted, links: InLinks, start: Vector | None = None) -> Ranked:
    return pagerank(
        links,
        damping=wanted.damping,
        tolerance=wanted.tolerance,
        rounds=wanted.rounds,
        start=start,
    )


def _write_sites(work: Work, name: str, pairs: Spool, nodes: int) -> None:
    """The ranks of sites: pages are told apart no more, and links within a site are none."""
    name_homes(work.graph, "nodes", "url")
    work.graph.execute(_SITES)
    site_of = np.empty(nodes, np.int32)
    start = 0
    for batch in answers(work.graph, _HOMES):
        site_of[start : start + len(batch)] = _numbers(batch["site"])
        start += len(batch)
    between = Spool(work.spill, "between")
    for piece in pairs.chunks():
        sources, targets = unpacked(piece)
        between.add(np.unique(packed(site_of[sources], site_of[targets])))
    folder = work.spill / "sites"
    folder.mkdir()
    links = gather(between, _count(work.graph, "sites"), folder)
    names = (batch["url"] for batch in answers(work.graph, _SITE_NAMES))
    _write(work, name, names, _pagerank(work.wanted, links), links)


def _write(work: Work, name: str, urls: Iterator[Any], ranked: Ranked, links: InLinks) -> None:
    """A table of ranks; `urls` are columns in the order of nodes."""
    found = hits(links) if work.wanted.hits else None
    schema = store.table_schema()

    def batches() -> Iterator[Any]:
        start = 0
        for column in urls:
            span = slice(start, start + len(column))
            start = span.stop
            arrays = [column, pa.array(ranked.values[span]), *_hits_columns(found, span)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    store.write_table(work.folder / name, schema, batches())


def _hits_columns(found: Hits | None, span: slice) -> list[Any]:
    if found is None:
        return [pa.nulls(span.stop - span.start, pa.float64())] * 2
    return [pa.array(found.hubs.values[span]), pa.array(found.authorities.values[span])]


def _numbers(column: Any) -> NDArray[Any]:
    numbers: NDArray[Any] = column.to_numpy()
    return numbers


def _count(graph: duckdb.DuckDBPyConnection, table: str) -> int:
    ((rows,),) = graph.execute(f"select count(*) from {table}").fetchall()  # noqa: S608
    return int(rows)
