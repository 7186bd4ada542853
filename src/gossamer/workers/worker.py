"""One pass of a URL: fetch, archive, parse.

A worker owns only its WARC file and the links it has not written yet. Each line of
`fetch_and_store` and `store` calls one folder. A change that would make them longer than a screen
belongs in a stage.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from msgspec import structs

from gossamer.archive.foreign import PackedExchange
from gossamer.archive.reader import exchange_of, iter_exchanges
from gossamer.archive.writer import WarcWriter, disk_fault
from gossamer.base.clock import Clock
from gossamer.base.garbage import give_back
from gossamer.fetch.fetcher import Fetcher
from gossamer.graph.parts import PartWriter
from gossamer.records import Answer, Fetched, Lease, Outcome, Purpose, Stored
from gossamer.settings import Node
from gossamer.workers.crash_marker import CrashMarker
from gossamer.workers.guarded_reader import GuardedReader
from gossamer.workers.process import PageProcessor, ProcessedPage
from gossamer.workers.repeated import RepeatedBody, RepeatedVersions, is_server_error
from gossamer.workers.wire import PartWritten

# of all URLs in a part: hostile pages have links of 16,000 characters
_MOST_CHARS: Final = 100_000_000
_GONE: Final = (404, 410)  # a page that is gone has no links; those of the error page are not its


class Worker:
    """Processes leases. With 0 worker processes the node has one worker of its own."""

    def __init__(
        self,
        fetcher: Fetcher,
        archive: WarcWriter,
        processor: PageProcessor,
        links: LinkGatherer,
        marker: CrashMarker,
    ) -> None:
        self.fetcher = fetcher
        self._marker = marker
        self._reader = GuardedReader(processor, marker)
        self._read = self._reader.read
        self._versions = RepeatedVersions(archive.folder)
        self.jar = fetcher.jar
        self.archive = archive
        self.links = links

    async def fetch_and_store(self, lease: Lease) -> ProcessedPage:
        """Request a URL, archive the response and report it. Raises DiskFault."""
        return self.store(lease, await self.fetcher.fetch(lease))  # fetch/

    def store(self, lease: Lease, answer: Answer) -> ProcessedPage:
        """Archive and report a response, the second half of `fetch_and_store`. Raises DiskFault."""
        if lease.previous is not None:
            return self._store_visit(lease, answer)
        # archive/: from here on a crash does not lose it
        stored = self.archive.append(lease, answer)
        processed = self._read(lease, answer, stored)  # parse/, urls/
        self.links.add(processed)  # graph/
        return processed

    def _store_visit(self, lease: Lease, answer: Answer) -> ProcessedPage:
        """The same for a page that was fetched before: an unchanged one is not stored again."""
        has_conditions = self.fetcher.has_conditions(lease)
        answer, origin = self._versions.judge(lease, answer, has_conditions=has_conditions)
        stored = self.archive.append(lease, answer, origin)
        repeated = None
        if origin is not None and isinstance(answer, Fetched):
            if lease.purpose is Purpose.SITEMAP and answer.body:
                return self._read_list(lease, answer, stored)
            repeated = RepeatedBody(origin.digest, len(answer.body))
        processed = self._read(lease, answer, stored, repeated)
        self.links.add(processed)
        return processed

    def _read_list(self, lease: Lease, answer: Fetched, stored: Stored) -> ProcessedPage:
        """A sitemap that is the same and came whole: it was requested for what it lists."""
        report = self._read(lease, answer, stored).report
        processed = ProcessedPage(structs.replace(report, is_unchanged=True))
        self.links.add(processed)
        return processed

    def read_again(self, lease: Lease, file: str, start: int) -> ProcessedPage:
        """Report an exchange that another worker archived without a report."""
        exchange = next(iter_exchanges(self.archive.folder / file, start))
        processed = self._reader.read_as(lease, exchange)
        self.links.add(processed)
        return processed

    def store_imported(self, packed: PackedExchange) -> ProcessedPage:
        """Archive and report an exchange of another archive. It is read in its stored form.

        Raises DiskFault.
        """
        records = self.archive.append_packed(packed)
        exchange = exchange_of(self.archive.path, list(records))
        processed = self._read(exchange.lease, exchange.answer, exchange.stored)
        self.links.add(processed)
        return processed

    async def aclose(self) -> None:
        """Close the connections and the file. A later start reads unwritten links from the
        archive.
        """
        await self.fetcher.aclose()
        try:
            self.archive.close()
        finally:
            self._marker.close()


class LinkGatherer:
    """Collects the links of pages in memory and writes them to `graph/` in parts.

    The graph is derived data: what is lost with the process is read again from the archive. This
    requires that no part claims bytes whose links are in no part. So after a part failed or was
    cancelled, no further parts are written.
    """

    def __init__(self, folder: Path, prefix: str, settings: Node, clock: Clock) -> None:
        self._folder = folder
        self._prefix = prefix
        self._settings = settings
        self._clock = clock
        self._rows = PartWriter(folder)
        self._ends: dict[str, int] = {}
        self._since_s = 0.0
        self._number = 0
        self._is_writing = False
        self._has_gap = False

    def add(self, processed: ProcessedPage) -> None:
        """Take the links of a page. A response without links is covered too."""
        if not self._settings.graph:
            return
        stored = processed.report.stored
        if not self._ends:
            self._since_s = self._clock.now_s()
        self._ends[stored.file] = stored.end
        report, lease = processed.report, processed.report.lease
        if report.outcome is not Outcome.FETCHED or lease.purpose is not Purpose.PAGE:
            return
        if report.is_unchanged:
            self._rows.add_unchanged(lease.url, report.at_us)
        elif lease.previous is None:
            self._rows.add_capture(lease.url, report.at_us, processed.edges)
        elif not is_server_error(lease, report.status):
            edges = () if report.status in _GONE else processed.edges
            self._rows.add_capture(lease.url, report.at_us, edges)

    @property
    def is_due(self) -> bool:
        if self._is_writing or not self._ends:
            return False
        waited_s = self._clock.now_s() - self._since_s
        return (
            self._rows.rows >= self._settings.part_rows
            or self._rows.chars >= _MOST_CHARS
            or waited_s >= self._settings.part_every_s
        )

    async def write(self) -> PartWritten | None:
        """Write the collected links in a thread. None if there is nothing new.

        A part counts only when the manifest names it, which is the node's job. Raises DiskFault.
        """
        if self._is_writing or self._has_gap or not self._ends:
            return None
        rows, covered = self._take()
        self._is_writing = self._has_gap = True
        try:
            part = await asyncio.to_thread(self._write, rows, covered)
        finally:
            self._is_writing = False
        self._has_gap = False
        return part

    def write_now(self) -> PartWritten | None:
        """Do the same without an event loop, during recovery."""
        return self._write(*self._take()) if self._ends else None

    def _take(self) -> tuple[PartWriter, dict[str, int]]:
        rows, self._rows = self._rows, PartWriter(self._folder)
        covered, self._ends = self._ends, {}
        return rows, covered

    def _write(self, rows: PartWriter, covered: dict[str, int]) -> PartWritten:
        count = rows.rows
        if not count:
            return PartWritten("", 0, covered)
        self._number += 1
        try:
            path = rows.write(f"links-{self._prefix}-{self._number:05d}")
        except OSError as error:
            raise disk_fault("cannot write links", error) from error
        give_back()  # return the memory that the links of half a minute took
        return PartWritten(path.name, count, covered)
