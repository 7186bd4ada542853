"""Pages and links as numbers, of a graph that memory does not hold.

Files are read twice, a group of rows at a time, with their texts as codes: first the captures,
which tell which links stand, then the links. A URL is known by its key (`rank_store.hash_of`), and
its number is the place at which it was first seen. Memory holds 12 bytes and one time for each
page, and one group of rows; URLs go to a file as they are seen.

DuckDB could join the links with the pages instead, but needs the URLs of all pages in memory, or
spills every link twice: 10^8 links failed in 256 MB, and 10^7 took twice as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from gossamer.graph.arrow import pa, pq
from gossamer.graph.coded import Rows, rows_of
from gossamer.graph.manifest import Manifest
from gossamer.graph.rank_links import packed
from gossamer.graph.rank_pages import CODED, NEVER, READ, Pages, newest_of, stands
from gossamer.graph.rank_spool import Numbers, Spool
from gossamer.graph.rank_store import Hashes, hash_of

_RECENT: Final = 500_000  # keys beside the sorted ones, before they are sorted in
_COLUMN: Final = 100_000  # URLs in a column at least, so that a table of them has few pieces
_URL: Final = "url"


def number_pages(
    folder: Path, graph: Manifest, links: Spool, spill: Path, *, nofollow: bool
) -> Pages:
    """The pages of a graph; their links are put into `links`, their URLs in a file in `spill`.

    Raises what pyarrow raises when a file is damaged.
    """
    with Numbering(spill / "urls.arrow") as numbering:
        newest_us = _newest(folder, graph, numbering)
        names = [part.name for part in graph.parts] + [one.by_source for one in graph.sets]
        for name in names:
            for rows in _groups(folder / name):
                links.add(_pairs(rows, numbering, newest_us, nofollow=nofollow))
    return Pages(len(numbering), links, numbering.urls)


def _newest(folder: Path, graph: Manifest, numbering: Numbering) -> Numbers:
    """For each page that was captured, the time of the capture whose links stand."""
    newest_us = np.empty(0, np.int64)

    def note(words: Any, times_us: Numbers) -> None:
        nonlocal newest_us
        pages = numbering.of(words)
        more = np.full(len(numbering) - len(newest_us), NEVER, np.int64)
        newest_us = np.concatenate([newest_us, more])
        np.maximum.at(newest_us, pages, times_us)

    for part in graph.parts:
        for rows in _groups(folder / part.name):
            note(rows.texts["source"].words, newest_of(rows))
    for merged in graph.sets:
        with pq.ParquetFile(folder / merged.captures_file) as file:
            for batch in file.iter_batches(columns=["source", "links_us"]):
                links_us = batch["links_us"].fill_null(NEVER).to_numpy(zero_copy_only=False)
                note(batch["source"], links_us)
    return newest_us


def _groups(path: Path) -> Iterator[Rows]:
    with pq.ParquetFile(path, read_dictionary=CODED) as file:
        for group in range(file.num_row_groups):
            yield rows_of([file.read_row_group(group, columns=READ)])


def _pairs(rows: Rows, numbering: Numbering, newest_us: Numbers, *, nofollow: bool) -> Numbers:
    """The links among some rows, each once."""
    source, target = rows.texts["source"], rows.texts["target"]
    sources = numbering.of(source.words)
    stand = stands(rows, newest_us[sources], nofollow=nofollow)
    codes = target.codes[stand]
    is_used = np.zeros(len(target.words), np.bool_)
    is_used[codes] = True
    used = np.flatnonzero(is_used)
    targets = np.zeros(len(target.words), np.int64)
    targets[used] = numbering.of(target.words.take(pa.array(used)))
    return np.unique(packed(sources[source.codes[stand]], targets[codes]))


class Numbering:
    """Numbers for URLs, in the order in which they are first asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._schema = pa.schema([(_URL, pa.string())])
        self._known = _Sorted()
        self._recent = _Sorted()

    def __enter__(self) -> Self:
        self._writer = pa.ipc.new_stream(str(self._path), self._schema)
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def __len__(self) -> int:
        return len(self._known.keys) + len(self._recent.keys)

    def of(self, words: Any) -> Numbers:
        """The number of each of some distinct URLs; new ones get one."""
        keys = np.fromiter(map(hash_of, words.to_pylist()), np.uint64, len(words))
        numbers = self._known.find(keys)
        unknown = np.flatnonzero(numbers < 0)
        numbers[unknown] = self._recent.find(keys[unknown])
        unknown = unknown[numbers[unknown] < 0]
        if len(unknown):
            new, first = np.unique(keys[unknown], return_index=True)
            order = np.sort(first)  # by place in `words`, not by key
            self._add(words.take(pa.array(unknown[order])), keys[unknown][order])
            numbers[unknown] = self._recent.find(keys[unknown])
            assert len(new) == len(order), "each key is new once"
        return numbers

    def urls(self) -> Iterator[Any]:
        """All URLs, in the order of their numbers, in columns."""
        kept: list[Any] = []
        with pa.OSFile(str(self._path)) as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                kept.append(batch[_URL])
                if sum(map(len, kept)) >= _COLUMN:
                    yield pa.concat_arrays(kept)
                    kept = []
        if kept:
            yield pa.concat_arrays(kept)

    def _add(self, words: Any, keys: Hashes) -> None:
        start = len(self)
        self._writer.write_batch(pa.record_batch([words], schema=self._schema))
        if len(self._recent.keys) > _RECENT:
            self._known.add(self._recent.keys, self._recent.numbers)
            self._recent = _Sorted()
        self._recent.add(keys, np.arange(start, start + len(keys), dtype=np.int32))


class _Sorted:
    """Keys in order, and their numbers."""

    def __init__(self) -> None:
        self.keys: Hashes = np.empty(0, np.uint64)
        self.numbers: NDArray[np.int32] = np.empty(0, np.int32)

    def find(self, keys: Hashes) -> Numbers:
        """The number of each key; -1 where it is not among them."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.numbers[places], -1).astype(np.int64)

    def add(self, keys: Hashes, numbers: NDArray[np.int32]) -> None:
        joined = np.concatenate([self.keys, keys])
        order = np.argsort(joined, kind="stable")
        self.keys = joined[order]
        self.numbers = np.concatenate([self.numbers, numbers])[order]
