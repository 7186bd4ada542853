"""Export the graph: links, anchor texts and networks, of pages, hosts or sites.

A network is written in a format of network programs (`graph/formats.py`), or as a table of edges in
one of the table formats.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gossamer.graph import tables
from gossamer.graph.anchors import anchors
from gossamer.graph.arrow import pa
from gossamer.graph.formats import NETWORK_FORMATS
from gossamer.graph.network import NODE_FACTS, LinkNetwork, network
from gossamer.graph.ranks.ranks import ranks
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.export_files import writing_to
from gossamer.transfer.export_schemas import MOMENT
from gossamer.transfer.export_sort import stage, stage_batches

__all__ = ["anchors", "described", "edges", "links", "write_network"]


def links(folder: Path) -> Iterator[Any]:
    """Yield the distinct links; a running crawl adds new ones about every 30 seconds."""
    return (_with_moments(batch) for batch in tables.links(folder))


def _with_moments(batch: Any) -> Any:
    """Convert microseconds since 1970 to timestamps."""
    for name in ("first_seen", "last_seen"):
        number = batch.schema.get_field_index(name)
        moments = batch.column(number).cast(MOMENT)
        batch = batch.set_column(number, pa.field(name, MOMENT), moments)
    return batch


def edges(folder: Path, level: str) -> Iterator[Any]:
    """Yield the edges between pages, hosts or sites: source target pages links."""
    with network(folder, level) as graph:
        yield from graph.edges()


def write_network(
    reader: CollectionReader, level: str, path: Path, check: Callable[[], None]
) -> int:
    """Write nodes and edges in the format of the file's extension; return the number of edges.

    Raises UsageError, CorruptFile, DiskFault, and what `check` raises at the end.
    """
    write = NETWORK_FORMATS[path.suffix.lower()]
    with described(reader, level) as graph, writing_to(path, check) as file:
        return write(file, graph)


@contextmanager
def described(reader: CollectionReader, level: str) -> Iterator[LinkNetwork]:
    """Yield the graph at a level. Nodes have degrees; pages also have title, status and depth;
    pages and sites have the rank. Raises UsageError, CorruptFile."""
    folder = reader.paths.graph
    with tempfile.TemporaryDirectory(prefix="gossamer-export-") as name:
        rows = reader.url_rows() if level == "page" else ()
        known = ((row.url, row.title or None, row.status or None, row.depth) for row in rows)
        facts = stage(Path(name) / "facts.parquet", NODE_FACTS, known)
        ranked = ""
        if level != "host":
            ranked = stage_batches(Path(name) / "ranked.parquet", ranks(folder, level))
        with network(folder, level) as graph:
            graph.describe(facts, ranked)
            yield graph
