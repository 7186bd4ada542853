"""Write link files sorted by a column, and read only the needed rows.

Rows are in groups of 32,768, and the footer of the file has the least and the greatest text of
each. So one URL costs one group, 2 ms, in a file of any size, and several files are merged in
slices that fit into memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from gossamer.base.garbage import give_back
from gossamer.graph.arrow import pa, pc, pq
from gossamer.graph.coded import Rows, read_coded, rows_of
from gossamer.graph.columns import number_array, number_column, text_scalar
from gossamer.graph.manifest import TEMPORARY_SUFFIX

SLICE_ROWS: Final = 300_000
GROUP_ROWS: Final = 32_768
_BEYOND_ALL: Final = chr(0x10FFFF)


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A row group of a sorted file: its least and greatest text."""

    path: Path
    number: int
    least: str
    greatest: str
    rows: int


def groups_of(path: Path, column: str) -> list[RowGroup]:
    """The row groups of a file that is sorted by a column."""
    return groups_in(pq.read_metadata(path), path, column)


def groups_in(metadata: Any, path: Path, column: str) -> list[RowGroup]:
    """The same for a file whose footer was read before."""
    at = metadata.schema.names.index(column)
    found = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        statistics = group.column(at).statistics
        # Texts of more than 4 kB have no statistics: such a group may contain anything.
        has_statistics = statistics is not None and statistics.has_min_max
        least, greatest = (statistics.min, statistics.max) if has_statistics else ("", _BEYOND_ALL)
        if group.num_rows:
            found.append(RowGroup(path, number, least, greatest, group.num_rows))
    return found


def slices(paths: Sequence[Path], column: str) -> Iterator[Rows]:
    """Links of several sorted files in pieces, cut by `table_slices`."""
    return map(rows_of, table_slices(paths, column, read_coded))


def table_slices(
    paths: Sequence[Path], column: str, read: Callable[[Path, Sequence[int]], Any]
) -> Iterator[list[Any]]:
    """Rows of several sorted files in pieces, one table per file that has rows. Later pieces are
    not less in that column. `read` gets a file and the wanted row groups.

    A piece has about `SLICE_ROWS` rows, or all rows of one text. There is at least one piece.
    """
    groups = [group for path in paths for group in groups_of(path, column)]
    if not groups:
        yield [read(paths[0], [])]
    for low, high in _spans(groups):
        inside: dict[Path, list[int]] = {}
        for group in groups:
            if group.greatest >= low and (high is None or group.least < high):
                inside.setdefault(group.path, []).append(group.number)
        yield [_between(read(*some), column, low, high) for some in inside.items()]


def _spans(groups: Sequence[RowGroup]) -> Iterator[tuple[str, str | None]]:
    """Spans of texts with about the same number of rows; the last has no end."""
    low, count = None, 0
    for group in sorted(groups, key=lambda group: group.least):
        low = group.least if low is None else low
        if count >= SLICE_ROWS and group.least > low:
            yield low, group.least
            low, count = group.least, 0
        count += group.rows
    if low is not None:
        yield low, None


def _between(table: Any, column: str, low: str, high: str | None) -> Any:
    """The rows of a span, with only their texts: groups extend beyond it on both sides."""
    pieces = []
    for batch in table.to_batches():
        texts = batch.column(column)
        is_coded = pa.types.is_dictionary(texts.type)
        words = texts.dictionary if is_coded else texts
        is_in = pc.greater_equal(words, text_scalar(low))
        if high is not None:
            is_in = pc.and_(is_in, pc.less(words, text_scalar(high)))
        is_in = is_in.take(texts.indices) if is_coded else is_in
        pieces.append(_without_unused(batch.filter(is_in)))
    return pa.Table.from_batches(pieces, table.schema)


def _without_unused(batch: Any) -> Any:
    columns = [_compact(one) if pa.types.is_dictionary(one.type) else one for one in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _compact(column: Any) -> Any:
    """A dictionary column with only the texts that a row uses."""
    codes = number_array(column.indices)
    is_used = np.zeros(len(column.dictionary), np.bool_)
    is_used[codes] = True
    numbers = (np.cumsum(is_used) - 1).astype(codes.dtype)
    words = column.dictionary.take(number_column(np.flatnonzero(is_used)))
    return pa.DictionaryArray.from_arrays(number_column(numbers[codes]), words)


def write_rows(path: Path, names: Sequence[str], pieces: Iterable[Rows], sorted_by: str) -> int:
    """Write sorted rows as a whole file, synced. Return their number."""
    return write_tables(path, _groups(names, pieces), sorted_by)


def _groups(names: Sequence[str], pieces: Iterable[Rows]) -> Iterator[Any]:
    """Pieces cut into tables of the group size."""
    for piece in pieces:
        for start in range(0, max(1, len(piece)), GROUP_ROWS):
            yield piece.taken(slice(start, start + GROUP_ROWS)).table(names)
        del piece  # before the next is made: two at once take twice the memory
        give_back()


def write_tables(
    path: Path, tables: Iterable[Any], sorted_by: str, group_rows: int = GROUP_ROWS
) -> int:
    """The same for Arrow tables of one schema; there is at least one."""
    new = path.with_name(path.name + TEMPORARY_SUFFIX)
    rest = iter(tables)
    first = next(rest)
    count = 0
    with new.open("wb") as file:
        with pq.ParquetWriter(
            file,
            first.schema,
            compression="lz4",
            version="2.6",
            store_schema=False,
            write_statistics=[n for n in (sorted_by, "fault") if n in first.column_names],
        ) as writer:
            for table in chain((first,), rest):
                writer.write_table(table, row_group_size=group_rows)
                count += table.num_rows
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    return count
