"""Merge many small link files into few large ones, sorted in both directions.

    raw parts, half a million rows       in memory at once       -+-> NAME-by-target.parquet
    sets, up to 100 million rows         slice by slice of URLs  -+-> NAME-by-source.parquet
                                                                  +-> NAME-captures.parquet

If several captures of a page have a link, one row is left, with the time when it was first seen and
the last capture. Links that a newer capture no longer has are kept: they may come back, and would
otherwise lose their first time. The result of a query must not depend on the order of merges.
Readers compare with all captures (`tables.py`, `lookup.py`).

Memory is bounded by rows, not by the graph: a slice holds some hundred thousand rows, or all rows
of one URL if more link to it. Only pages with captures in several sets are held all at once. A set
counts when a manifest names it, which the node does (`node/link_files.py`). `tiers.py` decides
which files are merged.

    python -m gossamer.graph.merge FOLDER NAME INPUT...      prints the set as JSON
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import Any, Final

import numpy as np

from gossamer.base.files import sync_folder
from gossamer.graph import manifest as manifests
from gossamer.graph.arrow import pa, pc, pq, return_freed_memory
from gossamer.graph.coded import KEY, CodeArray, Rows, Text, read_coded, rows_of
from gossamer.graph.columns import number_array, number_column, number_scalar
from gossamer.graph.manifest import MergedSet
from gossamer.graph.sorted_files import slices, table_slices, write_rows, write_tables

BY_TARGET: Final = (*KEY, "first_us", "seen_us")
BY_SOURCE: Final = (*KEY, "line", "fault", "first_us", "seen_us")
_SIDES: Final = (
    ("target", BY_TARGET, attrgetter("by_target")),
    ("source", BY_SOURCE, attrgetter("by_source")),
)
CAPTURE_COLUMNS: Final = ("source", "first_us", "links_us", "last_us")
NEVER: Final = -1
_NICE: Final = 10
_CAPTURE_ROWS: Final = 4096  # in a group: the pages of one host are adjacent


@dataclass(frozen=True, slots=True)
class PageCaptures:
    """One row per page: its first capture, the one with the current links, and the last."""

    sources: Any  # a sorted pyarrow.StringArray
    first_us: CodeArray
    links_us: CodeArray
    last_us: CodeArray

    def links_us_of(self, sources: Any) -> CodeArray:
        """For each page the capture with its current links; NEVER for an unknown page."""
        nowhere = number_scalar(len(self.sources), np.int32)
        found = pc.index_in(sources, value_set=self.sources).fill_null(nowhere)
        links_us: CodeArray = np.append(self.links_us, NEVER)[number_array(found)]
        return links_us

    def of_changed(self, all_captures: Sequence[PageCaptures]) -> PageCaptures:
        """Only the pages of which several of the joined files have captures."""
        coded = pa.concat_arrays([one.sources for one in all_captures]).dictionary_encode()
        is_changed = np.bincount(number_array(coded.indices)) > 1
        changed = coded.dictionary.take(number_column(np.flatnonzero(is_changed)))
        at = np.sort(self.places_of(changed))
        first_us, links_us, last_us = self.first_us[at], self.links_us[at], self.last_us[at]
        return PageCaptures(self.sources.take(number_column(at)), first_us, links_us, last_us)

    def places_of(self, sources: Any) -> CodeArray:
        """The row of each page; 0 for an unknown page, whose row must not be used."""
        found = pc.index_in(sources, value_set=self.sources).fill_null(number_scalar(0, np.int32))
        places: CodeArray = number_array(found)
        return places


def merge(folder: Path, inputs: Sequence[str], name: str) -> MergedSet:
    """Write the set `name` from some parts or some sets. All files are synced.

    Raises pyarrow.ArrowException or OSError for an unreadable input, OSError if the disk refuses
    the files.
    """
    graph = manifests.read(folder)
    sets = [merged for merged in graph.sets if merged.name in inputs]
    if sets:
        return _merge_sets(folder, sets, name)
    return _merge_parts(folder, [folder / file for file in inputs], name)


def _merge_parts(folder: Path, paths: Sequence[Path], name: str) -> MergedSet:
    rows = rows_of([read_coded(path) for path in paths])
    captures = captures_in(rows)
    rows = rows.taken(rows.texts["kind"].codes != rows.texts["kind"].code_of("capture"))
    rows = once_each(rows, captures)
    new = MergedSet(name, 0, 0, 0)
    # a generator, so that the rows are freed after writing
    ordered = (_linked(rows).ordered("target") for _ in range(1))
    links = write_rows(folder / new.by_target, BY_TARGET, ordered, "target")
    count = write_rows(folder / new.by_source, BY_SOURCE, [rows.ordered("source")], "source")
    pages = _write_captures(folder / new.captures_file, [captures])
    sync_folder(folder)
    return MergedSet(name, links, count, pages)


def _merge_sets(folder: Path, sets: Sequence[MergedSet], name: str) -> MergedSet:
    new = MergedSet(name, 0, 0, 0)
    pages, changed = _merge_captures(folder, sets, new)
    counts = []
    for column, names, file_of in _SIDES:
        paths = [folder / file_of(merged) for merged in sets]
        # A loop would hold the rows of a slice until the next one is read.
        whole_rows = map(partial(once_each, captures=changed), slices(paths, column))
        pieces = map(methodcaller("ordered", column), whole_rows)
        counts.append(write_rows(folder / file_of(new), names, pieces, column))
    sync_folder(folder)
    links, count = counts
    return MergedSet(name, links, count, pages)


# -- captures


def captures_in(rows: Rows) -> PageCaptures:
    """The captures in raw rows, with or without rows of their own."""
    source, seen_us = rows.texts["source"].codes, rows.numbers["seen_us"]
    kind, rel = rows.texts["kind"], rows.texts["rel"]
    is_same = (kind.codes == kind.code_of("capture")) & (rel.codes == rel.code_of("same"))
    # The rows of a capture are adjacent, so only the first of each run is used.
    is_first = np.ones(len(rows), np.bool_)
    for column in (source, seen_us, is_same):
        is_first[1:] &= column[1:] == column[:-1]
    is_first = ~is_first
    if len(rows):
        is_first[0] = True
    runs = _Runs(source[is_first], seen_us[is_first], is_same[is_first])
    return runs.captures(rows.texts["source"].words)


@dataclass(frozen=True, slots=True)
class _Runs:
    """Captures of pages in any order: the number of the page, the time, whether it was
    unchanged.
    """

    source: CodeArray
    seen_us: CodeArray
    is_same: CodeArray

    def captures(self, words: Any) -> PageCaptures:
        first_us = np.full(len(words), np.iinfo(np.int64).max)
        links_us = np.full(len(words), NEVER, np.int64)
        last_us = np.full(len(words), NEVER, np.int64)
        np.minimum.at(first_us, self.source, self.seen_us)
        np.maximum.at(last_us, self.source, self.seen_us)
        np.maximum.at(links_us, self.source[~self.is_same], self.seen_us[~self.is_same])
        order = pc.sort_indices(words)
        at = number_array(order)
        return PageCaptures(words.take(order), first_us[at], links_us[at], last_us[at])


def _merge_captures(
    folder: Path, sets: Sequence[MergedSet], new: MergedSet
) -> tuple[int, PageCaptures]:
    """Write the captures of several sets as those of one. Return the number of pages, and the
    captures of pages in several sets. Within a set nothing changes, and looking up pages of one set
    only would take most of the time and memory.
    """
    changed: list[PageCaptures] = []

    def pieces() -> Iterator[PageCaptures]:
        for tables in table_slices(paths, "source", _read_groups):
            read = [captures_of(table) for table in tables]
            captures = joined(read)
            changed.append(captures.of_changed(read))
            yield captures

    paths = [folder / merged.captures_file for merged in sets]
    pages = _write_captures(folder / new.captures_file, pieces())
    return pages, joined(changed)


def _read_groups(path: Path, groups: Sequence[int]) -> Any:
    with pq.ParquetFile(path) as file:
        return file.read_row_groups(list(groups))


def _write_captures(path: Path, pieces: Iterable[PageCaptures]) -> int:
    """Write sorted captures. Return the number of pages."""
    tables = (
        pa.table(
            {
                "source": captures.sources,
                "first_us": number_column(captures.first_us),
                "links_us": number_column(captures.links_us),
                "last_us": number_column(captures.last_us),
            }
        )
        for captures in pieces
    )
    return write_tables(path, tables, "source", _CAPTURE_ROWS)


def captures_of(table: Any) -> PageCaptures:
    """The captures in a table."""
    table = table.combine_chunks()
    source, *times = (whole(table.column(name)) for name in CAPTURE_COLUMNS)
    first_us, links_us, last_us = (number_array(column) for column in times)
    return PageCaptures(source, first_us, links_us, last_us)


def whole(column: Any) -> Any:
    """The only chunk of a column; Arrow has none if there are no rows."""
    return column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)


def joined(all_captures: Sequence[PageCaptures]) -> PageCaptures:
    """The captures of several files, joined: a page may be in many of them."""
    coded = pa.concat_arrays([one.sources for one in all_captures]).dictionary_encode()
    at, size = number_array(coded.indices), len(coded.dictionary)
    first_us = np.full(size, np.iinfo(np.int64).max)
    links_us, last_us = np.full(size, NEVER, np.int64), np.full(size, NEVER, np.int64)
    np.minimum.at(first_us, at, np.concatenate([one.first_us for one in all_captures]))
    np.maximum.at(links_us, at, np.concatenate([one.links_us for one in all_captures]))
    np.maximum.at(last_us, at, np.concatenate([one.last_us for one in all_captures]))
    order = pc.sort_indices(coded.dictionary)
    to = number_array(order)
    return PageCaptures(coded.dictionary.take(order), first_us[to], links_us[to], last_us[to])


# -- rows


def _linked(rows: Rows) -> Rows:
    """The rows with a target, without columns that only others use."""
    fault = rows.texts["fault"]
    links = rows.without("line", "fault")
    return links if len(fault.words) == 1 else links.taken(fault.codes == fault.code_of(""))


def current(rows: Rows, captures: PageCaptures) -> Rows:
    """The current rows according to the captures, each link with the time it was first seen."""
    rows = once_each(rows, captures)
    source = rows.texts["source"]
    is_current = rows.numbers["seen_us"] == captures.links_us_of(source.words)[source.codes]
    return rows if is_current.all() else rows.taken(is_current)


def once_each(rows: Rows, captures: PageCaptures) -> Rows:
    """All links; those of pages with several captures once each. Malformed links have no history,
    so only current ones are kept.
    """
    source = rows.texts["source"]
    is_dead = rows.numbers["seen_us"] < captures.links_us_of(source.words)[source.codes]
    if not is_dead.any():
        return rows
    is_changed = np.zeros(len(source.words), np.bool_)
    is_changed[source.codes[is_dead]] = True
    of_changed = is_changed[source.codes]
    if "fault" in rows.texts:
        fault = rows.texts["fault"]
        is_fault = fault.codes != fault.code_of("")
        is_whole = ~of_changed | (is_fault & ~is_dead)
        of_changed &= ~is_fault
    else:
        is_whole = ~of_changed
    return _stacked(rows.taken(is_whole), _histories(rows.taken(of_changed)))


def _histories(rows: Rows) -> Rows:
    """Links of pages with several captures, each with its first and last time."""
    columns = {name: number_column(rows.texts[name].codes) for name in KEY}
    times = {name: number_column(rows.numbers[name]) for name in ("first_us", "seen_us")}
    grouped = pa.table({**columns, **times}).group_by(list(KEY), use_threads=False)
    links = grouped.aggregate([("first_us", "min"), ("seen_us", "max")]).combine_chunks()
    codes = {name: number_array(whole(links.column(name))) for name in KEY}
    seen_us = number_array(whole(links.column("seen_us_max")))
    first_us = number_array(whole(links.column("first_us_min")))
    texts = {name: Text(rows.texts[name].words, codes[name]) for name in KEY}
    numbers = {"first_us": first_us, "seen_us": seen_us}
    if "fault" in rows.texts:
        fault = rows.texts["fault"]
        no_fault = np.full(len(seen_us), fault.code_of(""), fault.codes.dtype)
        texts["fault"] = Text(fault.words, no_fault)
        numbers["line"] = np.zeros(len(seen_us), np.int32)
    return Rows(texts, numbers)


def _stacked(above: Rows, below: Rows) -> Rows:
    """Rows that share their dictionaries, one after the other."""
    texts = {
        name: Text(text.words, np.concatenate([text.codes, below.texts[name].codes]))
        for name, text in above.texts.items()
    }
    numbers = {
        name: np.concatenate([column, below.numbers[name]])
        for name, column in above.numbers.items()
    }
    return Rows(texts, numbers)


# -- the separate process


def main(arguments: Sequence[str]) -> int:
    """Merge, and print the set as JSON. Runs with low priority."""
    folder, name, *inputs = arguments
    if hasattr(os, "nice"):
        os.nice(_NICE)
    return_freed_memory()
    merged = merge(Path(folder), inputs, name)
    print(json.dumps(asdict(merged)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
