"""The commit: how a crawl stays consistent, whenever it is killed.

Theory of operation. Five things are on disk, and they are written in this order:

    1. archive   an exchange is appended in one write when its response has arrived, long before
                 anything else knows of it; a commit begins by syncing the file
    2. log       the lines of this commit are appended and synced
    3. state     ONE synced batch: outcomes, admitted URLs, robots.txt, times of hosts, sums,
                 for each WARC file the offset up to which its exchanges are in the state,
                 and the length of the log
    4. graph     from time to time a part of links, and the manifest that names it and says up
                 to which offset of each WARC file the graph reaches
    5. index     every few seconds the pages of all commits so far, in one commit of its own
                 that says up to which offset of each WARC file the index reaches

So the state never contains anything that the archive does not hold, and is at most about one second
behind it. The actions of a restart follow from that (`recovery.py`):

    killed in   archive is ahead           restart finds                   restart does
    1           by half an exchange        a file that ends in the middle  cuts it there
    1           by whole exchanges         bytes after the known end       reads them again
    2           and so is the log          a log longer than the state says cuts the log
    3           or not at all              the old batch or the new one    nothing: it is atomic
    4           the graph is behind both   parts no manifest names         deletes them, and reads
                                                                           links again
    5           and so is the index        the old index or the new one    reads pages again

Reading exchanges again is an upsert by (URL, time of capture), so a second time changes nothing. An
archived URL is never requested again. Only requests in flight may repeat, because their queue
entries are still in the state. A thread writes the state while the crawl continues; decisions made
meanwhile belong to the next commit (`frontier/pending.py`).

With worker processes only the writer changes. Each worker appends to its own WARC file, and the
node syncs all of them, by its own descriptors, before it writes what they have reported. A worker
reports in the order of its file, so one offset says how far the state knows it. When a worker dies
(`crash_state.py`), its file is cut and synced, the exchanges after the reported offset are read as
in a restart, and only then its other leases return. So either an exchange is in the archive or its
URL is requested again, never both. Exchanges are read under a marker (`crash_marker.py`); an
exchange that two readers died on has failed, and every restart skips it.

A failed sync is not repeated, because afterwards the content of the disk is unknown. The crawl
stops, and the next start trusts only what it can read. It rewrites the bytes after the known end
before it syncs them, because the kernel may call them clean although they never reached the disk.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.writer import disk_fault
from gossamer.base.checked_lines import crc32
from gossamer.base.disk import is_full_error, is_read_only_error
from gossamer.base.garbage import give_back
from gossamer.collection.crawl_log import CrawlLog
from gossamer.collection.log_thinning import ThinnedLog, complete_log
from gossamer.errors import DiskFault
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import CLEAN_KEY, FILE_PREFIX, LOG_KEY, LOG_SUM_KEY
from gossamer.frontier.store import StateTable, Store, TableChanges
from gossamer.node.indexing import Fresh, IndexFeed
from gossamer.node.link_files import LinkFiles
from gossamer.workers.pool import WorkerPool
from gossamer.workers.wire import PartWritten

_GIVE_BACK_EVERY: Final = 60  # commits: one minute


@dataclass(frozen=True, slots=True)
class CommitContent:
    """Everything that one commit writes, taken at one moment."""

    descriptors: Sequence[int]  # of the WARC files to sync; this class closes them
    log_lines: bytes
    changes: TableChanges
    parts: Sequence[PartWritten]
    fresh: Fresh | None  # for the index
    is_clean: bool


class Committer:
    """Writes moments, one after the other."""

    def __init__(
        self,
        store: Store,
        frontier: Frontier,
        crawl_log: CrawlLog,
        links: LinkFiles,
        index: IndexFeed | None,
        pool: WorkerPool,
        log_length: int,
    ) -> None:
        self._store = store
        self._frontier = frontier
        self._crawl_log = crawl_log
        self._links = links
        self._index = index
        self._pool = pool
        self._log_length = min(log_length, crawl_log.length)
        self._log_crc32 = crawl_log.crc32
        self._ends: dict[str, int] = {}
        self._lock = asyncio.Lock()
        self._commits = 0
        self.before: Callable[[], None] | None = None  # is called when a commit begins

    def note_end(self, file: str, end: int) -> None:
        """Record that the next committed state holds the file up to `end`."""
        self._ends[file] = end

    async def commit(self, *, is_clean: bool = False) -> None:
        """Write all decisions made so far. After a DiskFault the caller must stop."""
        async with self._lock:
            if self.before is not None:
                self.before()
            moment = self._moment(is_clean=is_clean)
            writing = asyncio.ensure_future(asyncio.to_thread(self._write, moment))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                # A moment must be written once it is taken: its rows are nowhere else.
                await writing
                self._frontier.end_commit(moment.changes)
                raise
            self._frontier.end_commit(moment.changes)

    async def between_commits(self, work: Callable[[], object]) -> None:
        """Run work in a thread. No commit begins meanwhile, and the work is always completed."""
        async with self._lock:
            working = asyncio.ensure_future(asyncio.to_thread(work))
            try:
                await asyncio.shield(working)
            except asyncio.CancelledError:
                await working
                raise

    def commit_now(self) -> None:
        """Do the same before the event loop runs, during recovery."""
        moment = self._moment(is_clean=False)
        self._write(moment)
        self._frontier.end_commit(moment.changes)

    async def thin_log(self, log: Path, before_us: int) -> None:
        """Leave lines before a time out of the log. Commits wait only for its last lines.

        If the disk is full, the log stays as it is. Raises DiskFault.
        """
        try:
            thinned = await asyncio.to_thread(ThinnedLog.begin, log, before_us)
            await asyncio.to_thread(thinned.copy)
        except OSError:
            return  # the next start deletes what was written
        async with self._lock:
            replacing = asyncio.ensure_future(asyncio.to_thread(self._replace_log, thinned))
            try:
                await asyncio.shield(replacing)
            except asyncio.CancelledError:
                await replacing
                raise
            except OSError as fault:
                raise disk_fault("cannot shorten the log", fault) from fault

    def _replace_log(self, thinned: ThinnedLog) -> None:
        thinned.copy()
        if not thinned.is_shorter:
            complete_log(thinned.log, self._store)  # deletes the new one
            return
        thinned.decide(self._store)
        complete_log(thinned.log, self._store)
        self._crawl_log.reopen()
        self._log_length, self._log_crc32 = thinned.length, thinned.crc32

    def _moment(self, *, is_clean: bool) -> CommitContent:
        lines = self._crawl_log.take()
        self._log_length += len(lines)
        self._log_crc32 = crc32(lines, self._log_crc32)
        pending = self._frontier.pending
        pending.put(StateTable.META, LOG_KEY, self._log_length.to_bytes(8, "big"))
        pending.put(StateTable.META, LOG_SUM_KEY, self._log_crc32.to_bytes(4, "big"))
        pending.put(StateTable.META, CLEAN_KEY, b"1" if is_clean else b"0")
        for file, end in self._ends.items():
            pending.put(StateTable.META, FILE_PREFIX + file.encode(), end.to_bytes(8, "big"))
        self._ends = {}
        return CommitContent(
            tuple(self._pool.descriptors().values()),
            lines,
            self._frontier.begin_commit(),
            self._links.take(),
            self._index.take_fresh() if self._index is not None else None,
            is_clean,
        )

    def _write(self, moment: CommitContent) -> None:
        try:
            for descriptor in moment.descriptors:
                sync_descriptor(descriptor)
        finally:
            for descriptor in moment.descriptors:
                os.close(descriptor)
        if moment.log_lines:
            self._crawl_log.append(moment.log_lines)
        self._store.write(moment.changes)
        if moment.parts or not moment.is_clean:  # a clean end finishes the manifest elsewhere
            self._links.name(moment.parts)
        if self._index is not None and moment.fresh is not None:
            self._index.write(moment.fresh)
        self._commits += 1
        if self._commits % _GIVE_BACK_EVERY == 0:
            give_back()


def sync_descriptor(descriptor: int) -> None:
    """Return when the bytes of a file are on disk. Raises DiskFault; do not call it again then."""
    try:
        if sys.platform == "linux":
            os.fdatasync(descriptor)
        else:
            os.fsync(descriptor)
    except OSError as fault:
        raise DiskFault(
            f"the commit cannot be written ({fault.strerror}); check the disk, then resume: "
            "committed data is safe",
            is_full=is_full_error(fault),
            is_read_only=is_read_only_error(fault),
        ) from fault
