"""Raw link parts: links as pages named them, one row for each link of each capture.

Rows are gathered by columns, because this is done for every link of a crawl, and written as one
Parquet file when the node says so. Nothing is sorted or made distinct here; `tables.py` does that
when somebody asks. A part is no part of the graph before a manifest names it.

What repeats from row to row is handed to Parquet as a dictionary, and to others it makes one
itself: half the time and 8 bytes a link instead of 11. The Arrow schema is not stored with it, so
that a reader sees plain columns.
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

# A question about faults skips the parts without any; no other column is asked for so.
_WITH_STATISTICS: Final = ["fault"]
_made: Final = tuple.__new__  # a third of the time of Edge(...)
_TEXTS: Final = ("source", "target", "anchor", "rel", "place", "kind")


@cache
def schema() -> Any:
    """The columns of a part. Made when first asked for: see `arrow.py`."""
    numbers = [("line", pa.int32()), ("fault", pa.string()), ("seen_us", pa.int64())]
    columns = [*((name, pa.string()) for name in _TEXTS), *numbers]
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])


def __getattr__(name: str) -> Any:
    if name == "SCHEMA":
        return schema()
    raise AttributeError(name)


class PartWriter:
    """The rows gathered since the last `write`, in the folder of one graph."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows = _Rows()
        self.chars = 0  # of their targets, which can be 16,000 each

    @property
    def rows(self) -> int:
        """How many rows are gathered."""
        return len(self._rows.gathered)

    def add(self, source: str, at_us: int, edges: Sequence[Edge]) -> None:
        """Gather the links of one capture of a page."""
        if edges:
            self.chars += self._rows.add(source, at_us, edges)

    def add_capture(self, source: str, at_us: int, edges: Sequence[Edge]) -> None:
        """The same, with a row that says that the page was captured, whatever links it has."""
        capture = _made(Edge, (source, b"", "", "", "", LinkKind.CAPTURE, 0, ""))
        self.chars += self._rows.add(source, at_us, [capture, *edges])

    def write(self, name: str) -> Path:
        """Write what is gathered as the part `name`, synced to the disk, and begin anew.

        `name` is without suffix. If this raises, the rows are still here and there is no part.
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
    """Gathered rows: edges, which many rows share, and of which page's they are."""

    def __init__(self) -> None:
        self.gathered = Gathered()
        self._sources: list[str] = []  # of pages
        self._seen_us: list[int] = []  # of pages
        self._counts: list[int] = []  # of pages, how many rows each has

    def add(self, source: str, at_us: int, edges: Sequence[Edge]) -> int:
        """How many characters their targets have."""
        chars = self.gathered.add(edges)
        self._counts.append(len(edges))
        self._sources.append(source)
        self._seen_us.append(at_us)
        return chars

    def table(self) -> Any:
        """The rows as an Arrow table, with dictionaries where the schema has their values."""
        # Not at the top: it takes NumPy along, which a crawl without a graph never loads.
        from gossamer.graph.part_table import table_of

        coded = self.gathered.columns()
        return table_of(schema(), coded, self._counts, self._sources, self._seen_us)
