"""Compute ranks from numbered pages, and write their files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.base.garbage import give_back
from gossamer.errors import CorruptFile
from gossamer.graph.arrow import pa
from gossamer.graph.columns import number_column, text_column
from gossamer.graph.ranks import store
from gossamer.graph.ranks.numbered_links import InLinks, Places, gather, packed, unpacked
from gossamer.graph.ranks.numbered_pages import FEW_ROWS, Pages
from gossamer.graph.ranks.reader import RankReader
from gossamer.graph.ranks.spool import Spool
from gossamer.graph.ranks.store import RankInfo
from gossamer.graph.ranks.vectors import (
    DAMPING,
    ROUNDS,
    TOLERANCE,
    Hits,
    Ranked,
    Vector,
    hits,
    pagerank,
)
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RanksRequest:
    """What to compute. PageRank of pages is always included."""

    hits: bool = False
    sites: bool = False
    nofollow: bool = False  # count links with rel=nofollow
    damping: float = DAMPING
    tolerance: float = TOLERANCE
    rounds: int = ROUNDS


@dataclass(frozen=True, slots=True)
class Work:
    """The folders, and what is wanted."""

    folder: Path
    spill: Path
    wanted: RanksRequest


def computed(work: Work, pages: Pages, digest: str, at_us: int) -> RankInfo:
    """Compute, and write all files but ranks.json."""
    stem = f"{store.PREFIX}{at_us:x}-{os.getpid()}"
    ranked, links = _ranked_pages(work, pages, f"{stem}-pages.parquet")
    info = RankInfo(
        graph=digest,
        at_us=at_us,
        with_nofollow=work.wanted.nofollow,
        pages=pages.count,
        links=links,
        rounds=ranked.rounds,
        change=ranked.change,
        pages_file=f"{stem}-pages.parquet",
        keys_file=f"{stem}-keys.npy",
        values_file=f"{stem}-values.npy",
        with_hits=work.wanted.hits,
        sites_file=f"{stem}-sites.parquet" if work.wanted.sites else "",
    )
    paths = work.folder / info.keys_file, work.folder / info.values_file
    values = ranked.values
    values *= pages.count
    _give_back(pages)
    store.write_ordered(paths, pages.keys(), values)
    if info.sites_file:
        _write_sites(work, info.sites_file, pages)
    return info


def _ranked_pages(work: Work, pages: Pages, name: str) -> tuple[Ranked, int]:
    """The ranks of pages, which are also written to a file, and the number of links."""
    links = gather(pages.links, pages.count, work.spill)
    _give_back(pages)
    ranked = _pagerank(work.wanted, links, _earlier(work.folder, pages))
    _write(work, name, pages.urls(), ranked, links)
    return ranked, links.links


def _give_back(pages: Pages) -> None:
    """Return memory to the system. Numbering many pages leaves fragments all over the heap. With
    few pages the process, mostly the node of a crawl, is about to end, and the search for fragments
    would take 8 ms.
    """
    if len(pages.links) > FEW_ROWS:
        give_back()


def _earlier(folder: Path, pages: Pages) -> Vector | None:
    """The previous ranks; damaged ones count as none, and are about to be replaced."""
    try:
        reader = RankReader(folder)
        return reader.of_keys(pages.keys()) if reader.pages else None
    except CorruptFile:
        return None


def _pagerank(wanted: RanksRequest, links: InLinks, start: Vector | None = None) -> Ranked:
    return pagerank(
        links,
        damping=wanted.damping,
        tolerance=wanted.tolerance,
        rounds=wanted.rounds,
        start=start,
    )


def _write_sites(work: Work, name: str, pages: Pages) -> None:
    """Write the ranks of sites: pages are merged into their sites, and links within a site do not
    count.
    """
    names, number_of = _sites(pages)
    between = Spool(work.spill, "between")
    for piece in pages.links.chunks():
        sources, targets = unpacked(piece)
        between.add(np.unique(packed(number_of[sources], number_of[targets])))
    folder = work.spill / "sites"
    folder.mkdir()
    links = gather(between, len(names), folder)
    column = text_column(names)
    _write(work, name, iter([column]), _pagerank(work.wanted, links), links)


def _sites(pages: Pages) -> tuple[list[str], Places]:
    """The sorted sites, and the number of each page's site."""
    seen: dict[str, int] = {}
    urls = (url for column in pages.urls() for url in column.to_pylist())
    found = (seen.setdefault(site_of(host_of(url)), len(seen)) for url in urls)
    of_page = np.fromiter(found, np.int32, pages.count)
    names = sorted(seen)
    number_of = np.empty(len(names), np.int32)
    for number, name in enumerate(names):
        number_of[seen[name]] = number
    return names, number_of[of_page]


def _write(work: Work, name: str, urls: Iterator[Any], ranked: Ranked, links: InLinks) -> None:
    """Write a table of ranks; `urls` are columns in the order of nodes."""
    found = hits(links) if work.wanted.hits else None
    schema = store.table_schema()

    def batches() -> Iterator[Any]:
        start = 0
        for column in urls:
            span = slice(start, start + len(column))
            start = span.stop
            arrays = [column, number_column(ranked.values[span]), *_hits_columns(found, span)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    store.write_table(work.folder / name, schema, batches())


def _hits_columns(found: Hits | None, span: slice) -> list[Any]:
    if found is None:
        return [pa.nulls(span.stop - span.start, pa.float64())] * 2
    return [number_column(one.values[span]) for one in (found.hubs, found.authorities)]
