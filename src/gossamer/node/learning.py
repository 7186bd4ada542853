"""Update all parts of a collection from an archived exchange.

The outcome goes to the state and the log, the text to the index, and the URLs found are admitted.
An exchange may be fresh, replayed after a kill, or imported; learning it twice changes nothing. The
scheduler decides when a host may be requested again, and `commit.py` what is on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import structs

from gossamer.archive.reader import read_exchange
from gossamer.base.clock import Clock
from gossamer.base.packing import pack
from gossamer.collection.crawl_log import CrawlLog
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_exchange import LinkExchange
from gossamer.frontier.meta_keys import SEEDS_KEY
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.kinds import VisitKind
from gossamer.index.anchor_pack import unpack_anchors
from gossamer.node.commit import Committer
from gossamer.node.imported import note_imported
from gossamer.node.indexing import IndexFeed
from gossamer.node.visits.revisits import Revisits
from gossamer.policies.traps.grades import News
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
from gossamer.schedule.matches import IsMatch, may_match
from gossamer.schedule.scheduler import Scheduler
from gossamer.urls.canonical import host_of
from gossamer.urls.repeated_links import unpack_links
from gossamer.workers.process import ProcessedPage

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.node.keeping.keeping import Keeping

# The index keeps the entry of the page, if there is one.
_KEEP_ENTRY: Final = frozenset({None, VisitKind.RETRY, VisitKind.MISSED})
_FIRST: Final = frozenset({None, VisitKind.RETRY, VisitKind.NEW})  # no change was seen
RereadPage = Callable[[Lease, Answer, Stored], ProcessedPage]


@dataclass(slots=True)
class Learner:
    """Passes new results to the parts of a collection."""

    frontier: Frontier
    exchange: LinkExchange
    scheduler: Scheduler
    admission: Admission
    committer: Committer
    crawl_log: CrawlLog
    index: IndexFeed | None
    is_match: IsMatch
    reread: RereadPage
    archive: Path
    clock: Clock
    revisits: Revisits | None = None
    keeping: Keeping | None = None

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
        if run := self.frontier.run_of(report.lease.key):  # the archive does not say it
            lease = structs.replace(report.lease, run=run)
            report = structs.replace(report, lease=lease)
            processed = structs.replace(processed, report=report)
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

    def take_older(self, processed: ProcessedPage) -> None:
        """Learn an exchange that is older than what is known of its page: one capture more."""
        is_last = self.frontier.bring(processed.report)
        if self.index is not None:
            self.index.take(processed, is_current=is_last)
        self._note_end(processed)

    def current_row(self, report: Report) -> UrlRow | None:
        """The row of its URL, if it was made from this report."""
        row = self.frontier.find(report.lease.key)
        return row if row is not None and row.is_said_by(report) else None

    def _learn(self, processed: ProcessedPage, retry_us: int | None) -> None:
        report = processed.report
        for part in report.parts:  # they lie before it in the archive
            self._learn(ProcessedPage(_report_of(part, report.lease)), None)
        self.crawl_log.note_report(report)
        is_page = report.lease.purpose is Purpose.PAGE
        kind = self.frontier.report(report, retry_us) if is_page else None
        if self.index is not None:
            changed_us = self._changed_us(report) if kind not in _FIRST else 0
            is_current = kind not in _KEEP_ENTRY
            self.index.take(processed, is_current=is_current, changed_us=changed_us)
        if report.lease.purpose is Purpose.SITEMAP and not report.redirect:
            self.exchange.offer(report.found, report.at_us, is_listed=True)
        if self.revisits is not None:
            self._tell_revisits(self.revisits, kind, report)
        if kind is None:
            return
        if self.keeping is not None and is_page:
            self.keeping.learn(report)
        self.frontier.counts.dropped += report.dropped
        self._count_match(report)
        found: Iterable[Found] = report.found
        if report.redirect and report.lease.depth == 0:
            found = self._follow(report)
        self._offer(found, report)
        self._learn_links(processed)
        while keys := self.frontier.take_shallower():  # their links may have shorter paths now, too
            for key in keys:
                self._find_links_again(key)

    def _learn_links(self, processed: ProcessedPage) -> None:
        report, selection = processed.report, self.frontier.selection
        if selection is not None:
            if report.outcome is not Outcome.FETCHED or report.is_unchanged:
                return
            anchors: Sequence[tuple[bytes, str]] = ()
            if selection.wants_anchors:
                unpacked = unpack_anchors(processed.anchors)
                anchors = [(key, text.decode(errors="replace")) for key, text in unpacked]
            contexts = [context for _, context in report.link_texts]
            selection.learn(
                report.lease.key, report.found, report.repeated, anchors, report.focus, contexts
            )
            if selection.focus is not None:
                for key in selection.focus.take_relevant():
                    self.frontier.guard.note_relevant(key, self.frontier.url_of(key))
            return
        for key, links in unpack_links(report.repeated):
            self.frontier.count_links(key, links)

    def _offer(self, found: Iterable[Found], report: Report) -> None:
        """Admit the links of a page. Those of pages that bring nothing new come later."""
        guard, lease = self.frontier.guard, report.lease
        self.frontier.note_link_texts(report)
        if not guard.is_on or lease.previous is not None:
            self.exchange.offer(found, report.at_us)
            return
        news = guard.grade(lease.key, report.news, report.text_numbers)
        via = self.frontier.via_of(lease.key) if lease.run else b""
        run = guard.run_of_links(lease.run, via, news)
        self.exchange.offer(found, report.at_us, run=run)
        if report.redirect or news is News.UNKNOWN:
            return
        fresh = self.frontier.take_fresh()
        earlier = guard.learn(lease.key, lease.url, lease.run, via, news, fresh)
        for key in earlier.keys:
            self.frontier.come_back(key, earlier.run)

    def _tell_revisits(self, revisits: Revisits, kind: VisitKind | None, report: Report) -> None:
        if kind is not None:
            revisits.learn(kind, report)
        if report.listed:
            revisits.learn_list(report)

    def _changed_us(self, report: Report) -> int:
        """When a change of the page was last seen; 0: never."""
        row = self.frontier.find(report.lease.key)
        return row.changed_us if row is not None else 0

    def _note_end(self, processed: ProcessedPage) -> None:
        """Record the new offset, last of all: if learning failed by a bug, the exchange is read
        again.
        """
        stored = processed.report.stored
        self.committer.note_end(stored.file, stored.end)

    def _count_match(self, report: Report) -> None:
        if may_match(report) and self.is_match(report.status, report.type):
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
