"""Raw link parts: links as pages named them, one row for each link of each capture.

Rows are gathered in plain lists, because this is done for every link of a crawl, and written as
one Parquet file when the node says so. Nothing is sorted or made distinct here; `tables.py` does
that when somebody asks. A part is no part of the graph before a manifest names it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from gossamer.graph.arrow import pa, pq
from gossamer.graph.manifest import PART_SUFFIX, TEMPORARY_SUFFIX, sync_folder
from gossamer.records import Edge

SCHEMA: Final = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("target", pa.string(), nullable=False),
        pa.field("anchor", pa.string(), nullable=False),
        pa.field("rel", pa.string(), nullable=False),
        pa.field("place", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("line", pa.int32(), nullable=False),
        pa.field("fault", pa.string(), nullable=False),
        pa.field("seen_us", pa.int64(), nullable=False),
    ]
)
# Values that repeat from row to row: a dictionary makes them almost free.
_REPEATING: Final = ["source", "rel", "place", "kind", "fault", "seen_us"]
_MAX_LINE: Final = 2**31 - 1


class PartWriter:
    """The rows gathered since the last `write`, in the folder of one graph."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._edges: list[Edge] = []
        self._pages: list[tuple[str, int, int]] = []  # source, when, how many edges

    @property
    def rows(self) -> int:
        """How many rows are gathered."""
        return len(self._edges)

    def add(self, source: str, at_us: int, edges: Sequence[Edge]) -> None:
        """Gather the links of one capture of a page."""
        self._edges.extend(edges)
        self._pages.append((source, at_us, len(edges)))

    def write(self, name: str) -> Path:
        """Write what is gathered as the part `name`, synced to the disk, and begin anew.

        `name` is without suffix. If this raises, the rows are still here and there is no part.
        """
        path = self._folder / (name + PART_SUFFIX)
        new = path.with_name(path.name + TEMPORARY_SUFFIX)
        with new.open("wb") as file:
            pq.write_table(
                self._table(), file, compression="zstd", use_dictionary=_REPEATING, version="2.6"
            )
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        sync_folder(self._folder)
        self._edges.clear()
        self._pages.clear()
        return path

    def _table(self) -> Any:
        edges = self._edges
        columns: list[list[str] | list[int]] = [
            [source for source, _, count in self._pages for _ in range(count)],
            [edge.target for edge in edges],
            [edge.text for edge in edges],
            [edge.rel for edge in edges],
            [edge.place for edge in edges],
            [edge.kind for edge in edges],
            [min(edge.line, _MAX_LINE) for edge in edges],
            [edge.fault for edge in edges],
            [at_us for _, at_us, count in self._pages for _ in range(count)],
        ]
        arrays = [_array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
        return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _array(column: list[str] | list[int], kind: Any) -> Any:
    """An Arrow column. Half a surrogate pair, which a script can put in a page, is no UTF-8."""
    try:
        return pa.array(column, kind)
    except UnicodeEncodeError:
        whole = [str(value).encode("utf-8", "replace").decode() for value in column]
        return pa.array(whole, kind)
