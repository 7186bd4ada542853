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
from functools import cache
from pathlib import Path
from typing import Any, Final

from gossamer.base.files import sync_folder
from gossamer.graph.arrow import pa, pq
from gossamer.graph.manifest import PART_SUFFIX, TEMPORARY_SUFFIX
from gossamer.records import Edge

# A question about faults skips the parts without any; no other column is asked for so.
_WITH_STATISTICS: Final = ["fault"]
_MAX_LINE: Final = 2**31 - 1
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

    @property
    def rows(self) -> int:
        """How many rows are gathered."""
        return len(self._rows.edges)

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
    """Gathered rows: edges, which many rows share, and of which page's they are."""

    def __init__(self) -> None:
        self.edges: list[Edge] = []
        self._sources: list[str] = []  # of pages
        self._seen_us: list[int] = []  # of pages
        self._pages = array("i")  # of each row, the index of its page

    def add(self, source: str, at_us: int, edges: Sequence[Edge]) -> None:
        self._pages.extend(array("i", [len(self._sources)]) * len(edges))
        self._sources.append(source)
        self._seen_us.append(at_us)
        self.edges.extend(edges)

    def table(self) -> Any:
        """The rows as an Arrow table, with dictionaries where the schema has their values."""
        distinct = dict(zip(map(id, self.edges), self.edges, strict=True))
        numbers = dict(zip(distinct, range(len(distinct)), strict=True))
        forms = array("i", map(numbers.__getitem__, map(id, self.edges)))
        columns = tuple(zip(*distinct.values(), strict=True)) or ((),) * 8
        targets, _, texts, rels, places, kinds, lines, faults = columns
        arrays = [
            _looked_up(_strings(self._sources), self._pages),
            _by_form(_strings(targets), forms),
            _by_form(_strings(texts), forms),
            _by_form(_strings(rels), forms),
            _by_form(_strings(places), forms),
            _by_form(_strings(kinds), forms),
            pa.array([min(line, _MAX_LINE) for line in lines], pa.int32()).take(_indices(forms)),
            _by_form(_strings(faults), forms),
            pa.array(self._seen_us, pa.int64()).take(_indices(self._pages)),
        ]
        named = zip(schema(), arrays, strict=True)
        fields = [pa.field(field.name, column.type, nullable=False) for field, column in named]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _by_form(values: Any, forms: array[int]) -> Any:
    """A column that has `values[form]` for each row, each distinct value once in its dictionary."""
    encoded = values.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices.take(_indices(forms)), encoded.dictionary)


def _looked_up(values: Any, indices: array[int]) -> Any:
    """An Arrow column that has `values[i]` for each index."""
    return pa.DictionaryArray.from_arrays(_indices(indices), values)


def _indices(indices: array[int]) -> Any:
    buffers = [None, pa.py_buffer(indices.tobytes())]  # a lent array could not grow
    return pa.Array.from_buffers(pa.int32(), len(indices), buffers)


def _strings(column: Sequence[str]) -> Any:
    """An Arrow column. Half a surrogate pair, which a script can put in a page, is no UTF-8."""
    try:
        return pa.array(column, pa.string())
    except UnicodeEncodeError:
        whole = [value.encode("utf-8", "replace").decode() for value in column]
        return pa.array(whole, pa.string())
