"""Raw link parts: links as found in pages, one row for each link of each capture.

Rows are collected by columns, because this is done for every link of a crawl, and written as one
Parquet file when the node asks for it. Nothing is sorted or made distinct here; `tables.py` does
that for queries. A part belongs to the graph when a manifest names it.

Columns with repeated values are passed to Parquet as a dictionary, and for others it builds one
itself: half the time, and 8 bytes per link instead of 11. The Arrow schema is not stored, so that a
reader sees plain columns.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from gossamer.base.files import sync_folder
from gossamer.graph.arrow import pa, pq
from gossamer.graph.gathered import Gathered
from gossamer.graph.manifest import PART_SUFFIX, TEMPORARY_SUFFIX
from gossamer.records import Edge, LinkKind

# A query for faults skips the parts without any; no other column is filtered so.
_WITH_STATISTICS: Final = ["fault"]
_made: Final = tuple.__new__  # a third of the time of Edge(...)
_TEXTS: Final = ("source", "target", "anchor", "rel", "place", "kind")


@cache
def schema() -> Any:
    """The columns of a part. Built on first use: see `arrow.py`."""
    numbers = [("line", pa.int32()), ("fault", pa.string()), ("seen_us", pa.int64())]
    columns = [*((name, pa.string()) for name in _TEXTS), *numbers]
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])


def __getattr__(name: str) -> Any:
    if name == "SCHEMA":
        return schema()
    raise AttributeError(name)


class PartWriter:
    """The rows collected since the last `write`, in the folder of one graph."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows = _Rows()
        self.chars = 0  # of their targets, which can have 16,000 each

    @property
    def rows(self) -> int:
        """The number of collected rows."""
        return len(self._rows.gathered)

    def add(self, source: str, at_us: int, edges: Sequence[Edge]) -> None:
        """Add the links of one capture of a page."""
        if edges:
            self.chars += self._rows.add(source, at_us, edges)

    def add_capture(self, source: str, at_us: int, edges: Sequence[Edge]) -> None:
        """The same, with a row for the capture itself, whatever links it has."""
        capture = _made(Edge, (source, b"", "", "", "", LinkKind.CAPTURE, 0, ""))
        self.chars += self._rows.add(source, at_us, [capture, *edges])

    def add_unchanged(self, source: str, at_us: int) -> None:
        """A capture that found the page as it was: the links of the one before are still valid."""
        capture = _made(Edge, (source, b"", "", "same", "", LinkKind.CAPTURE, 0, ""))
        self.chars += self._rows.add(source, at_us, [capture])

    def write(self, name: str) -> Path:
        """Write the collected rows as the part `name`, synced, and start again.

        `name` has no suffix. If this raises, the rows are still here and there is no part.
        """
        path = self._folder / (name + PART_SUFFIX)
        new = path.with_name(path.name + TEMPORARY_SUFFIX)
        with new.open("wb") as file:
            pq.write_table(
                self._rows.table(),
                file,
                compression="lz4",
                version="2.6",
                store_schema=False,
                write_statistics=_WITH_STATISTICS,
            )
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        sync_folder(self._folder)
        self._rows, self.chars = _Rows(), 0
        return path


class _Rows:
    """Collected rows: edges, which many rows share, and the pages they belong to."""

    def __init__(self) -> None:
        self.gathered = Gathered()
        self._sources: list[str] = []  # of pages
        self._seen_us: list[int] = []  # of pages
        self._counts: list[int] = []  # of pages: the number of rows of each

    def add(self, source: str, at_us: int, edges: Sequence[Edge]) -> int:
        """Return the total length of their targets in characters."""
        chars = self.gathered.add(edges)
        self._counts.append(len(edges))
        self._sources.append(source)
        self._seen_us.append(at_us)
        return chars

    def table(self) -> Any:
        """The rows as an Arrow table, dictionary-encoded where the schema has texts."""
        # Imported here: it loads NumPy, which a crawl without a graph does not need.
        from gossamer.graph.part_table import table_of

        coded = self.gathered.columns()
        return table_of(schema(), coded, self._counts, self._sources, self._seen_us)
