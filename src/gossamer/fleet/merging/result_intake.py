"""Take the exchanges of another crawler, which crawled for this collection, as our own.

A unit of the fleet runs a node of its own for a part of the crawl (`fleet/`). What it fetched is
stored and learned here as if a worker of this node had fetched it: the same records in the archive,
the same rows, links and index entries, the same comparison with an earlier version. So a collection
that was merged from packages equals one that was crawled here, and recovery after a kill is that of
a crawl. An exchange that is known is not stored again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from msgspec import structs

from gossamer.archive.reader import read_exchange
from gossamer.archive.warc import payload_digest
from gossamer.errors import CorruptFile
from gossamer.frontier.meta_keys import PACKAGE_PREFIX
from gossamer.frontier.rows import CaptureRow, Standing, UrlRow
from gossamer.frontier.store import StateTable
from gossamer.node.import_intake import ImportIntake
from gossamer.politeness.access import Access
from gossamer.records import Answer, Fetched, Found, Lease, Outcome, Purpose, Reason
from gossamer.urls.canonical import host_of, origin_of

_LOOKED_AT: Final = 100  # captures of a URL
_HEAD_BYTES: Final = 1_000  # of an exchange without its body, about


@dataclass(slots=True)
class ResultIntake:
    """Accepts the results of units for one collection."""

    intake: ImportIntake

    def is_merged(self, package: str) -> bool:
        """Whether a package was merged whole."""
        key = PACKAGE_PREFIX + bytes.fromhex(package)
        return self.intake.frontier.pending.find(StateTable.META, key) is not None

    def note_merged(self, package: str) -> None:
        """The next commit holds all of a package."""
        key = PACKAGE_PREFIX + bytes.fromhex(package)
        self.intake.frontier.pending.put(StateTable.META, key, b"1")

    def is_forgotten(self, url: str) -> bool:
        """Whether a URL is under a takedown of this collection."""
        return bool(self.intake.forgotten) and self.intake.forgotten.covers(url)

    def find_body(self, url: str, digest: str) -> bytes | None:
        """A body of a URL by its digest; None if no capture of the URL has it."""
        archive = self.intake.worker.archive.folder
        for row in self._captures(self.intake.keys.of(url)):
            if row.digest != digest:
                continue
            try:
                answer = read_exchange(archive / row.file, row.offset).answer
            except (CorruptFile, OSError):
                continue
            if isinstance(answer, Fetched) and payload_digest(answer.body) == digest:
                return answer.body
        return None

    def _captures(self, key: bytes) -> Iterator[CaptureRow]:
        newest = self.intake.frontier.last_capture(key)
        if newest is not None:
            yield newest
        yield from (row for _, row in self.intake.frontier.captures(key, 0, _LOOKED_AT))

    def put(self, lease: Lease, answer: Answer) -> bool:
        """Store an exchange; False if it is known. Raises DiskFault."""
        intake, key = self.intake, self.intake.keys.of(lease.url)
        row = intake.frontier.find(key)
        if self._is_known(lease, answer, key, row):
            return False
        is_page = lease.purpose is Purpose.PAGE
        lease = structs.replace(
            lease,
            number=0,
            key=key,
            host=host_of(lease.url),
            address=answer.address if isinstance(answer, Fetched) else "",
            is_trusted=False,
            gets_secrets=False,
            source="",
            max_body_bytes=intake.settings.fetch.max_body_bytes,
            previous=None,
        )
        if is_page and row is not None and _is_older(row, answer):
            intake.node.take_older(intake.worker.store(lease, answer))
        else:
            if is_page:
                self._make_ready(lease, answer, row)
                lease = structs.replace(lease, previous=intake.frontier.previous(key))
            intake.node.replay(intake.worker.store(lease, answer))
        intake.stored(
            len(answer.body) + _HEAD_BYTES if isinstance(answer, Fetched) else _HEAD_BYTES
        )
        return True

    def _is_known(self, lease: Lease, answer: Answer, key: bytes, row: UrlRow | None) -> bool:
        if lease.purpose is Purpose.ROBOTS:
            return self._is_robots_known(origin_of(lease.via or lease.url), answer.at_us)
        if lease.purpose is not Purpose.PAGE:
            return False  # a second copy of a sitemap after a kill does no harm
        if isinstance(answer, Fetched):
            if self.intake.frontier.capture_at(key, answer.at_us) is not None:
                return True
            is_answer = row is not None and row.standing == Standing.FAILED
            return is_answer and row is not None and row.at_us == answer.at_us
        return row is not None and row.standing != Standing.QUEUED and row.at_us >= answer.at_us

    def _is_robots_known(self, origin: str, at_us: int) -> bool:
        row = self.intake.frontier.pending.find(StateTable.ORIGIN, origin.encode())
        return row is not None and Access.decode(row).at_us >= at_us

    def _make_ready(self, lease: Lease, answer: Answer, row: UrlRow | None) -> None:
        """A URL that nothing here names is admitted by the path that the unit took; one that a rule
        of this collection refuses was allowed to the unit, and has its page now."""
        intake = self.intake
        via = intake.keys.of(lease.via) if lease.via else b""
        found = Found(lease.url, intake.keys.of(lease.url), lease.depth, via, lease.redirects)
        if row is None:
            intake.exchange.offer([found], answer.at_us)
            row = intake.frontier.find(found.key)
        is_refused = row is not None and row.standing in (
            Standing.REFUSED, Standing.REFUSED_FOR_NOW, Standing.FAILED,
        )  # fmt: skip
        if row is not None and is_refused and row.at_us >= answer.at_us:
            intake.frontier.lift(row, found)

    def put_outcome(
        self, found: Found, outcome: Outcome, reason: Reason, detail: str, at_us: int, tries: int
    ) -> bool:
        """A unit has refused a URL, or given it up; False if more is known here."""
        intake = self.intake
        row = intake.frontier.find(found.key)
        if row is None:
            intake.exchange.offer([found], at_us)
            row = intake.frontier.find(found.key)
        if row is None or row.standing != Standing.QUEUED:
            return False
        if outcome is Outcome.REFUSED:
            after = intake.frontier.refuse(found.key, reason, detail, at_us)
        else:
            after = intake.frontier.fail(found.key, reason, detail, at_us, tries=tries + 1)
        intake.on_decided(after)
        intake.stored(0)
        return True


def _is_older(row: UrlRow, answer: Answer) -> bool:
    return row.standing == Standing.FETCHED and row.at_us >= answer.at_us
