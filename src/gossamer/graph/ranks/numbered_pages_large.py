"""Pages and links as numbers, for a graph that does not fit into memory.

Files are read twice, one row group at a time, with dictionary-encoded texts: first the captures,
which tell which links are current, then the links. A URL is identified by its key
(`store.hash_of`), and its number is the position at which it was first seen. Memory holds 12 bytes
and one time per page, and one row group; URLs go to a file as they are seen.

DuckDB could join the links with the pages instead, but needs the URLs of all pages in memory, or
spills every link twice: 10^8 links failed in 256 MB, and 10^7 took twice as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from gossamer.graph.arrow import pa, pq
from gossamer.graph.coded import Rows, rows_of
from gossamer.graph.columns import filled, number_array, number_scalar, taken
from gossamer.graph.manifest import Manifest
from gossamer.graph.ranks.numbered_links import once, packed
from gossamer.graph.ranks.numbered_pages import CODED, NEVER, Pages, newest_of, stands
from gossamer.graph.ranks.spool import Spool, SpooledNumbers
from gossamer.graph.ranks.store import Hashes, hashes_of

_RECENT: Final = 250_000  # keys besides the sorted ones, before they are merged
_COLUMN: Final = 100_000  # minimum of URLs in a column, so that a table of them has few pieces
_URL: Final = "url"
_MOST_SORTED: Final = 1_000_000  # keys in one array: growing it needs two copies
_UNKNOWN: Final = -1
_SEEN: Final = "seen_us"
_OF_CAPTURES: Final = ["source", "rel", "kind"]  # texts that `newest_of` uses


def number_pages(
    folder: Path, graph: Manifest, links: Spool, spill: Path, *, nofollow: bool
) -> Pages:
    """The pages of a graph; their links are added to `links`, their URLs to a file in `spill`.

    Raises the errors of pyarrow if a file is damaged.
    """
    with Numbering(spill) as numbering:
        newest_us = _newest(folder, graph, numbering)
        names = [part.name for part in graph.parts] + [one.by_source for one in graph.sets]
        for name in names:
            for rows in _groups(folder / name):
                links.add(_pairs(rows, numbering, newest_us, nofollow=nofollow))
    return numbering.pages(links)


def _newest(folder: Path, graph: Manifest, numbering: Numbering) -> SpooledNumbers:
    """For each captured page, the time of the capture with its current links."""
    newest_us = np.empty(0, np.int64)

    def note(words: Any, times_us: SpooledNumbers) -> None:
        nonlocal newest_us
        pages = numbering.of(words)
        more = np.full(len(numbering) - len(newest_us), NEVER, np.int64)
        newest_us = np.concatenate([newest_us, more])
        np.maximum.at(newest_us, pages, times_us)

    for part in graph.parts:
        for rows in _groups(folder / part.name, _OF_CAPTURES):
            note(rows.texts["source"].words, newest_of(rows))
    for merged in graph.sets:
        with pq.ParquetFile(folder / merged.captures_file) as file:
            for batch in file.iter_batches(columns=["source", "links_us"]):
                links_us = filled(batch["links_us"], number_scalar(NEVER, np.int64))
                note(batch["source"], number_array(links_us))
    return newest_us


def _groups(path: Path, texts: Sequence[str] = CODED) -> Iterator[Rows]:
    with pq.ParquetFile(path, read_dictionary=CODED) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=[*texts, _SEEN])
            yield rows_of([table], texts, [_SEEN])


def _pairs(
    rows: Rows, numbering: Numbering, newest_us: SpooledNumbers, *, nofollow: bool
) -> SpooledNumbers:
    """The links among some rows, each once."""
    source, target = rows.texts["source"], rows.texts["target"]
    sources = numbering.of(source.words)
    stand = stands(rows, newest_us[sources], nofollow=nofollow)
    codes = target.codes[stand]
    is_used = np.zeros(len(target.words), np.bool_)
    is_used[codes] = True
    used = np.flatnonzero(is_used)
    targets = np.zeros(len(target.words), np.int64)
    targets[used] = numbering.of(taken(target.words, used))
    return once(np.sort(packed(sources[source.codes[stand]], targets[codes])))


class Numbering:
    """Numbers for URLs, in the order of first use. URLs go to one file, their keys to another."""

    def __init__(self, folder: Path) -> None:
        self._urls = folder / "urls.arrow"
        self._keys = folder / "keys.u64"
        self._schema = pa.schema([(_URL, pa.string())])
        self._known: list[_Sorted] = []
        self._recent = _NOTHING
        self._count = 0

    def __enter__(self) -> Self:
        self._writer = pa.ipc.new_stream(str(self._urls), self._schema)
        self._keys.write_bytes(b"")
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def __len__(self) -> int:
        return self._count

    def of(self, words: Any) -> SpooledNumbers:
        """The number of each of some distinct URLs; new ones get one."""
        keys = hashes_of(words)
        order = np.argsort(keys)  # looking up sorted keys takes a fifth of the time
        ordered = keys[order]
        found = np.full(len(keys), _UNKNOWN, np.int64)
        for known in (*self._known, self._recent):
            missing = np.flatnonzero(found == _UNKNOWN)
            found[missing] = known.find(ordered[missing])
        numbers = np.empty(len(keys), np.int64)
        numbers[order] = found
        unknown = np.flatnonzero(numbers == _UNKNOWN)
        if len(unknown):
            new, first = np.unique(keys[unknown], return_index=True)
            order = np.sort(first)  # by position in `words`, not by key
            self._add(taken(words, unknown[order]), keys[unknown][order])
            numbers[unknown] = self._recent.find(keys[unknown])
            assert len(new) == len(order), "each key is new once"
        return numbers

    def pages(self, links: Spool) -> Pages:
        """All pages, after numbering; the lookup tables are not needed any more."""
        return Pages(len(self), links, partial(_read_urls, self._urls), partial(_read, self._keys))

    def _add(self, words: Any, keys: Hashes) -> None:
        self._writer.write_batch(pa.record_batch([words], schema=self._schema))
        with self._keys.open("ab") as file:
            file.write(keys.data)
        if len(self._recent.keys) > _RECENT:
            self._known.append(self._recent)
            self._recent = _NOTHING
            while len(self._known) > 1 and self._known[-2].is_like(self._known[-1]):
                last = self._known.pop()
                self._known[-1] = self._known[-1].joined(last.keys, last.numbers)
        numbers = np.arange(self._count, self._count + len(keys), dtype=np.int32)
        self._recent = self._recent.joined(keys, numbers)
        self._count += len(keys)


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Sorted keys, and their numbers."""

    keys: Hashes
    numbers: NDArray[np.int32]

    def find(self, keys: Hashes) -> SpooledNumbers:
        """The number of each key; _UNKNOWN if it is missing."""
        if not len(self.keys):
            return np.full(len(keys), _UNKNOWN, np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.numbers[places], _UNKNOWN)

    def joined(self, keys: Hashes, numbers: NDArray[np.int32]) -> _Sorted:
        joined = np.concatenate([self.keys, keys])
        order = np.argsort(joined, kind="stable")
        return _Sorted(joined[order], np.concatenate([self.numbers, numbers])[order])

    def is_like(self, other: _Sorted) -> bool:
        """Whether the two should be merged: similar sizes, and not too many to copy."""
        small, large = sorted((len(self.keys), len(other.keys)))
        return 2 * small >= large and small + large <= _MOST_SORTED


_NOTHING: Final = _Sorted(np.empty(0, np.uint64), np.empty(0, np.int32))


def _read_urls(path: Path) -> Iterator[Any]:
    """All URLs, in the order of their numbers, in columns."""
    kept: list[Any] = []
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        for batch in reader:
            kept.append(batch[_URL])
            if sum(map(len, kept)) >= _COLUMN:
                yield pa.concat_arrays(kept)
                kept = []
    if kept:
        yield pa.concat_arrays(kept)


def _read(path: Path) -> Hashes:
    return np.fromfile(path, np.uint64)
