"""Unchanged pages: an answer that repeats the stored version of its page.

Two kinds of answers do. 304, if the request had conditions; and the same status with the same body,
byte for byte. Neither body is stored again: the archive gets a revisit record that refers to the
capture with the body, and nothing is parsed.

Headers can change what is made of the same body: its type, and what it asks of robots. So they are
compared with those of the stored version, which also shows that it can still be read. A 304 that is
of no use becomes a failure, and the page is requested again without conditions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from gossamer.archive.reader import Exchange, read_exchange
from gossamer.archive.warc import RevisitOf, payload_digest
from gossamer.errors import StoreError
from gossamer.fetch.head import Head
from gossamer.records import (
    Answer,
    Failed,
    Fetched,
    Lease,
    Outcome,
    Previous,
    Reason,
    Report,
    Stored,
)

NOT_MODIFIED: Final = 304
_COMPARED: Final = ("content-type", "content-encoding", "x-robots-tag", "link", "content-language")
_MOST_ETAG_CHARS: Final = 512


class RepeatedBody(NamedTuple):
    """The body of an unchanged page, which is stored with an earlier capture."""

    digest: str
    received_bytes: int  # of the body that came and was not stored


class RepeatedVersions:
    """Finds out whether an answer repeats the stored version. Reads one archive."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive

    def judge(
        self, lease: Lease, answer: Answer, *, has_conditions: bool
    ) -> tuple[Answer, RevisitOf | None]:
        """The answer to be archived, and the capture that it repeats, if it does.

        `has_conditions`: the request wanted the page only if it has changed.
        """
        previous = lease.previous
        if previous is None or not isinstance(answer, Fetched):
            return answer, None
        if answer.status == NOT_MODIFIED:
            return self._not_modified(lease, previous, answer, has_conditions=has_conditions)
        is_same = (
            answer.status == previous.status
            and not answer.cut
            and not Head(answer.head).first("location")
            and payload_digest(answer.body) == previous.digest
            and self._has_same_headers(previous, answer.head, _COMPARED)
        )
        return answer, _revisit_of(lease, previous) if is_same else None

    def _not_modified(
        self, lease: Lease, previous: Previous, answer: Fetched, *, has_conditions: bool
    ) -> tuple[Answer, RevisitOf | None]:
        told = Head(answer.head).all("x-robots-tag")
        compared = ("x-robots-tag",) if told else ()
        if has_conditions and self._has_same_headers(previous, answer.head, compared):
            return answer, _revisit_of(lease, previous)
        why = "the stored version cannot be used" if has_conditions else "no condition was sent"
        detail = f"status 304, but {why}"
        return _failed(answer, detail), None

    def _has_same_headers(self, previous: Previous, head: bytes, names: tuple[str, ...]) -> bool:
        """Whether the stored version can be read and has the same values of these headers."""
        try:
            stored = read_exchange(self._archive / previous.file, previous.offset)
        except (StoreError, OSError):
            return False
        if not isinstance(stored.answer, Fetched) or stored.revisit_of is not None:
            return False
        before, now = Head(stored.answer.head), Head(head)
        return all(before.all(name) == now.all(name) for name in names)


def _revisit_of(lease: Lease, previous: Previous) -> RevisitOf:
    return RevisitOf(lease.url, previous.at_us, previous.digest)


def _failed(answer: Fetched, detail: str) -> Failed:
    url, at_us, took_s = answer.url, answer.at_us, answer.took_s
    return Failed(url, Reason.PROTOCOL, detail, at_us, took_s, answer.status)


def repeated_in(exchange: Exchange) -> RepeatedBody | None:
    """The body that an exchange of the archive repeats; None if it has its own."""
    if exchange.revisit_of is None:
        return None
    return RepeatedBody(exchange.revisit_of.digest, exchange.body_bytes)


def unchanged_report(
    lease: Lease, answer: Fetched, stored: Stored, repeated: RepeatedBody
) -> Report:
    """The report of a page that is as its previous version. Its headers may have new validators."""
    head = Head(answer.head)
    return Report(
        lease=lease,
        outcome=Outcome.FETCHED,
        at_us=answer.at_us,
        took_s=answer.took_s,
        stored=stored,
        status=answer.status,
        size_bytes=repeated.received_bytes,
        digest=repeated.digest,
        modified_at=head.first("last-modified"),
        etag=etag_of(head),
        is_unchanged=True,
    )


def etag_of(head: Head) -> str:
    """The ETag of a response; empty if it is too long to be sent back."""
    etag = head.first("etag")
    return etag if len(etag) <= _MOST_ETAG_CHARS else ""


def is_server_error(lease: Lease, status: int) -> bool:
    """Whether a visit found the server failing, which says nothing of the page."""
    return lease.previous is not None and status >= 500 > lease.previous.status
