"""Links in memory by columns, with dictionary-encoded texts, so that merging sorts millions of
texts without comparing them.

A text column is a dictionary of its distinct texts and one number per row. Parquet stores it in
this form, so reading gives it for free; only the dictionary of the sorted column is ever compared.
Sorting and writing a row costs 0.2 microseconds so; sorting texts costs two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.graph.arrow import pa, pc, pq
from gossamer.graph.columns import (
    coded,
    number_array,
    number_column,
    places_in_order,
    taken,
    text_column,
    text_scalar,
)

CodeArray = npt.NDArray[Any]

# the columns that identify a link
KEY: Final = ("source", "target", "anchor", "rel", "place", "kind")
TEXTS: Final = (*KEY, "fault")
NUMBERS: Final = ("line", "first_us", "seen_us")
_LOW: Final = 0xFFFF_FFFF
_SMALL: Final = 100  # texts: their numbers take a byte, and every row group may contain them all


@dataclass(frozen=True, slots=True)
class Text:
    """A column of texts: `words[codes[i]]` is the text of row i."""

    words: Any  # a pyarrow.StringArray of distinct texts
    codes: CodeArray

    def ranked(self) -> Text:
        """The same with a sorted dictionary: then numbers compare like the texts."""
        order = places_in_order(self.words)
        ranks = np.empty(len(order), np.int32)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        return Text(taken(self.words, order), ranks[self.codes])

    def code_of(self, word: str) -> int:
        """The number of a text; -1 if it is missing."""
        found: int = pc.index(self.words, text_scalar(word)).as_py()
        return found

    def column(self) -> Any:
        """The Arrow column; its dictionary has only texts that a row uses."""
        size = len(self.words)
        if size <= _SMALL:
            codes = number_column(self.codes.astype(np.int32, copy=False))
            return pa.DictionaryArray.from_arrays(codes, self.words)
        is_used = np.zeros(size, np.bool_)
        is_used[self.codes] = True
        used = np.flatnonzero(is_used)
        numbers = np.empty(size, np.int32)
        numbers[used] = np.arange(len(used), dtype=np.int32)
        codes = number_column(numbers[self.codes])
        return pa.DictionaryArray.from_arrays(codes, taken(self.words, used))


@dataclass(frozen=True, slots=True)
class Rows:
    """Links by columns."""

    texts: Mapping[str, Text]
    numbers: Mapping[str, CodeArray]

    def __len__(self) -> int:
        return len(self.numbers["seen_us"])

    def taken(self, rows: CodeArray | slice) -> Rows:
        """Some rows, by number, by a mask or a slice."""
        return Rows(
            {name: Text(text.words, text.codes[rows]) for name, text in self.texts.items()},
            {name: column[rows] for name, column in self.numbers.items()},
        )

    def without(self, *names: str) -> Rows:
        """The rows without some columns."""
        return Rows(
            {name: text for name, text in self.texts.items() if name not in names},
            {name: column for name, column in self.numbers.items() if name not in names},
        )

    def ordered(self, name: str) -> Rows:
        """The rows sorted by a text column; the sort is stable."""
        ranked = self.texts[name].ranked()
        packed = ranked.codes.astype(np.int64)
        packed <<= 32
        packed |= np.arange(len(self), dtype=np.int64)
        packed.sort()  # plain numbers: a third of the time of argsort
        return Rows({**self.texts, name: ranked}, self.numbers).taken(packed & _LOW)

    def table(self, names: Sequence[str]) -> Any:
        """An Arrow table of some columns, with dictionary-encoded texts."""
        columns = [
            self.texts[name].column() if name in self.texts else number_column(self.numbers[name])
            for name in names
        ]
        named = zip(names, columns, strict=True)
        fields = [pa.field(name, column.type, nullable=False) for name, column in named]
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def read_coded(path: Path, groups: Sequence[int] | None = None) -> Any:
    """A file of links, or some of its row groups, as an Arrow table with dictionaries."""
    metadata = pq.read_metadata(path)
    names = metadata.schema.names
    if "fault" in names and not has_faults(metadata, names.index("fault")):
        names = [name for name in names if name not in ("fault", "line")]
    texts = [name for name in TEXTS if name in names]
    with pq.ParquetFile(path, metadata=metadata, read_dictionary=texts) as file:
        if groups is None:
            return file.read(columns=names)
        return file.read_row_groups(list(groups), columns=names)


def has_faults(metadata: Any, column: int) -> bool:
    """Whether a file may contain malformed links: rare, and the statistics say so."""
    for group in range(metadata.num_row_groups):
        statistics = metadata.row_group(group).column(column).statistics
        if statistics is None or not statistics.has_min_max or statistics.max != "":
            return True
    return False


def rows_of(
    given: list[Any], names: Sequence[str] = TEXTS, numbered: Sequence[str] = NUMBERS
) -> Rows:
    """The rows of tables of `read_coded`, one after the other, with all their columns or some.
    Empties the list, so that the caller holds no column that was taken over.
    """
    tables = [table for table in given if table.num_rows] or given[:1]
    given.clear()
    texts = {}
    for name in names:
        texts[name] = _text([_part_of(table, name) for table in tables])
        # Dictionaries take most of the memory, so columns taken over are not kept twice.
        tables = [table.drop_columns([name] * (name in table.column_names)) for table in tables]
    numbers = {
        name: np.concatenate([_numbers(table, name) for table in tables]) for name in numbered
    }
    return Rows(texts, numbers)


def _part_of(table: Any, name: str) -> Sequence[Any]:
    """The chunks of a text column; a column that was not read is empty in every row."""
    if name in table.column_names:
        chunks: Sequence[Any] = table.column(name).chunks
        return [chunk if chunk.type != pa.string() else coded(chunk) for chunk in chunks]
    empty = number_column(np.zeros(table.num_rows, np.int8))
    return [pa.DictionaryArray.from_arrays(empty, text_column([""]))]


def _text(pieces: Sequence[Sequence[Any]]) -> Text:
    """Chunks with their own dictionaries as one column: only dictionaries are compared."""
    chunks = [chunk for piece in pieces for chunk in piece]
    if not chunks:
        return Text(text_column(()), np.empty(0, np.int32))
    known = coded(pa.concat_arrays([chunk.dictionary for chunk in chunks]))
    numbers = number_array(known.indices).astype(_kind_for(len(known.dictionary)))
    codes, start = [], 0
    for chunk in chunks:
        end = start + len(chunk.dictionary)
        codes.append(_mapped(numbers[start:end], number_array(chunk.indices)))
        start = end
    return Text(known.dictionary, np.concatenate(codes))


def _mapped(numbers: CodeArray, codes: CodeArray) -> CodeArray:
    """The codes mapped to other numbers. Those of the first chunk, and of a single text, stay."""
    if np.array_equal(numbers, np.arange(len(numbers))):
        return codes.astype(numbers.dtype, copy=False)
    return numbers.take(codes)


def _kind_for(texts: int) -> type[np.int8 | np.int32]:
    return np.int8 if texts <= _SMALL else np.int32


def _numbers(table: Any, name: str) -> CodeArray:
    if name == "first_us" and name not in table.column_names:
        name = "seen_us"  # a raw part: a row is of one capture
    if name not in table.column_names:
        return np.zeros(table.num_rows, np.int32)
    chunks = [number_array(chunk) for chunk in table.column(name).chunks]
    return np.concatenate(chunks) if chunks else np.empty(0, np.int64)
