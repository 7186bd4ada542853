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
from array import array
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
# A question about faults skips the parts without any; no other column is asked for so.
_WITH_STATISTICS: Final = ["fault"]
_MAX_LINE: Final = 2**31 - 1


class PartWriter:
    """The rows gathered since the last `write`, in the folder of one graph."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows = _Rows()

    @property
    def rows(self) -> int:
        """How many rows are gathered."""
        return len(self._rows.targets)

    def add(self, source: str, at_us: int, edges: Sequence[Edge]) -> None:
        """Gather the links of one capture of a page."""
        if edges:
            self._rows.add(source, at_us, edges)

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
        self._rows = _Rows()
        return path


class _Rows:
    """Gathered rows: the columns of the edges, and of which page's they are."""

    def __init__(self) -> None:
        self.targets: list[str] = []
        self._anchors: list[str] = []
        self._rels: list[str] = []
        self._places: list[str] = []
        self._kinds: list[str] = []
        self._lines: list[int] = []
        self._faults: list[str] = []
        self._sources: list[str] = []  # of pages
        self._seen_us: list[int] = []  # of pages
        self._pages = array("i")  # of each row, the index of its page

    def add(self, source: str, at_us: int, edges: Sequence[Edge]) -> None:
        targets, _, texts, rels, places, kinds, lines, faults = zip(*edges, strict=True)
        self._pages.extend(array("i", [len(self._sources)]) * len(edges))
        self._sources.append(source)
        self._seen_us.append(at_us)
        self.targets.extend(targets)
        self._anchors.extend(texts)
        self._rels.extend(rels)
        self._places.extend(places)
        self._kinds.extend(kinds)
        self._lines.extend(lines)
        self._faults.extend(faults)

    def table(self) -> Any:
        """The rows as an Arrow table, with dictionaries where `SCHEMA` has their values."""
        lines = self._lines
        if max(lines, default=0) > _MAX_LINE:
            lines = [min(line, _MAX_LINE) for line in lines]
        arrays = [
            self._by_page(_strings(self._sources)),
            _strings(self.targets),
            _strings(self._anchors),
            _strings(self._rels),
            _strings(self._places),
            _strings(self._kinds),
            pa.array(lines, pa.int32()),
            _faults(self._faults),
            self._by_page(pa.array(self._seen_us, pa.int64())),
        ]
        columns = zip(SCHEMA, arrays, strict=True)
        fields = [pa.field(field.name, column.type, nullable=False) for field, column in columns]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _by_page(self, values: Any) -> Any:
        """A column that has one value for each page."""
        return _looked_up(values, self._pages)


def _looked_up(values: Any, indices: array[int]) -> Any:
    """An Arrow column that has `values[i]` for each index."""
    buffers = [None, pa.py_buffer(indices.tobytes())]  # a lent array could not grow
    found = pa.Array.from_buffers(pa.int32(), len(indices), buffers)
    return pa.DictionaryArray.from_arrays(found, values)


def _faults(column: list[str]) -> Any:
    """As `_strings`; nearly always there is none in a whole part."""
    if column.count("") == len(column):
        return _looked_up(pa.array([""]), array("i", [0]) * len(column))
    return _strings(column)


def _strings(column: list[str]) -> Any:
    """An Arrow column. Half a surrogate pair, which a script can put in a page, is no UTF-8."""
    try:
        return pa.array(column, pa.string())
    except UnicodeEncodeError:
        whole = [value.encode("utf-8", "replace").decode() for value in column]
        return pa.array(whole, pa.string())
