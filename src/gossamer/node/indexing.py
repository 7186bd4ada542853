"""Pages on their way to the index: the node's side of it.

What is learned of a page waits here until the commit that makes it part of the state; then, by the
thread that commits, it is put into the index, which makes it searchable every few seconds
(`index/writer.py`). So the index never holds a page that the state does not know, and like the
graph it says up to which byte of each WARC file it reaches: what lies beyond is read again by the
next start (`recovery.py`).

A page has an entry while the last that came of asking for it is an answer of 200 that did not ask
to stay out of indexes. `verify` holds state and index to that rule.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from gossamer.base.clock import Clock
from gossamer.base.disk import is_full_error, is_read_only_error
from gossamer.base.values import dataclass
from gossamer.errors import CorruptFile, DiskFault
from gossamer.frontier.rows import may_index
from gossamer.index.entry import MAX_TEXT_CHARS, Entry
from gossamer.index.writer import IndexWriter
from gossamer.records import Outcome, Purpose
from gossamer.workers.process import ProcessedPage

MAX_WAITING_CHARS: Final = 30_000_000  # of pages that no commit has taken; then leases wait
_PAGE, _FETCHED = Purpose.PAGE, Outcome.FETCHED  # to ask the class takes longer than to compare
_FULL: Final = ("No space left", "os error 28", "Disk quota")


@dataclass(slots=True)
class Fresh:
    """What came since the last commit, in order, and how far each WARC file is read by it."""

    entries: dict[bytes, Entry | None] = field(default_factory=dict)  # None: it has none any more
    anchors: list[tuple[bytes, bytes]] = field(default_factory=list)  # of each page, packed
    ends: dict[str, int] = field(default_factory=dict)
    chars: int = 0


class IndexFeed:
    """Brings harvests to the index of one collection."""

    def __init__(self, folder: Path, clock: Clock, every_s: float) -> None:
        """Raises CorruptFile where the index is damaged."""
        self._clock = clock
        self._every_s = every_s
        self._writer = IndexWriter(folder)
        self._fresh = Fresh()
        self._ends: dict[str, int] = {}  # of what was put and is not committed
        self._committed_s = clock.now_s()
        self._has_new = False

    @property
    def covered(self) -> Mapping[str, int]:
        """For each WARC file the byte up to which its pages are in the index."""
        return self._writer.covered

    @property
    def is_behind(self) -> bool:
        """Whether so much waits that no further pages should be asked for."""
        return self._fresh.chars >= MAX_WAITING_CHARS

    @property
    def is_filling(self) -> bool:
        """Whether half of that waits: the next commit should come soon."""
        return self._fresh.chars >= MAX_WAITING_CHARS // 2

    def take(self, processed: ProcessedPage, *, is_current: bool) -> None:
        """An exchange is in the archive; what the index is to know of it waits for the commit.

        `is_current`: it is the last that came of its URL, and the end of it for now.
        """
        report, fresh = processed.report, self._fresh
        stored = report.stored
        fresh.ends[stored.file] = stored.end
        if not is_current or report.lease.purpose is not _PAGE:
            return
        source = report.lease.key
        if report.outcome is _FETCHED and may_index(report.status, report.robots):
            entry = fresh.entries[source] = _entry_of(processed)
            fresh.chars += entry.chars
        else:
            fresh.entries[source] = None
        if processed.anchors:
            fresh.anchors.append((source, processed.anchors))

    def take_fresh(self) -> Fresh:
        """All that waits, for the commit that begins now."""
        fresh, self._fresh = self._fresh, Fresh()
        return fresh

    def write(self, fresh: Fresh, *, is_last: bool = False) -> None:
        """Put what the state knows by now; commit when it is time. Raises DiskFault."""
        with _disk_faults():
            writer = self._writer
            for source, anchors in fresh.anchors:
                writer.note_anchors(anchors, source)
            for key, entry in fresh.entries.items():
                if entry is None:
                    writer.remove(key)
                else:
                    writer.put(entry)
            self._has_new = self._has_new or bool(fresh.ends)
            self._ends |= fresh.ends
            waited_s = self._clock.now_s() - self._committed_s
            if self._has_new and (is_last or writer.is_full or waited_s >= self._every_s):
                writer.commit(self._ends)
                self._ends, self._has_new = {}, False
                self._committed_s = self._clock.now_s()

    def finish(self, *, is_whole: bool = True) -> int:
        """The end: all that was written is committed, and where `is_whole`, anchors that came late
        reach their pages; how many pages there were. Raises DiskFault.
        """
        with _disk_faults():
            ends, self._ends, self._has_new = self._ends, {}, False
            if is_whole:
                return self._writer.finish(ends)
            self._writer.commit(ends)
            return 0

    def close(self) -> None:
        with contextlib.suppress(CorruptFile):  # it was said, or the next start says it
            self._writer.close()


def _entry_of(processed: ProcessedPage) -> Entry:
    report, page, ready = processed.report, processed.page, processed.ready
    lease = report.lease
    text = page.text[:MAX_TEXT_CHARS] if page and not ready else ""  # more would only wait
    # In the order of the fields: their names would take twice as long.
    return Entry(
        lease.key, lease.url, report.title, page.headings if page else (), text, report.language,
        report.type, report.at_us, (), "nosnippet" not in report.robots, ready,
    )  # fmt: skip


@contextlib.contextmanager
def _disk_faults() -> Iterator[None]:
    """A disk that is full while the index is written is a full disk, not a damaged index."""
    try:
        yield
    except CorruptFile as error:
        if is_read_only_error(error):
            raise DiskFault(
                "the index was not written: the disk is read-only; make it writable, then resume",
                is_full=False,
                is_read_only=True,
            ) from error
        if any(words in str(error) for words in _FULL):
            raise DiskFault(
                "the index could not be written: the disk is full; free some space, then resume",
                is_full=True,
            ) from error
        raise
    except OSError as error:
        raise DiskFault(
            f"the index could not be written ({error.strerror or error}); check the disk",
            is_full=is_full_error(error),
            is_read_only=is_read_only_error(error),
        ) from error
