"""Write the index. The node uses this.

New entries wait in memory until the next commit, so that anchor texts that arrive within those
seconds are included, and a page put twice is written once. `commit` writes them, makes them durable
and searchable (`generation.py`). After a kill the archive is read again from the offsets in
`covered`. `put` is an upsert: a second time changes nothing.

One thread may `put`, `remove` and `note_anchor` while another is in `commit` or
`write_late_anchors`; these two exclude each other.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeVar

from gossamer.errors import CorruptFile
from gossamer.index.anchors import AnchorStore, chosen, words_number
from gossamer.index.batches import Share
from gossamer.index.entry import Entry, bounded, entry_of
from gossamer.index.folder import (
    ANCHORS,
    build_generation,
    delete_unlisted,
    make_current,
    next_name,
    open_current,
)
from gossamer.index.generation import Covered, Generation
from gossamer.index.rewrite import STEP, Rewriting
from gossamer.index.tantivy_errors import writing
from gossamer.index.words import normal_all

# With less, segments are small and merged more often; with more, nothing is gained.
HEAP_BYTES: Final = 50_000_000
MAX_WAITING_CHARS: Final = 20_000_000  # about 2,000 pages
FEWEST_DEAD: Final = 1_000  # dead entries that justify a rewrite
_LATE_AT_ONCE: Final = 2_000  # entries rewritten with one commit

_T = TypeVar("_T")
_Late = Mapping[bytes, tuple[str, ...]]  # key of an entry -> the anchors it should have


class IndexWriter:
    """Writes the index of one collection. There may be only one writer. Every method raises
    CorruptFile if the index is damaged.
    """

    def __init__(
        self,
        folder: Path,
        *,
        heap_bytes: int = HEAP_BYTES,
        fewest_dead: int = FEWEST_DEAD,
        rewrite_step: int = STEP,
    ) -> None:
        """Open the index, or create an empty one. Raises DiskFault, too."""
        self._heap_bytes = heap_bytes
        self._fewest_dead = fewest_dead
        self._rewrite_step = rewrite_step
        self._waiting: dict[bytes, Entry | None] = {}  # None: to be removed
        self._waiting_chars = 0
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._generation = Generation(open_current(folder), heap_bytes)
            try:
                covered = self._generation.covered
                self._anchors = AnchorStore(
                    folder / ANCHORS, covered.anchors, crc32=covered.anchors_crc32
                )
            except (CorruptFile, OSError):
                self._generation.close()
                raise
        self._rewriting: Rewriting | None = None
        self._lock = threading.Lock()

    @property
    def covered(self) -> Mapping[str, int]:
        """For each WARC file the offset up to which its pages are in the index."""
        return self._generation.covered.files

    @property
    def is_full(self) -> bool:
        """Whether the buffer is full: a commit is due early."""
        return self._waiting_chars >= MAX_WAITING_CHARS

    def put(self, entry: Entry) -> None:
        """Put an entry into the index, in place of an older one of the same key."""
        entry = bounded(entry)
        self._waiting[entry.key] = entry
        self._waiting_chars += entry.chars

    def remove(self, key: bytes) -> None:
        """Remove the entry of this key."""
        self._waiting[key] = None

    def note_anchor(self, target: bytes, anchor: str, source: bytes) -> None:
        """Record a link from a page (by its key) to another. Repeating it does no harm."""
        self._anchors.note(target, anchor, source)

    def note_anchors(self, anchors: bytes, source: bytes) -> None:
        """The same for all links of a page: keys of targets, and texts."""
        self._anchors.note_all(anchors, source)

    def commit(self, covered: Mapping[str, int], gone: Collection[str] = ()) -> None:
        """Write all waiting entries. The index then covers each WARC file up to the offset in
        `covered`; other files stay as they were, but those in `gone` do not exist. Blocks for a
        second or more. After a DiskFault the content of the disk is unknown: close, and do not try
        again.
        """
        with self._lock, writing(self._generation.path):
            self._commit_written(self._covered_by(covered, gone), self._write_waiting())

    def write_late_anchors(self) -> int:
        """Rewrite all entries that lack anchor words. Return their number.

        For the end of a crawl, and from time to time in a long one: it reads all anchors. Waiting
        entries are not written; commit first.
        """
        with self._lock, writing(self._generation.path):
            return self._write_late()

    def _covered_by(self, new: Mapping[str, int], gone: Collection[str]) -> dict[str, int]:
        files = {**self.covered, **new}
        return {name: end for name, end in files.items() if name not in gone}

    def finish(self, covered: Mapping[str, int], gone: Collection[str] = ()) -> int:
        """`commit`, then `write_late_anchors`; return the number of rewritten entries. A commit
        syncs a dozen files, so waiting entries and the first late ones share one commit.
        """
        with self._lock, writing(self._generation.path):
            files = self._covered_by(covered, gone)
            written = self._write_waiting()
            shares = list(self._anchors.shares(self._generation.entries))
            # Entries that were just written have all their anchors, and their older versions must
            # not come back.
            late = self._late(shares[0]).items() if len(shares) == 1 else ()
            rest = {key: anchors for key, anchors in late if key not in written}
            needs_rewrite = self._generation.needs_rewrite(self._fewest_dead, len(rest))
            some = [] if needs_rewrite else list(islice(rest, _LATE_AT_ONCE))
            first = {key: rest.pop(key) for key in some}
            self._replace_anchors(first)
            self._commit_written(files, [*written, *first])
            if needs_rewrite or len(shares) > 1 or self._rewriting is not None:
                return len(first) + self._write_late()
            return len(first) + self._write_again(rest)

    def close(self) -> None:
        """Close the files. Waiting entries are not written."""
        self._drop_rewriting()
        self._generation.close()
        self._anchors.close()

    def _write_late(self) -> int:
        self._anchors.sync()
        entries = self._generation.entries
        shares = list(self._anchors.shares(entries))
        first = self._late(shares[0])
        lates = chain((first,), map(self._late, shares[1:]))
        # Keys are digests, so one share represents all.
        if self._generation.needs_rewrite(self._fewest_dead, len(first) * len(shares)):
            return self._write_new_generation(zip(shares, lates, strict=True))
        return sum(map(self._write_again, lates))

    def _write_waiting(self) -> Collection[bytes]:
        """Write all waiting entries and return their keys. The next commit makes them durable."""
        waiting, self._waiting, self._waiting_chars = self._waiting, {}, 0
        # All anchors known now; the late pass adds later ones.
        anchors = self._anchors.settle([key for key, entry in waiting.items() if entry])
        for key, entry in waiting.items():
            if entry is None:
                self._generation.remove(key)
            else:
                self._generation.write(entry, anchors.get(key))
        return waiting.keys()

    def _late(self, share: Share) -> _Late:
        """The entries of a share that lack anchor words, with the anchors they should have."""
        numbers = dict(self._generation.keys(share))
        return {
            key: anchors
            for key, counts in self._anchors.read(share, numbers.keys()).items()
            if words_number(normal_all(anchors := chosen(counts))) != numbers[key]
        }

    def _write_again(self, late: _Late) -> int:
        for some in batched(late.items(), _LATE_AT_ONCE):
            self._replace_anchors(dict(some))
            self._commit(self.covered, [key for key, _ in some])
        return len(late)

    def _replace_anchors(self, late: _Late) -> None:
        for key, anchors in late.items():
            kept = self._generation.find(key)
            assert kept is not None, "its key was just read, and nobody else writes"
            self._generation.write_again(kept, anchors)

    def _write_new_generation(self, lates: Iterable[tuple[Share, _Late]]) -> int:
        """Write all entries into a new generation, each with its anchors. Return how many lacked
        some.

        This avoids writing entries to the old generation that a rewrite would have to clear.
        """
        self._drop_rewriting()
        old = self._generation
        new = Generation(build_generation(old.path.parent, next_name(old.path)), self._heap_bytes)
        count = 0
        try:
            for share, late in lates:
                count += len(late)
                for kept in old.kept_in(share):
                    new.add(entry_of(kept, old.text(kept), late.get(kept.key)))
            new.commit(Covered(self.covered, self._anchors.sync(), self._anchors.crc32))
        except BaseException:
            new.close()
            delete_unlisted(old.path)
            raise
        self._swap(new)
        return count

    def _commit_written(self, files: Mapping[str, int], written: Collection[bytes]) -> None:
        """`_commit`, unless nothing changed: it costs 50 ms of CPU for any content."""
        if written or files != self.covered or self._rewriting is not None:
            self._commit(files, written)

    def _commit(self, files: Mapping[str, int], written: Iterable[bytes]) -> None:
        """`written` are the keys whose entries this commit changes."""
        covered = Covered(files, self._anchors.sync(), self._anchors.crc32)
        self._generation.commit(covered)
        if self._rewriting is not None:
            self._rewriting.touch(written)
        elif self._generation.needs_rewrite(self._fewest_dead):
            self._rewriting = Rewriting(self._generation, self._heap_bytes, self._rewrite_step)
        if self._rewriting is not None and self._rewriting.step():
            self._rewriting.new.commit(covered)
            self._swap(self._rewriting.new)

    def _drop_rewriting(self) -> None:
        if self._rewriting is not None:
            self._rewriting.new.close()
            self._rewriting = None
            delete_unlisted(self._generation.path)

    def _swap(self, new: Generation) -> None:
        """Replace the old generation by a committed one. If that fails, it is unknown which of the
        two is current: both are kept for the next start.
        """
        old, self._generation, self._rewriting = self._generation, new, None
        try:
            make_current(new.path)
        finally:
            old.close()
        delete_unlisted(new.path)


def batched(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """The items in lists of `size`, the last one shorter."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
