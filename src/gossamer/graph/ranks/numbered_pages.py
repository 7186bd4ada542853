"""Pages as numbers, and their links as pairs of numbers.

There are two ways to the same ranks. Here a graph of some hundred thousand rows is read into
memory, with dictionary-encoded texts, and pages are numbered in the order of their URLs; a larger
one is read in pieces (`numbered_pages_large.py`). DuckDB is not used: importing it takes 0.06 s,
and opening a graph of 6,000 pages as much again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.graph.arrow import pa, pq
from gossamer.graph.coded import Rows, Text, has_faults, rows_of
from gossamer.graph.columns import (
    coded,
    filled,
    number_array,
    number_scalar,
    places_in_order,
    taken,
    text_column,
)
from gossamer.graph.manifest import Manifest
from gossamer.graph.ranks.numbered_links import packed
from gossamer.graph.ranks.spool import Spool, SpooledNumbers
from gossamer.graph.ranks.store import Hashes, hashes_of

# Rows of a graph that is read into the node's memory: 60 MB if pages link to each other, 280 if
# every link leads to another page. A separate process costs 0.3 s of CPU more.
FEW_ROWS: Final = 650_000
SHOWN: Final = "media"  # the kind of embedded media: not a link
CODED: Final = ["source", "target", "rel", "kind", "fault"]
NEVER: Final = np.iinfo(np.int64).min

Mask = NDArray[np.bool_]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a graph, numbered from 0, and their links."""

    count: int
    links: Spool  # `packed` pairs, in any order, with repeats
    urls: Callable[[], Iterator[Any]]  # Arrow columns, in the order of numbers
    keys: Callable[[], Hashes]  # of the URLs, in the same order


def read_pages(folder: Path, graph: Manifest, links: Spool, *, nofollow: bool) -> Pages:
    """The pages of a small graph; their links are added to `links`.

    Raises the errors of pyarrow if a file is damaged.
    """
    rows = rows_of(_tables(folder, graph, CODED), CODED, [])
    stand = _standing(folder, graph, rows, nofollow=nofollow)
    source, target = rows.texts["source"], rows.texts["target"]
    words, of_source, of_target = _joined(source, target, stand)
    links.add(_paired(_codes(source), _codes(target), stand, of_source, of_target))
    return Pages(len(words), links, lambda: iter([words]), lambda: hashes_of(words))


def _standing(folder: Path, graph: Manifest, rows: Rows, *, nofollow: bool) -> Mask:
    """Which rows are links that count. Times are read only if they matter: after a first crawl they
    do not.
    """
    if not graph.sets and _are_captured_once(rows):
        return are_links(rows, nofollow=nofollow)
    timed = rows_of(_tables(folder, graph, ["seen_us"]), [], ["seen_us"])
    timed = Rows(rows.texts, timed.numbers)
    return stands(timed, newest_of(timed), nofollow=nofollow)


def _are_captured_once(rows: Rows) -> bool:
    """Whether every source has one capture, with adjacent rows."""
    source = rows.texts["source"]
    captures = np.bincount(source.codes[_is_capture(rows)], minlength=len(source.words))
    changes = np.count_nonzero(source.codes[1:] != source.codes[:-1])
    return bool((captures == 1).all()) and changes + 1 == len(source.words)


def _tables(folder: Path, graph: Manifest, names: list[str]) -> list[Any]:
    """Some columns of all rows, raw and merged; captures that a merge wrote to a separate file
    become rows again.
    """
    paths = [folder / part.name for part in graph.parts]
    paths += [folder / merged.by_source for merged in graph.sets]
    tables = [_read(path, names) for path in paths]
    tables += [_captures(folder / merged.captures_file).select(names) for merged in graph.sets]
    return tables or [pa.table({name: text_column(()) for name in names})]


def _read(path: Path, names: list[str]) -> Any:
    # Arrow's threads would take three times as long for some small files.
    with pq.ParquetFile(path, read_dictionary=CODED, pre_buffer=False) as file:
        stored = file.metadata.schema.names
        if "fault" in stored and not has_faults(file.metadata, stored.index("fault")):
            names = [name for name in names if name != "fault"]
        return file.read(columns=names, use_threads=False)


def _captures(path: Path) -> Any:
    with pq.ParquetFile(path, pre_buffer=False) as file:
        table = file.read(columns=["source", "links_us"], use_threads=False)
    rows = table.num_rows
    links_us = filled(table["links_us"], number_scalar(NEVER, np.int64))
    return pa.table({
        "source": table["source"],
        "target": table["source"],
        "rel": text_column([""] * rows),
        "kind": text_column(["capture"] * rows),
        "fault": text_column([""] * rows),
        "seen_us": links_us.cast(pa.int64()),
    })  # fmt: skip


def newest_of(rows: Rows) -> SpooledNumbers:
    """For each source, the time of its newest capture with links; NEVER if there is none."""
    source, seen_us = rows.texts["source"], rows.numbers["seen_us"]
    tells = ~(_is_capture(rows) & _is(rows.texts["rel"], lambda rel: rel == "same"))
    # The rows of a capture are adjacent, so most repeat the one before.
    says_more = tells.copy()
    is_again = (source.codes[1:] == source.codes[:-1]) & (seen_us[1:] == seen_us[:-1])
    says_more[1:] &= ~(is_again & tells[:-1])
    newest_us = np.full(len(source.words), NEVER, np.int64)
    np.maximum.at(newest_us, source.codes[says_more], seen_us[says_more])
    return newest_us


def stands(rows: Rows, newest_us: SpooledNumbers, *, nofollow: bool) -> Mask:
    """Which rows are links that count, given the current capture of each source."""
    stand: Mask = rows.numbers["seen_us"] == newest_us[rows.texts["source"].codes]
    stand &= are_links(rows, nofollow=nofollow)
    return stand


def are_links(rows: Rows, *, nofollow: bool) -> Mask:
    """Which rows are links that count, if they are current."""
    stand = _is(rows.texts["kind"], lambda kind: kind not in ("capture", SHOWN))
    stand &= _is(rows.texts["fault"], lambda fault: fault == "")
    if not nofollow:
        stand &= _is(rows.texts["rel"], lambda rel: "nofollow" not in rel.split(" "))
    return stand


def _is_capture(rows: Rows) -> Mask:
    return _is(rows.texts["kind"], lambda kind: kind == "capture")


def _is(text: Text, test: Callable[[str], bool]) -> Mask:
    """For each row whether its text passes; each text is tested once."""
    passed = np.fromiter(map(test, text.words.to_pylist()), np.bool_, len(text.words))
    if passed.all():
        return np.ones(len(text.codes), np.bool_)
    if text.codes.dtype == np.int8:  # a fifth of the time: NumPy would widen all codes first
        codes, answers = bytearray(text.codes.tobytes()), passed.tobytes()
        return np.frombuffer(codes.translate(answers.ljust(256, b"\0")), np.bool_)
    mask: Mask = passed.take(text.codes)
    return mask


def _joined(source: Text, target: Text, stand: Mask) -> tuple[Any, SpooledNumbers, SpooledNumbers]:
    """All sources and the targets of links, sorted; the numbers of the words of both."""
    used = np.flatnonzero(_used(_codes(target), stand, len(target.words)))
    both = coded(pa.concat_arrays([source.words, taken(target.words, used)]))
    order = places_in_order(both.dictionary)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    of_word = numbers[number_array(both.indices)]
    of_target = np.zeros(len(target.words), np.int64)
    of_target[used] = of_word[len(source.words) :]
    return taken(both.dictionary, order), of_word[: len(source.words)], of_target


def _codes(text: Text) -> Codes:
    return text.codes.astype(np.int32, copy=False)


def _used(codes: Codes, stand: Mask, count: int) -> Mask:
    """Which of `count` texts a current row has."""
    is_used = np.zeros(count, np.bool_)
    is_used[codes[stand]] = True
    return is_used


def _paired(
    sources: Codes,
    targets: Codes,
    stand: Mask,
    of_source: SpooledNumbers,
    of_target: SpooledNumbers,
) -> SpooledNumbers:
    """The current rows as `packed` pairs, given the page number of each code."""
    return packed(of_source.take(sources[stand]), of_target.take(targets[stand]))
