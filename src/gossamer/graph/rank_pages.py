"""Pages as numbers, in the order of their URLs, and their links as pairs of numbers.

Two ways to the same: a graph of some million rows is read into memory with its texts as codes,
which takes a third of the time and no DuckDB (0.06 s to import); a larger one is numbered by
DuckDB, which spills (`rank_pages_large.py`).

In that order neighbours on the web, which link to each other most, are neighbours in memory; and
the same links give the same numbers, whatever files they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.graph.arrow import pa, pc, pq
from gossamer.graph.coded import Rows, Text, rows_of
from gossamer.graph.manifest import Manifest
from gossamer.graph.rank_links import packed
from gossamer.graph.rank_spool import Spool

# Rows of a graph that is read into memory: 150 MB of it at the most.
FEW_ROWS: Final = 2_000_000
SHOWN: Final = "media"  # the kind of what a page shows: no link
_READ: Final = ["source", "target", "rel", "kind", "fault", "seen_us"]
_CODED: Final = ["source", "target", "rel", "kind", "fault"]
_NEVER: Final = np.iinfo(np.int64).min

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a graph, numbered from 0, and their links."""

    count: int
    links: Spool  # `packed` pairs, in any order, some of them more than once
    urls: Callable[[], Iterator[Any]]  # Arrow columns, in the order of numbers


def read_pages(folder: Path, graph: Manifest, links: Spool, *, nofollow: bool) -> Pages:
    """The pages of a small graph; their links are put into `links`.

    Raises what pyarrow raises when a file is damaged.
    """
    rows = rows_of(_tables(folder, graph))
    source, target = rows.texts["source"], rows.texts["target"]
    stands = _stands(rows, nofollow=nofollow)
    words, source_codes, target_codes = _joined(source, Text(target.words, target.codes[stands]))
    links.add(packed(source_codes[source.codes[stands]], target_codes[target.codes[stands]]))
    return Pages(len(words), links, lambda: iter([words]))


def _tables(folder: Path, graph: Manifest) -> list[Any]:
    """All rows, raw and merged; captures that merging put in a file of their own are rows again."""
    paths = [folder / part.name for part in graph.parts]
    paths += [folder / merged.by_source for merged in graph.sets]
    tables = [_read(path) for path in paths]
    tables += [_captures(folder / merged.captures_file) for merged in graph.sets]
    return tables or [pa.table({name: pa.array([], pa.string()) for name in _READ})]


def _read(path: Path) -> Any:
    with pq.ParquetFile(path, read_dictionary=_CODED) as file:
        return file.read(columns=_READ)


def _captures(path: Path) -> Any:
    table = pq.read_table(path, columns=["source", "links_us"])
    rows = table.num_rows
    links_us = table["links_us"].fill_null(_NEVER)
    return pa.table({
        "source": table["source"],
        "target": table["source"],
        "rel": pa.array([""] * rows, pa.string()),
        "kind": pa.array(["capture"] * rows, pa.string()),
        "fault": pa.array([""] * rows, pa.string()),
        "seen_us": links_us.cast(pa.int64()),
    })  # fmt: skip


def _stands(rows: Rows, *, nofollow: bool) -> Mask:
    """Which rows are links that count, of the newest capture of their page that has any."""
    texts, seen_us = rows.texts, rows.numbers["seen_us"]
    is_capture = _is(texts["kind"], lambda kind: kind == "capture")
    tells = ~(is_capture & _is(texts["rel"], lambda rel: rel == "same"))
    sources = texts["source"].codes
    newest_us = np.full(len(texts["source"].words), _NEVER)
    np.maximum.at(newest_us, sources[tells], seen_us[tells])
    stands: Mask = (seen_us == newest_us[sources]) & ~is_capture
    stands &= _is(texts["fault"], lambda fault: fault == "")
    stands &= _is(texts["kind"], lambda kind: kind != SHOWN)
    if not nofollow:
        stands &= _is(texts["rel"], lambda rel: "nofollow" not in rel.split(" "))
    return stands


def _is(text: Text, test: Callable[[str], bool]) -> Mask:
    """For each row whether its text passes; each text is tested once."""
    passed = np.fromiter(map(test, text.words.to_pylist()), np.bool_, len(text.words))
    mask: Mask = passed[text.codes]
    return mask


def _joined(source: Text, target: Text) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """All sources and those targets that a row has, in order; and the numbers of either's words."""
    is_used = np.zeros(len(target.words), np.bool_)
    is_used[target.codes] = True
    used = np.flatnonzero(is_used)
    both = pa.concat_arrays([source.words, target.words.take(pa.array(used))]).dictionary_encode()
    order = pc.sort_indices(both.dictionary)
    numbers = np.empty(len(order), np.int64)
    numbers[order.to_numpy()] = np.arange(len(order))
    of_word = numbers[both.indices.to_numpy()]
    of_target = np.zeros(len(target.words), np.int64)
    of_target[used] = of_word[len(source.words) :]
    return both.dictionary.take(order), of_word[: len(source.words)], of_target
