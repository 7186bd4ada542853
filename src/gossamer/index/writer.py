"""The node's side of the index.

What is put waits in memory until the next commit, so that anchors which come within those seconds
are in when the entry is first written, and a page put twice is written once. `commit` writes what
waits, makes it last, and makes it searchable for every reader, in this order:

    1. texts     appended and synced
    2. words     ONE commit of tantivy: entries, removals and the hidden entry, which says how much
                 of the archive is covered and how long the file of texts is

So after a kill the index holds exactly what its hidden entry says; texts behind that length are
cut off, and the archive is read again from there (`covered`). Putting is an upsert: done twice it
changes nothing.

One thread may `put` and `remove` while another is in `commit`; nothing else may be done at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgpack
import tantivy

from gossamer.index import schema
from gossamer.index.border import reading
from gossamer.index.entry import Entry
from gossamer.index.fields import document_of
from gossamer.index.folder import TEXTS, WORDS, open_current
from gossamer.index.texts import TextWriter

# With less, segments get small and are merged more often; with more, nothing is gained.
HEAP_BYTES: Final = 50_000_000
# What may wait in memory; about 2,000 pages.
MAX_WAITING_CHARS: Final = 20_000_000


class IndexWriter:
    """Writes the index of one collection. There may be only one."""

    def __init__(self, folder: Path, heap_bytes: int = HEAP_BYTES) -> None:
        """Opens the index, or makes an empty one. Raises CorruptFile."""
        folder.mkdir(parents=True, exist_ok=True)
        self._heap_bytes = heap_bytes
        self._waiting: dict[bytes, Entry | None] = {}  # None: to be removed
        self._waiting_chars = 0
        self._open(open_current(folder))

    def _open(self, generation: Path) -> None:
        self._generation = generation
        with reading(generation):
            self._index = tantivy.Index(schema.build_schema(), str(generation / WORDS))
            self._index.config_reader("manual")
            self._writer = self._index.writer(self._heap_bytes, 1)
            self._searcher = self._index.searcher()
            hidden = self._find_stored(schema.HIDDEN)
            files, length = msgpack.unpackb(hidden) if hidden else ({}, 0)
        self.covered: dict[str, int] = files
        self._texts = TextWriter(generation / TEXTS, length)

    @property
    def is_full(self) -> bool:
        """Whether as much waits as may: a commit is due before its time."""
        return self._waiting_chars >= MAX_WAITING_CHARS

    def put(self, entry: Entry) -> None:
        """Let the index have this entry, in place of any older one of the same key."""
        self._waiting[entry.key] = entry
        self._waiting_chars += len(entry.text)

    def remove(self, key: bytes) -> None:
        """Let the index have no entry of this key."""
        self._waiting[key] = None

    def commit(self, covered: Mapping[str, int]) -> None:
        """Write all that waits. The index then covers each WARC file up to the byte in `covered`;
        files that are not named there stay as they were. Blocks; raises CorruptFile."""
        waiting, self._waiting, self._waiting_chars = self._waiting, {}, 0
        self.covered = {**self.covered, **covered}
        with reading(self._generation):
            for key, entry in waiting.items():
                self._write(key, entry)
            self._commit()

    def _write(self, key: bytes, entry: Entry | None) -> None:
        self._writer.delete_documents_by_term(schema.ID, schema.id_of(key))
        if entry is not None:
            self._writer.add_document(document_of(entry, self._texts.append(entry.text)))

    def _commit(self) -> None:
        self._texts.sync()
        hidden = (self.covered, self._texts.length)
        document = tantivy.Document()
        document.add_text(schema.ID, schema.HIDDEN)
        document.add_bytes(schema.STORED, msgpack.packb(hidden))
        self._writer.delete_documents_by_term(schema.ID, schema.HIDDEN)
        self._writer.add_document(document)
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()

    def _find_stored(self, id: str) -> bytes | None:
        query = tantivy.Query.term_query(self._index.schema, schema.ID, id, "basic")
        hits = self._searcher.search(query, 1, count=False).hits
        stored: bytes | None = self._searcher.doc(hits[0][1])[schema.STORED][0] if hits else None
        return stored

    def close(self) -> None:
        """Let go of the files. What waits is not written."""
        self._writer.wait_merging_threads()
        self._texts.close()
