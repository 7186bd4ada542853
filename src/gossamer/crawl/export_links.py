"""Exports of the graph: links, anchors and networks, of pages, hosts or sites.

A network goes to the formats of network programs (`graph/formats.py`), or as a table of edges to
those of every export.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gossamer.crawl.export_files import writing_to
from gossamer.crawl.study_links import with_dates
from gossamer.graph import tables
from gossamer.graph.anchors import anchors
from gossamer.graph.formats import NETWORK_FORMATS
from gossamer.graph.network import network

__all__ = ["anchors", "edges", "links", "write_network"]


def links(folder: Path) -> Iterator[Any]:
    """Distinct links of the graph; a running crawl adds to it every half minute or so."""
    return (with_dates(batch) for batch in tables.links(folder))


def edges(folder: Path, level: str) -> Iterator[Any]:
    """The edges between pages, hosts or sites: source target pages links."""
    with network(folder, level) as graph:
        yield from graph.edges()


def write_network(folder: Path, level: str, path: Path, check: Callable[[], None]) -> int:
    """Write nodes and edges to a file, its format told by the name; how many edges.

    Raises UsageError, CorruptFile, DiskFault, and what `check` raises at the end.
    """
    write = NETWORK_FORMATS[path.suffix.lower()]
    with network(folder, level) as graph, writing_to(path, check) as file:
        return write(file, graph)
