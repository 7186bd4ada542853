"""Read the index while a writer in another process changes it.

A `View` is the index at one moment and never changes; many threads may use it at once. `reload`
replaces it by a view of the newest commit. Users of the old view continue with it, even if the
index was rewritten meanwhile (`folder.py`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import tantivy

from gossamer.base.checked_lines import crc32_of
from gossamer.base.disk import is_denied_error
from gossamer.base.files import NO_FILE, link_files, stamp_of
from gossamer.base.packing import unpack
from gossamer.errors import CorruptFile, StoreError
from gossamer.index import schema
from gossamer.index.batches import addresses_in, keys_of, shares_of
from gossamer.index.entry import Kept
from gossamer.index.folder import ANCHORS, COMMIT, CURRENT, REBUILD, TEXTS, WORDS, find_current
from gossamer.index.tantivy_errors import reading
from gossamer.index.texts import TextReader

_LOCK_SUFFIX: Final = ".lock"
_A_SHARE: Final = 20_000  # entries processed at once


class Match(NamedTuple):
    """A page that matches a query. `address` identifies it within one view."""

    score: float
    address: tantivy.DocAddress


@dataclass(frozen=True, slots=True)
class View:
    """The index at one moment."""

    generation: Path
    commit: str  # the file that is replaced with every commit
    stamp: tuple[int, int]  # of that file
    index: tantivy.Index
    searcher: tantivy.Searcher
    texts: TextReader

    @property
    def schema(self) -> tantivy.Schema:
        """The schema for building queries."""
        return self.index.schema

    @property
    def count(self) -> int:
        """The number of entries."""
        return self.search(schema.every_entry(), 1)[1]

    def search(
        self, query: tantivy.Query, limit: int, offset: int = 0, *, newest_first: bool = False
    ) -> tuple[list[Match], int]:
        """The best matches, and the total number. Raises CorruptFile.

        A query with only negative conditions must include `schema.every_entry`, or it finds the
        hidden entry. With `newest_first` the scores are dates.
        """
        with reading(self.generation):
            found = self.searcher.search(
                query, limit, offset=offset, order_by_field=schema.AT if newest_first else None
            )
            total: int = found.count  # type: ignore[attr-defined]  # its stub forgets it
            return [Match(score, address) for score, address in found.hits], total

    def kept(self, address: tantivy.DocAddress) -> Kept:
        """The stored part of an entry. Raises CorruptFile."""
        with reading(self.generation):
            return Kept.decode(self.searcher.doc(address)[schema.STORED][0])

    def kept_all(self, matches: Iterable[Match]) -> list[Kept]:
        """The same for several, in their order."""
        doc, stored = self.searcher.doc, schema.STORED
        with reading(self.generation):
            return [Kept.decode(doc(match.address)[stored][0]) for match in matches]

    def find(self, key: bytes) -> Kept | None:
        """The entry of a URL's key. Raises CorruptFile."""
        query = tantivy.Query.term_query(self.schema, schema.ID, schema.id_of(key), "basic")
        matches, _ = self.search(query, 1)
        return self.kept(matches[0].address) if matches else None

    def text(self, kept: Kept) -> str:
        """The original text of an entry. Raises CorruptFile."""
        return self.texts.read(kept.text)

    def text_pieces(self, kept: Kept) -> Iterator[str]:
        """The same in pieces from its start, read on demand. Raises CorruptFile."""
        return self.texts.pieces(kept.text)


class IndexReader:
    """The index of a collection, as of the last `reload`."""

    def __init__(self, folder: Path) -> None:
        """Raises StoreError if there is no index, CorruptFile if it is damaged."""
        self._folder = folder
        self._named = str(folder / CURRENT)
        # read before the index, so that a swap in between is noticed
        self._seen = stamp_of(self._named)
        self.view = _open(folder)

    def reload(self) -> bool:
        """Load the newest commit. Return whether there was one. Costs two file stats if not. Raises
        CorruptFile.
        """
        seen = stamp_of(self._named)
        is_same = seen == self._seen and self.view.stamp == stamp_of(self.view.commit)
        if not is_same:
            self.view = _open(self._folder)
            self._seen = seen
        return not is_same


def covered(folder: Path) -> Mapping[str, int]:
    """For each WARC file the offset up to which its pages are in the index. Raises CorruptFile."""
    files: dict[str, int] = _hidden(_open(folder))[0]
    return files


def faults_in(folder: Path, *, is_at_rest: bool) -> Iterator[CorruptFile]:
    """Every text that cannot be read, and faults of the file of anchors. If the collection
    `is_at_rest`, no bytes may follow the committed ones. Raises CorruptFile.
    """
    view = _open(folder)
    _, anchors, texts, *more = _hidden(view)
    yield from _anchor_faults(folder / ANCHORS, anchors, more[0] if more else None)
    for path, length in ((folder / ANCHORS, anchors), (view.generation / TEXTS, texts)):
        size = path.stat().st_size if path.exists() else 0
        if is_at_rest and size > length:
            what = f"{size - length} uncommitted bytes follow"
            yield CorruptFile(path, length, f"{what}; {REBUILD}")
    for share in shares_of(view.searcher.num_docs, _A_SHARE):
        with reading(view.generation):
            addresses = addresses_in(view.searcher, view.schema, share)
            pages = [Kept.decode(view.searcher.doc(one)[schema.STORED][0]) for one in addresses]
        for kept in sorted(pages, key=lambda one: one.text.offset):
            try:
                view.text(kept)
            except CorruptFile as error:
                yield error


def _anchor_faults(path: Path, length: int, wanted: int | None) -> Iterator[CorruptFile]:
    if not length:
        return
    try:
        found, size = crc32_of(path, length)
    except OSError as error:
        yield CorruptFile(path, 0, f"it cannot be read ({error.strerror}); {REBUILD}")
        return
    if size < length:
        yield CorruptFile(path, size, f"it ends before byte {length}; {REBUILD}")
    elif wanted is not None and found != wanted:
        yield CorruptFile(path, 0, f"checksum mismatch: its bytes have changed; {REBUILD}")


def _hidden(view: View) -> Any:
    """The content of the hidden entry (`generation.py`). Raises CorruptFile."""
    query = tantivy.Query.term_query(view.schema, schema.ID, schema.HIDDEN, "basic")
    with reading(view.generation):
        hits = view.searcher.search(query, 1, count=False).hits
        stored = view.searcher.doc(hits[0][1])[schema.STORED][0] if hits else None
        return unpack(stored) if stored else ({}, 0, 0)


def ids(folder: Path) -> Iterator[str]:
    """The ids of all entries, sorted; 60 MB for a million. For comparing index and state. Raises
    CorruptFile.
    """
    view = _open(folder)
    keys = []
    with reading(view.generation):
        for share in shares_of(view.searcher.num_docs, 50_000):
            keys += keys_of(view.searcher, addresses_in(view.searcher, view.schema, share))
    return map(schema.id_of, sorted(keys))


def _open(folder: Path) -> View:
    generation = _current(folder)
    while True:
        try:
            return _open_generation(generation)
        except CorruptFile:
            before, generation = generation, _current(folder)
            if before == generation:
                raise  # else it was swapped, and deleted, meanwhile


def _open_generation(generation: Path) -> View:
    with reading(generation):
        commit = generation / WORDS / COMMIT
        stamp = stamp_of(commit)  # read before the index, so that a commit in between is noticed
        if stamp == NO_FILE:
            raise CorruptFile(commit, 0, f"it is missing; {REBUILD}")
        index, searcher = _open_words(generation / WORDS)
        texts = TextReader(generation / TEXTS)
        return View(generation, str(commit), stamp, index, searcher, texts)


def _open_words(folder: Path) -> tuple[tantivy.Index, tantivy.Searcher]:
    """tantivy's part of the index. It creates a lock file there. If that is not allowed, use a
    folder of links, which is not needed after the searcher has opened all files.
    """
    try:
        return _with_searcher(folder)
    except (ValueError, OSError) as error:
        if not is_denied_error(error):
            raise
    with tempfile.TemporaryDirectory(prefix="gossamer-index-") as links:
        link_files(folder, Path(links), lambda name: not name.endswith(_LOCK_SUFFIX))
        return _with_searcher(Path(links))


def _with_searcher(folder: Path) -> tuple[tantivy.Index, tantivy.Searcher]:
    index = tantivy.Index.open(str(folder))
    index.config_reader("manual")
    return index, index.searcher()


def _current(folder: Path) -> Path:
    generation = find_current(folder)
    if generation is None:
        raise StoreError(f"there is no index in {folder}; {REBUILD}")
    return generation
