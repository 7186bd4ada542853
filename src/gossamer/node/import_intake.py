"""Store imported exchanges in the archive of the collection, and derive everything from them.

An exchange is handled as if it was just fetched: appended to the archive, read from there, passed
to state, graph and index, and committed in the same order (`commit.py`). A kill has the same effect
as in a crawl. The next start, of an import or a crawl, reads the rest from the archive.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import structs

from gossamer.archive.foreign import Foreign, packed
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_exchange import LinkExchange
from gossamer.frontier.rows import CaptureRow, UrlRow
from gossamer.node.commit import Committer
from gossamer.node.imported import is_imported
from gossamer.node.indexing import IndexFeed
from gossamer.node.link_files import LinkFiles
from gossamer.node.node import Node
from gossamer.node.originals import Originals
from gossamer.records import Fetched, Lease
from gossamer.settings import Settings
from gossamer.urls.forgotten import Forgotten
from gossamer.urls.keys import Keys
from gossamer.workers.worker import Worker

# of packed exchanges; a kill leaves at most this much to read again
_COMMIT_BYTES: Final = 32 * 2**20
_SECOND_US: Final = 1_000_000
_TRIES: Final = 1_000


@dataclass(slots=True)
class ImportIntake:
    """Accepts exchanges for one collection. Made by `build.py`, used by one import."""

    settings: Settings
    keys: Keys
    frontier: Frontier
    worker: Worker
    node: Node
    committer: Committer
    links: LinkFiles
    index: IndexFeed | None
    forgotten: Forgotten
    exchange: LinkExchange
    on_decided: Callable[[UrlRow], None]  # is told of URLs that are refused or fail here
    _uncommitted_bytes: int = 0
    _originals: Originals | None = None

    def has_file(self, name: str) -> bool:
        """Whether the archive has a file of that name."""
        return (self.worker.archive.folder / name).exists()

    def is_known(self, source: str) -> bool:
        """Whether an exchange of that name was imported before."""
        return is_imported(self.frontier, source)

    def capture_at(self, url: str, at_us: int) -> CaptureRow | None:
        """The capture of a URL at one moment, or None."""
        return self.frontier.capture_at(self.keys.of(url), at_us)

    def free_moment(self, url: str, at_us: int) -> int:
        """The moment, or one soon after it, at which the URL has no capture.

        Many writers give dates in seconds, and two responses of one second are two captures. This
        is a binary search, because a second may hold a hundred thousand of them.
        """
        key = self.keys.of(url)

        def is_free(step: int) -> bool:
            return self.frontier.capture_at(key, at_us + step) is None

        if is_free(0):
            return at_us
        taken, free = 0, 1
        while not is_free(free):
            if free > _SECOND_US:  # the dates are spread so that the binary search finds no gap
                steps = (random.randrange(_SECOND_US) for _ in range(_TRIES))  # noqa: S311
                return at_us + next(filter(is_free, steps), 0)
            taken, free = free, 2 * free
        while free - taken > 1:
            middle = (taken + free) // 2
            taken, free = (taken, middle) if is_free(middle) else (middle, free)
        return at_us + free

    def put(self, foreign: Foreign, lease: Lease, more: Sequence[tuple[str, str]] = ()) -> None:
        """Store one exchange. Raises DiskFault."""
        lease = structs.replace(lease, source=foreign.source)
        exchange = packed(foreign, lease, self.worker.archive.level, more)
        self.node.take_imported(self.worker.store_imported(exchange))
        self.stored(len(exchange.data))

    def stored(self, size: int) -> None:
        """Note that an exchange of about so many bytes was stored; commit if it is time. Raises
        DiskFault."""
        self._uncommitted_bytes += size
        if self.worker.links.is_due and (part := self.worker.links.write_now()) is not None:
            self.links.note(part)
        is_behind = self.index is not None and self.index.is_behind
        if is_behind or self.node.is_full or self._uncommitted_bytes >= _COMMIT_BYTES:
            self.commit()

    def commit(self) -> None:
        """Commit everything that was stored. Raises DiskFault."""
        self.committer.commit_now()
        self._uncommitted_bytes = 0

    def find_repeated(
        self, url: str, at_us: int | None, digest: str
    ) -> tuple[tuple[str, int], Fetched] | None:
        """The whole response that a revisit repeats: of that moment, else of that payload. Also the
        file and offset of its body, which is never inside a revisit.
        """
        if self._originals is None:
            self._originals = Originals(self.frontier, self.worker.archive.folder)
        return self._originals.find(self.keys.of(url), at_us, digest)
