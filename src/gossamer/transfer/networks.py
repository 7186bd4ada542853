"""The link graph of a collection as a Python object: nodes, edges, and files of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gossamer.graph.network import check_level
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.tables import Table
from gossamer.transfer.export_links import described
from gossamer.transfer.exports import batches, export


class Graph:
    """The links between pages, between hosts or between sites."""

    def __init__(self, reader: CollectionReader, level: str) -> None:
        """Raises UsageError for an unknown level."""
        check_level(level)
        self._reader = reader
        self.level = level

    @property
    def nodes(self) -> Table:
        """number, name, title, status, depth, in_degree, out_degree, rank. For hosts and sites,
        title, status and depth are empty."""
        return Table("nodes", self._nodes)

    @property
    def edges(self) -> Table:
        """Columns source, target, pages (that link), links."""
        return Table("edges", lambda: batches(self._reader, "graph", self.level))

    def __repr__(self) -> str:
        return f"<Graph of {self.level}s in {str(self._reader.paths.path)!r}>"

    def write(self, path: str | Path) -> int:
        """Write it to a file and return the number of edges. The extension selects the format:
        .gexf .graphml .net .csv .jsonl .parquet. Raises UsageError, CorruptFile or DiskFault."""
        return export(self._reader, "graph", Path(path), self.level)

    def _nodes(self) -> Iterator[Any]:
        with described(self._reader, self.level) as graph:
            yield from graph.described_nodes()
