"""Update all parts of a collection from an archived exchange.

The outcome goes to the state and the log, the text to the index, and the URLs found are admitted.
An exchange may be fresh, replayed after a kill, or imported; learning it twice changes nothing. The
scheduler decides when a host may be requested again, and `commit.py` what is on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from gossamer.archive.reader import read_exchange
from gossamer.base.clock import Clock
from gossamer.base.packing import pack
from gossamer.collection.crawl_log import CrawlLog
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_exchange import LinkExchange
from gossamer.frontier.meta_keys import SEEDS_KEY
from gossamer.frontier.store import StateTable
from gossamer.node.commit import Committer
from gossamer.node.imported import note_imported
from gossamer.node.indexing import IndexFeed
from gossamer.policies.refresh.never import FetchedPage, Refresh
from gossamer.records import (
    NAMED,
    Answer,
    Capture,
    Found,
    Lease,
    Outcome,
    Purpose,
    Report,
    Stored,
)
from gossamer.schedule.admission import Admission
from gossamer.schedule.matches import IsMatch
from gossamer.schedule.scheduler import Scheduler
from gossamer.urls.canonical import host_of
from gossamer.urls.repeated_links import unpack_links
from gossamer.workers.process import ProcessedPage

RereadPage = Callable[[Lease, Answer, Stored], ProcessedPage]


@dataclass(slots=True)
class Learner:
    """Passes new results to the parts of a collection."""

    frontier: Frontier
    exchange: LinkExchange
    scheduler: Scheduler
    admission: Admission
    refresh: Refresh
    committer: Committer
    crawl_log: CrawlLog
    index: IndexFeed | None
    is_match: IsMatch
    reread: RereadPage
    archive: Path
    clock: Clock

    def take(self, processed: ProcessedPage) -> None:
        """Learn an exchange that has just ended."""
        self._learn(processed, self.scheduler.ended(processed.report))
        self._note_end(processed)

    def replay(self, processed: ProcessedPage) -> None:
        """Learn an exchange that was archived before the last process ended."""
        report = processed.report
        if report.lease.source:
            self.take_imported(processed)
            return
        self._learn(processed, self.scheduler.replayed(report))
        self._note_end(processed)

    def take_imported(self, processed: ProcessedPage) -> None:
        """Learn an imported exchange. It changes no host delay, no robots.txt and no scope, and
        makes no host a typed one.
        """
        report = processed.report
        is_last = note_imported(self.frontier, self.exchange, report)
        if is_last:
            self.crawl_log.note_report(report)
            self._count_match(report)
        self.scheduler.want_sitemaps(report.sitemaps)
        if self.index is not None:
            self.index.take(processed, is_current=is_last)
        self._note_end(processed)

    def is_current(self, report: Report) -> bool:
        """Whether this is the newest result of its URL in the state."""
        row = self.frontier.find(report.lease.key)
        return row is not None and row.at_us == report.at_us and row.outcome is report.outcome

    def _learn(self, processed: ProcessedPage, retry_us: int | None) -> None:
        report = processed.report
        for part in report.parts:  # they lie before it in the archive
            self._learn(ProcessedPage(_report_of(part, report.lease)), None)
        self.crawl_log.note_report(report)
        is_page = report.lease.purpose is Purpose.PAGE
        is_new = is_page and self.frontier.report(report, retry_us)
        if self.index is not None:
            self.index.take(processed, is_current=is_new and retry_us is None)
        if report.lease.purpose is Purpose.SITEMAP and not report.redirect:
            self.exchange.offer(report.found, report.at_us, is_listed=True)
        if not is_new:
            return
        self.frontier.counts.dropped += report.dropped
        self._count_match(report)
        if not self.refresh.is_never and retry_us is None:
            self._set_refresh(report)
        found: Iterable[Found] = report.found
        if report.redirect and report.lease.depth == 0:
            found = self._follow(report)
        self.exchange.offer(found, report.at_us)
        for key, links in unpack_links(report.repeated):
            self.frontier.count_links(key, links)
        while keys := self.frontier.take_shallower():  # their links may have shorter paths now, too
            for key in keys:
                self._find_links_again(key)

    def _set_refresh(self, report: Report) -> None:
        """Note when a page is due again, if the policy says so."""
        if report.outcome is not Outcome.FETCHED:
            return
        facts = (report.status, report.digest, report.modified_at, report.at_us)
        due_us = self.refresh.next_us(FetchedPage(report.lease.url, *facts))
        if due_us is not None:
            self.frontier.refetch_at(report.lease.key, due_us)

    def _note_end(self, processed: ProcessedPage) -> None:
        """Record the new offset, last of all: if learning failed by a bug, the exchange is read
        again.
        """
        stored = processed.report.stored
        self.committer.note_end(stored.file, stored.end)

    def _count_match(self, report: Report) -> None:
        if self.is_match(report.status, report.type):
            self.scheduler.allowance.matches += 1

    def _follow(self, report: Report) -> Iterable[Found]:
        """The redirect target of a seed or of a URL of an imported list. It counts like the
        seed.
        """
        row = self.frontier.find(report.lease.key)
        if row is not None and row.via == NAMED:
            return [one._replace(via=NAMED) for one in report.found]
        self._adopt(report.redirect)
        return report.found

    def _adopt(self, url: str) -> None:
        """Extend the scope to the new host of a seed that moved: example.org to www.example.org."""
        if self.admission.adopt(url):
            seeds = pack(list(self.admission.seeds))
            self.frontier.pending.put(StateTable.META, SEEDS_KEY, seeds)

    def _find_links_again(self, key: bytes) -> None:
        """Shorten the paths of the links of a fetched page to which a shorter path was found."""
        capture = self.frontier.last_capture(key)
        row = self.frontier.find(key)
        if capture is None or row is None:
            return
        exchange = read_exchange(self.archive / capture.file, capture.offset)
        lease = structs.replace(exchange.lease, depth=row.depth)
        processed = self.reread(lease, exchange.answer, exchange.stored)
        self.exchange.offer(processed.report.found, self.clock.wall_us())


def _report_of(part: Capture, lease: Lease) -> Report:
    """The report of a capture that came with the main one of a lease."""
    return Report(
        lease=Lease(
            lease.number,
            part.url,
            part.key,
            host_of(part.url),
            "",
            depth=lease.depth + 1,
            via=lease.url,
        ),
        outcome=Outcome.FETCHED,
        at_us=part.at_us,
        took_s=part.took_s,
        stored=part.stored,
        status=part.status,
        type=part.type,
        size_bytes=part.size_bytes,
        digest=part.stored.digest,
    )
