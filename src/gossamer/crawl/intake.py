"""Where an import puts what it found: the collection's archive, and all that is derived from it.

An exchange goes the way of one that was just fetched: appended to the archive, read from there,
told to state, graph and index, committed in the same order (`commit.py`). A kill leaves what a
crawl's kill leaves, and the next start, of an import or a crawl, reads the rest from the archive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from gossamer.archive.foreign import Foreign, packed
from gossamer.archive.reader import read_answer_at, read_exchange
from gossamer.crawl.commit import Committer
from gossamer.crawl.imported import is_imported
from gossamer.crawl.indexing import IndexFeed
from gossamer.crawl.links import LinkBook
from gossamer.crawl.node import Node
from gossamer.crawl.worker import Worker
from gossamer.errors import CorruptFile
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import CaptureRow
from gossamer.records import Fetched, Lease
from gossamer.settings import Settings
from gossamer.urls.forgotten import Forgotten
from gossamer.urls.keys import Keys

_COMMIT_BYTES: Final = 32 * 2**20  # of packed exchanges; what a kill may leave to be read again
_SAME_SECOND: Final = 1_000_000  # captures that one second can hold, a microsecond each
_LOOKED_AT: Final = 50  # captures of a URL, when a revisit does not say which it repeats


@dataclass(slots=True)
class Intake:
    """The open end of a collection. Made by `build.py`; used by one import."""

    settings: Settings
    keys: Keys
    frontier: Frontier
    worker: Worker
    node: Node
    committer: Committer
    links: LinkBook
    index: IndexFeed | None
    forgotten: Forgotten
    _uncommitted_bytes: int = 0

    def has_file(self, name: str) -> bool:
        """Whether the archive has a file of that name."""
        return (self.worker.archive.folder / name).exists()

    def is_known(self, source: str) -> bool:
        """Whether an exchange of that name is here already."""
        return is_imported(self.frontier, source)

    def capture_at(self, url: str, at_us: int) -> CaptureRow | None:
        """The capture of a URL at one moment, if it is here."""
        return self.frontier.capture_at(self.keys.of(url), at_us)

    def free_moment(self, url: str, at_us: int) -> int:
        """The moment, or the first after it at which the URL has no capture.

        Many writers date by the second, and two answers of one second are two captures.
        """
        key = self.keys.of(url)
        for step in range(_SAME_SECOND):
            if self.frontier.capture_at(key, at_us + step) is None:
                return at_us + step
        return at_us

    def put(self, foreign: Foreign, lease: Lease, more: Sequence[tuple[str, str]] = ()) -> None:
        """Take in one exchange. Raises DiskFault."""
        lease = replace(lease, source=foreign.source)
        exchange = packed(foreign, lease, self.worker.archive.level, more)
        self.node.bring(self.worker.bring(exchange))
        self._uncommitted_bytes += len(exchange.data)
        if self.worker.links.is_due and (part := self.worker.links.write_now()) is not None:
            self.links.note(part)
        is_behind = self.index is not None and self.index.is_behind
        if is_behind or self.node.is_full or self._uncommitted_bytes >= _COMMIT_BYTES:
            self.commit()

    def commit(self) -> None:
        """Make all that was taken in last. Raises DiskFault."""
        self.committer.commit_now()
        self._uncommitted_bytes = 0

    def find_repeated(
        self, url: str, at_us: int | None, digest: str
    ) -> tuple[CaptureRow, Fetched] | None:
        """The whole answer that a revisit repeats: of that moment, else of that payload."""
        rows = self.frontier.captures(self.keys.of(url), _LOOKED_AT)
        for moment, row in sorted(rows, key=lambda one: one[0] // 10**6 != (at_us or 0) // 10**6):
            path = self.worker.archive.folder / row.file
            try:
                named = read_answer_at(path, row.offset).header("WARC-Payload-Digest")
                answer = read_exchange(path, row.offset).answer
            except (CorruptFile, OSError):
                continue
            is_meant = digest in (named, row.digest) or moment == at_us
            if is_meant and isinstance(answer, Fetched) and answer.body:
                return row, answer
        return None
