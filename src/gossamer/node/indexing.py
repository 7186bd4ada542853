"""The node's side of the index: pages wait here for the commit.

A page waits here until a commit makes it part of the state. Then the committing thread adds it to
the index, which makes it searchable every few seconds (`index/writer.py`). So the index never holds
a page that the state does not know. Like the graph, the index says up to which offset of each WARC
file it reaches, and the next start reads the rest again (`recovery.py`).

A page has an entry while its newest response has status 200 and does not forbid indexing. `verify`
checks state and index against that rule.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gossamer.base.clock import Clock
from gossamer.base.disk import is_full_error, is_read_only_error
from gossamer.errors import CorruptFile, DiskFault
from gossamer.frontier.rows import may_index
from gossamer.index.entry import MAX_TEXT_CHARS, Entry
from gossamer.records import Outcome, Purpose
from gossamer.workers.process import ProcessedPage

# of pages that no commit has taken; above it no leases are given
MAX_WAITING_CHARS: Final = 30_000_000
# looking up a member of the class takes longer than comparing
_PAGE, _FETCHED = Purpose.PAGE, Outcome.FETCHED
_FULL: Final = ("No space left", "os error 28", "Disk quota")


@dataclass(slots=True)
class Fresh:
    """Changes since the last commit, in order, and the offset in each WARC file that they reach."""

    # None: the page has no entry any more
    entries: dict[bytes, Entry | None] = field(default_factory=dict)
    anchors: list[tuple[bytes, bytes]] = field(default_factory=list)  # of each page, packed
    ends: dict[str, int] = field(default_factory=dict)
    chars: int = 0
    gone: set[str] = field(default_factory=set)  # WARC files that others have replaced


class IndexFeed:
    """Passes processed pages to the index of one collection."""

    def __init__(self, folder: Path, clock: Clock, every_s: float) -> None:
        """Raises CorruptFile if the index is damaged."""
        from gossamer.index.writer import IndexWriter  # loads tantivy, which a unit does not have

        self._clock = clock
        self._every_s = every_s
        self._writer = IndexWriter(folder)
        self._fresh = Fresh()
        self._ends: dict[str, int] = {}  # of pages that were added and are not committed
        self._gone: set[str] = set()
        self._committed_s = clock.now_s()
        self._has_new = False

    @property
    def covered(self) -> Mapping[str, int]:
        """For each WARC file the offset up to which its pages are in the index."""
        return self._writer.covered

    @property
    def is_behind(self) -> bool:
        """Whether so much waits that no more pages should be requested."""
        return self._fresh.chars >= MAX_WAITING_CHARS

    @property
    def is_filling(self) -> bool:
        """Whether half of that waits: the next commit should come soon."""
        return self._fresh.chars >= MAX_WAITING_CHARS // 2

    def take(self, processed: ProcessedPage, *, is_current: bool, changed_us: int = 0) -> None:
        """Queue the index entry of an archived exchange for the next commit.

        `is_current`: it is the newest result of its URL, and final for now. `changed_us` is when
        a change of the page was last seen; 0: never.
        """
        report, fresh = processed.report, self._fresh
        stored = report.stored
        fresh.ends[stored.file] = stored.end
        if not is_current or report.lease.purpose is not _PAGE or report.is_unchanged:
            return
        source = report.lease.key
        if report.outcome is _FETCHED and may_index(report.status, report.robots):
            entry = fresh.entries[source] = _entry_of(processed, changed_us)
            fresh.chars += entry.chars
        else:
            fresh.entries[source] = None
        if processed.anchors:
            fresh.anchors.append((source, processed.anchors))

    def replace_files(self, ends: Mapping[str, int], old: Iterable[str]) -> None:
        """WARC files were replaced by others with the same pages, up to these offsets."""
        self._fresh.ends.update(ends)
        self._fresh.gone.update(old)

    def drop(self, key: bytes) -> None:
        """A page was refused without a request: the next commit removes its entry."""
        self._fresh.entries[key] = None

    def take_fresh(self) -> Fresh:
        """Take everything that waits, for the commit that begins now."""
        fresh, self._fresh = self._fresh, Fresh()
        return fresh

    def write(self, fresh: Fresh, *, is_last: bool = False) -> None:
        """Add pages that the state knows now, and commit when it is time. Raises DiskFault."""
        with _disk_faults():
            writer = self._writer
            for source, anchors in fresh.anchors:
                writer.note_anchors(anchors, source)
            for key, entry in fresh.entries.items():
                if entry is None:
                    writer.remove(key)
                else:
                    writer.put(entry)
            self._has_new = self._has_new or bool(fresh.ends or fresh.entries)
            self._ends |= fresh.ends
            self._gone |= fresh.gone
            waited_s = self._clock.now_s() - self._committed_s
            if self._has_new and (is_last or writer.is_full or waited_s >= self._every_s):
                writer.commit(self._ends, self._gone)
                self._ends, self._gone, self._has_new = {}, set(), False
                self._committed_s = self._clock.now_s()

    def finish(self, *, is_whole: bool = True) -> int:
        """End the crawl: commit everything, and if `is_whole`, add late anchor texts to their
        pages. Return the number of those pages. Raises DiskFault.
        """
        with _disk_faults():
            ends, self._ends, self._has_new = self._ends, {}, False
            gone, self._gone = self._gone, set()
            if is_whole:
                return self._writer.finish(ends, gone)
            self._writer.commit(ends, gone)
            return 0

    def add_late_anchors(self) -> None:
        """Add late anchor texts to their pages while a crawl runs. Raises DiskFault."""
        with _disk_faults():
            self._writer.write_late_anchors()

    def close(self) -> None:
        # it was reported before, or the next start reports it
        with contextlib.suppress(CorruptFile):
            self._writer.close()


def _entry_of(processed: ProcessedPage, changed_us: int) -> Entry:
    report, page, ready = processed.report, processed.page, processed.ready
    lease = report.lease
    text = page.text[:MAX_TEXT_CHARS] if page and not ready else ""  # the rest would not be indexed
    # Positional, in the order of the fields: keywords take twice as long.
    return Entry(
        lease.key, lease.url, report.title, page.headings if page else (), text, report.language,
        report.type, report.at_us, (), "nosnippet" not in report.robots, ready,
        changed_us,
    )  # fmt: skip


@contextlib.contextmanager
def _disk_faults() -> Iterator[None]:
    """Report a full disk while the index is written as a full disk, not as a damaged index."""
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
                "the index was not written: the disk is full; free some space, then resume",
                is_full=True,
            ) from error
        raise
    except OSError as error:
        raise DiskFault(
            f"cannot write the index ({error.strerror or error}); check the disk",
            is_full=is_full_error(error),
            is_read_only=is_read_only_error(error),
        ) from error
