"""One whole index, open for writing: tantivy's words and our texts, committed together.

A commit has this order:

    1. texts     appended and synced
    2. words     ONE commit of tantivy: entries, removals and the hidden entry, which says how much
                 of the archive is covered and how long the files beside it are

So after a kill the index holds exactly what its hidden entry says; texts after that length are cut
off when it is opened again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import tantivy

from gossamer.base.packing import pack, unpack
from gossamer.index import schema
from gossamer.index.batches import Share, addresses_in, keys_of, shares_of
from gossamer.index.entry import Entry, Kept, TextPosition, entry_of
from gossamer.index.fields import document_of
from gossamer.index.folder import COMMIT, TEXTS, WORDS
from gossamer.index.seen_keys import SeenKeys
from gossamer.index.tantivy_errors import reading
from gossamer.index.texts import TextReader, TextWriter

_A_SHARE: Final = 20_000  # entries processed at once


@dataclass(frozen=True, slots=True)
class Covered:
    """What a commit covers: an offset in each WARC file, the length of the file of anchors, and its
    checksum, which is None if an older release wrote it.
    """

    files: Mapping[str, int] = field(default_factory=dict)
    anchors: int = 0
    anchors_crc32: int | None = None


class Generation:
    """Reading raises CorruptFile. The caller wraps writing in `tantivy_errors.writing`, for many
    calls at once.

    One of version 1 keeps its fields; `needs_rewrite` says that a new one is to replace it.
    """

    def __init__(self, path: Path, heap_bytes: int) -> None:
        self.path = path
        with reading(path):
            self._has_changed = _has_field(path, schema.CHANGED)
            self._index = _open_words(path / WORDS, is_new_form=self._has_changed)
            self._index.config_reader("manual")
            self._writer = self._index.writer(heap_bytes, 1)
            self._searcher = self._index.searcher()
            hidden = self._find_stored(schema.HIDDEN)
            files, anchors, length, *more = unpack(hidden) if hidden else ({}, 0, 0)
        self.covered = Covered(files, anchors, more[0] if more else None)
        # texts in the file, also of entries that are gone; an older release did not count them
        self._texts_count: int = more[1] if len(more) > 1 else int(self._searcher.num_docs)
        self._seen = None if self._searcher.num_docs else SeenKeys()  # None: any key may be in it
        self._texts = TextWriter(path / TEXTS, length)
        self._written = TextReader(path / TEXTS)

    def write(self, entry: Entry, anchors: tuple[str, ...] | None = None) -> None:
        """Write an entry and replace an older one of its key; with other anchors if they are
        given.
        """
        ready = entry.ready
        self._texts_count += 1
        place = self._texts.append_packed(ready.packed) if ready else self._texts.append(entry.text)
        self._replace(entry, place, entry.anchors if anchors is None else anchors)

    def write_again(self, kept: Kept, anchors: tuple[str, ...]) -> None:
        """Rewrite a committed entry with other anchors."""
        self._replace(entry_of(kept, self.text(kept)), kept.text, anchors)

    def add(self, entry: Entry) -> None:
        """Write an entry whose key is new."""
        if self._seen is not None:
            self._seen.note(entry.key)
        self._texts_count += 1
        place = self._texts.append(entry.text)
        self._add(entry, place, entry.anchors)

    def remove(self, key: bytes) -> None:
        """Remove the entry of this key."""
        if self._seen is None or self._seen.note(key):
            self._writer.delete_documents_by_term(schema.ID, schema.id_of(key))

    def commit(self, covered: Covered) -> None:
        """Commit everything, and make it visible to readers that reload."""
        self._texts.sync()
        lengths = covered.anchors, self._texts.length
        hidden = (dict(covered.files), *lengths, covered.anchors_crc32, self._texts_count)
        document = tantivy.Document()
        document.add_text(schema.ID, schema.HIDDEN)
        document.add_bytes(schema.STORED, pack(hidden))
        self._writer.delete_documents_by_term(schema.ID, schema.HIDDEN)
        self._writer.add_document(document)
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()
        self.covered = covered

    def find(self, key: bytes) -> Kept | None:
        """The entry of a key as of the last commit."""
        with reading(self.path):
            stored = self._find_stored(schema.id_of(key))
            return Kept.decode(stored) if stored is not None else None

    def text(self, kept: Kept) -> str:
        """The text of a committed entry."""
        return self._written.read(kept.text)

    @property
    def entries(self) -> int:
        """The number of entries, including the hidden one."""
        return int(self._searcher.num_docs)

    def shares(self) -> Iterator[Share]:
        """The shares for iterating over all entries in bounded memory."""
        return shares_of(self.entries, _A_SHARE)

    def keys(self, share: Share) -> list[tuple[bytes, int]]:
        """The keys of committed entries, each with the number of its anchor words
        (`anchors.py`).
        """
        with reading(self.path):
            addresses = addresses_in(self._searcher, self._index.schema, share)
            numbers = self._searcher.fast_field_values(schema.ANCHORED, addresses)
            keys = keys_of(self._searcher, addresses)
        return [(key, int(number or 0)) for key, number in zip(keys, numbers, strict=True)]

    def kept_in(self, share: Share) -> Iterator[Kept]:
        """All committed entries of a share, in disk order: tantivy compresses twenty of them
        together, and so each block is decompressed once.
        """
        with reading(self.path):
            searcher = self._searcher
            addresses = addresses_in(searcher, self._index.schema, share)
            addresses.sort(key=lambda address: (address.segment_ord, address.doc))
            for address in addresses:
                yield Kept.decode(searcher.doc(address)[schema.STORED][0])

    def needs_rewrite(self, fewest_dead: int, more: int = 0) -> bool:
        """Whether a third of the entries on disk are dead, and enough to justify a rewrite; or
        would be if `more` entries were rewritten. Also if half of the texts are of entries that are
        gone: tantivy merges its own files, but nothing else shortens the file of texts. Always true
        for one that lacks a field.
        """
        if not self._has_changed:
            return True
        with reading(self.path):
            segments = json.loads((self.path / WORDS / COMMIT).read_bytes())["segments"]
        entries: int = sum(one["max_doc"] for one in segments)
        dead: int = sum(one["deletes"]["num_deleted_docs"] for one in segments if one["deletes"])
        old_texts = self._texts_count - self.entries
        if old_texts >= fewest_dead and 2 * old_texts >= self._texts_count:
            return True
        dead, entries = dead + more, entries + more
        return dead >= fewest_dead and 3 * dead >= entries

    def close(self) -> None:
        """Close the files after running merges are done. Uncommitted changes are lost."""
        # a thread that failed has reported it before, or had nothing to write
        with suppress(ValueError):
            self._writer.wait_merging_threads()
        self._texts.close()

    def _replace(self, entry: Entry, place: TextPosition, anchors: tuple[str, ...]) -> None:
        self.remove(entry.key)
        self._add(entry, place, anchors)

    def _add(self, entry: Entry, place: TextPosition, anchors: tuple[str, ...]) -> None:
        document = document_of(entry, place, anchors, has_changed=self._has_changed)
        self._writer.add_document(document)

    def _find_stored(self, name: str) -> bytes | None:
        query = tantivy.Query.term_query(self._index.schema, schema.ID, name, "basic")
        hits = self._searcher.search(query, 1, count=False).hits
        stored: bytes | None = self._searcher.doc(hits[0][1])[schema.STORED][0] if hits else None
        return stored


def _open_words(folder: Path, *, is_new_form: bool) -> tantivy.Index:
    if is_new_form:
        return tantivy.Index(schema.build_schema(), str(folder))
    return tantivy.Index.open(str(folder))  # with the fields it has


def _has_field(path: Path, name: str) -> bool:
    """Whether tantivy's part has this field. One that is not yet written gets all fields."""
    commit = path / WORDS / COMMIT
    if not commit.exists():
        return True
    fields = json.loads(commit.read_bytes())["schema"]
    return any(field["name"] == name for field in fields)
