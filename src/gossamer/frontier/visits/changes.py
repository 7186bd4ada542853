"""Note what a visit found changed: a row in the table CHANGE and a time in the row of the URL.

A first crawl writes no rows. They begin with the first visit of a page that was fetched before; the
time of that visit is in META, and pages that are found after it are new. So a rebuild, which sees
the same visits in the same order, writes the same rows.

Rows have the time of their visit, and a visit that took long is committed after later ones. So each
change has a number, too, in the order of the commits: whoever tells others of changes goes by that.

A page that is gone here and whose body is new there has moved. Bodies of pages that are gone or new
are noted by their digests for that, whichever is seen first.
"""

from __future__ import annotations

from typing import Final

from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.known_urls import KnownUrls
from gossamer.frontier.meta_keys import BODY_PREFIX, CHANGES_KEY, NOISE_PREFIX
from gossamer.frontier.pending import Pending
from gossamer.frontier.rows import Standing, UrlRow, time_key, time_of
from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.change_rows import ChangeRow, ChangesBegun, change_key, numbered_key
from gossamer.policies.noise import TemplateNoise, without_noise
from gossamer.records import NAMED, ChangeKind, Outcome, Report
from gossamer.urls.keys import KEY_BYTES

GONE: Final = frozenset({404, 410})
_GONE_BODY, _NEW_BODY = b"g", b"n"
_LEAST_BODY_BYTES: Final = 100  # shorter ones are the same by chance
_TEMPLATE_BYTES: Final = 8


class Changes:
    """The changes of one collection. The frontier calls `note` for each visit that has ended."""

    def __init__(self, pending: Pending, known: KnownUrls) -> None:
        self._pending = pending
        self._known = known
        begun = ChangesBegun.decode(pending.find(StateTable.META, CHANGES_KEY))
        self._from_us = begun.from_us  # 0: no page was visited twice
        self._number = begun.number

    def note(self, before: UrlRow | None, row: UrlRow, report: Report) -> None:
        """A visit has ended. `before` is the row as it was, of a URL that was fetched before; `row`
        is as it is now, and the caller puts it. Sets `changed_us` if the change counts. An imported
        capture is no visit."""
        if report.outcome is not Outcome.FETCHED or report.lease.source:
            return
        if before is not None and not self._from_us:
            self._from_us = report.at_us
            self._put_begun()
        if before is not None and _is_same(before, row, report):
            self._learn_noise(row, report)
        elif before is not None:
            self._note_visit(before, row, report)
        elif self._from_us and _is_page(row) and self._is_new(row, report):
            self._note_new(row, report)

    # -- pages that were known

    def _note_visit(self, before: UrlRow, row: UrlRow, report: Report) -> None:
        kind = change_kind(before, row)
        if kind is None or (kind is ChangeKind.NEW and report.lease.redirects):
            return
        if kind is ChangeKind.NEW:
            self._note_new(row, report)
        elif kind is ChangeKind.CHANGED:
            self._note_changed(before, row, report)
        else:
            target = row.redirect
            if kind is ChangeKind.GONE and (target := self._moved_to(before, report)):
                kind = ChangeKind.MOVED
            row.changed_us = report.at_us
            self._put(report, _row(kind, before, row, target))

    def _note_changed(self, before: UrlRow, row: UrlRow, report: Report) -> None:
        change = report.change
        real = without_noise(change, self._noise(row, report))
        counts = real.counts or before.status != row.status
        if change is not None:
            row.template = change.template
            self._learn_noise(row, report)
        if counts:
            row.changed_us = report.at_us
        self._put(
            report,
            ChangeRow(
                ChangeKind.CHANGED,
                _before_us(before),
                before.status,
                row.status,
                real.words_added,
                real.words_removed,
                change.links_added if change else 0,
                change.links_removed if change else 0,
                change.title_before if change else "",
                is_noise=not counts,
            ),
        )

    def _noise(self, row: UrlRow, report: Report) -> TemplateNoise:
        template = report.change.template if report.change else row.template
        key = noise_key(report.lease.key, template)
        return TemplateNoise.decode(self._pending.find(StateTable.META, key))

    def _learn_noise(self, row: UrlRow, report: Report) -> None:
        if not row.template:
            return  # a page that has never changed
        noise = self._noise(row, report)
        if noise.visited(report.lease.key, report.change):
            key = noise_key(report.lease.key, row.template)
            self._pending.put(StateTable.META, key, noise.encode())

    # -- new pages

    def _is_new(self, row: UrlRow, report: Report) -> bool:
        """Whether it was found after the first second visit, and not by a redirect: then it is the
        new place of another page."""
        is_found = row.via not in (b"", NAMED) and row.first_us >= self._from_us
        return is_found and not report.lease.redirects

    def _note_new(self, row: UrlRow, report: Report) -> None:
        gone = self._find_body(_GONE_BODY, row.digest, row.size_bytes)
        if gone is not None and self._note_found_again(*gone, row, report):
            return
        self._put(report, ChangeRow(ChangeKind.NEW, status=row.status))
        self._put_body(_NEW_BODY, row.digest, row.size_bytes, report.lease.key, report.at_us)

    def _note_found_again(self, key: bytes, gone_us: int, row: UrlRow, report: Report) -> bool:
        """The body of a page that is gone is at a new URL: the page has moved."""
        gone = self._known.find(key)
        if gone is None or gone.status not in GONE or key == report.lease.key:
            return False
        at = change_key(gone_us, key)
        told = self._pending.find(StateTable.CHANGE, at)
        before_us = ChangeRow.decode(told).before_us if told else 0
        moved = ChangeRow(ChangeKind.MOVED, before_us, gone.status, gone.status, target=row.url)
        self._put_row(change_key(report.at_us, key), moved)
        return True

    def _moved_to(self, before: UrlRow, report: Report) -> str:
        """The new URL of the body of a page that is gone; else empty, and the body is noted."""
        found = self._find_body(_NEW_BODY, before.digest, before.size_bytes)
        new = self._known.find(found[0]) if found else None
        if new is not None and _is_page(new) and new.digest == before.digest:
            return new.url
        at = (before.digest, before.size_bytes, report.lease.key, report.at_us)
        self._put_body(_GONE_BODY, *at)
        return ""

    def _find_body(self, letter: bytes, digest: str, size_bytes: int) -> tuple[bytes, int] | None:
        if size_bytes < _LEAST_BODY_BYTES or not digest:
            return None
        row = self._pending.find(StateTable.META, _body_key(letter, digest))
        return (row[:KEY_BYTES], time_of(row[KEY_BYTES:])) if row else None

    def _put_body(
        self, letter: bytes, digest: str, size_bytes: int, key: bytes, at_us: int
    ) -> None:
        if size_bytes >= _LEAST_BODY_BYTES and digest:
            row = key + time_key(at_us)
            self._pending.put(StateTable.META, _body_key(letter, digest), row)

    def _put(self, report: Report, row: ChangeRow) -> None:
        self._put_row(change_key(report.at_us, report.lease.key), row)

    def _put_row(self, at: bytes, row: ChangeRow) -> None:
        self._number += 1
        self._pending.put(StateTable.CHANGE, at, row.encode())
        self._pending.put(StateTable.META, numbered_key(self._number), at)
        self._put_begun()

    def _put_begun(self) -> None:
        begun = ChangesBegun(self._from_us, self._number)
        self._pending.put(StateTable.META, CHANGES_KEY, begun.encode())


def change_kind(before: UrlRow, row: UrlRow) -> ChangeKind | None:
    """What the second of two visits found; None if there is nothing to say."""
    was_page, is_page = _is_page(before), _is_page(row)
    if row.redirect:
        return ChangeKind.MOVED if row.redirect != before.redirect else None
    if row.status in GONE:
        return ChangeKind.GONE if was_page or before.redirect else None
    if is_page and not was_page:
        if before.changed_us and (before.redirect or before.status in GONE):
            return ChangeKind.BACK
        return ChangeKind.NEW if before.status in GONE else ChangeKind.CHANGED
    if is_page and was_page:
        return ChangeKind.CHANGED
    return ChangeKind.CHANGED if before.status != row.status else None


def noise_key(key: bytes, template: int) -> bytes:
    """The key in META of what is known of a template, which is one of one host."""
    return NOISE_PREFIX + key[:HOST_BYTES] + template.to_bytes(_TEMPLATE_BYTES, "big")


def _row(kind: ChangeKind, before: UrlRow, row: UrlRow, target: str) -> ChangeRow:
    return ChangeRow(
        kind,
        _before_us(before),
        before.status,
        row.status,
        title_before=before.title if kind is not ChangeKind.BACK else "",
        target=target,
    )


def _before_us(before: UrlRow) -> int:
    return before.body_us or before.at_us


def _is_same(before: UrlRow, row: UrlRow, report: Report) -> bool:
    """Whether a visit found a page as it was: it is not one that is back with its old body."""
    is_same_body = report.is_unchanged or (bool(row.digest) and row.digest == before.digest)
    return is_same_body and _is_page(before) and _is_page(row)


def _is_page(row: UrlRow) -> bool:
    return row.standing == Standing.FETCHED and 200 <= row.status < 300 and not row.redirect


def _body_key(letter: bytes, digest: str) -> bytes:
    return BODY_PREFIX + letter + digest.encode()
