"""What the rows of the state hold, and their bytes.

Rows are msgpack arrays without their trailing empty fields, so a queued URL costs little more
than its own characters. A URL's row starts with three plain bytes (standing, depth), because
admitting a link looks at nothing else. Those rows that every page brings are made in `_reports.c`
where it is compiled, and by the functions here where it is not, or where it declines.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Sequence
from dataclasses import fields
from enum import IntEnum
from operator import attrgetter
from typing import Any, Final, NamedTuple, Self

import msgpack

from gossamer.base.native import load
from gossamer.base.values import dataclass
from gossamer.records import Found, Outcome, Reason, Report


class Standing(IntEnum):
    """A URL's outcome in one byte; refusals that a better link may lift stand apart."""

    QUEUED = 0
    FETCHED = 1
    FAILED = 2
    REFUSED = 3
    REFUSED_FOR_NOW = 4


OUTCOME: Final = {
    Standing.QUEUED: Outcome.QUEUED,
    Standing.FETCHED: Outcome.FETCHED,
    Standing.FAILED: Outcome.FAILED,
    Standing.REFUSED: Outcome.REFUSED,
    Standing.REFUSED_FOR_NOW: Outcome.REFUSED,
}
STANDING: Final = {
    Outcome.FETCHED: Standing.FETCHED,
    Outcome.FAILED: Standing.FAILED,
    Outcome.REFUSED: Standing.REFUSED,
}
# Too deep by this path, marked nofollow on this page, at the end of a long chain: the next page
# that links here may say otherwise.
LIFTABLE: Final = frozenset({Reason.DEPTH, Reason.NOFOLLOW, Reason.REDIRECTS})
# What `schedule/admission.py` says: a change of scope, bans or traps may change it.
JUDGED_ALONE: Final = frozenset(
    {
        Reason.SCOPE,
        Reason.DEPTH,
        Reason.BANNED,
        Reason.NOFOLLOW,
        Reason.TRAP,
        Reason.UNSAFE,
        Reason.PORT,
        Reason.REDIRECTS,
    }
)
_STANDINGS: Final = tuple(Standing)  # to ask the class for one takes longer than to read a row
_HEAD: Final = struct.Struct(">BH")
_c: Final = load("gossamer.frontier._reports")
MAX_DEPTH: Final = 0xFFFF
_ENTRY_ITEMS: Final = 6
_made: Final = tuple.__new__
# How msgpack begins an array of more than 15 items, a text of up to 31 bytes and one of up to 255.
_MANY: Final = 0xDC
_SHORT_TEXT: Final = 0xA0
_TEXT: Final = 0xD9


# One packer for all rows: `packb` makes one for each, which takes as long as packing with it.
_packed: Final[Callable[[Sequence[Any]], bytes]] = msgpack.Packer().pack


def _pack(values: list[Any]) -> bytes:
    while len(values) > 1 and not values[-1]:
        values.pop()
    return _packed(values)


@dataclass(slots=True)
class UrlRow:
    """All that is known of one URL. Changed only by the frontier. Made with the names of its
    fields, but for `decode`: there they would take four times as long."""

    standing: Standing
    depth: int
    url: str
    place: bytes = b""  # where it stands in its host's queue; empty when it does not
    via: bytes = b""
    first_us: int = 0
    redirects: int = 0
    tries: int = 0
    reason: str = ""
    detail: str = ""
    due_us: int = 0
    at_us: int = 0
    status: int = 0
    type: str = ""
    size_bytes: int = 0
    digest: str = ""
    title: str = ""
    language: str = ""
    modified_at: str = ""
    robots: str = ""
    redirect: str = ""
    out_links: int = 0
    is_cut: bool = False
    took_s: float = 0.0

    def encode(self) -> bytes:
        values = _url_values(self)
        packed = _packed(values) if values[-1] else _pack(list(values))
        return _HEAD.pack(self.standing, min(self.depth, MAX_DEPTH)) + packed

    @classmethod
    def decode(cls, row: bytes) -> Self:
        """Raises ValueError or TypeError when these are no bytes of `encode`."""
        if len(row) <= _HEAD.size or row[0] >= len(_STANDINGS):
            raise ValueError(f"{row[:3].hex()} is no standing and depth")
        return cls(_STANDINGS[row[0]], depth_of(row), *msgpack.unpackb(row[_HEAD.size :]))

    @property
    def outcome(self) -> Outcome:
        return OUTCOME[self.standing]

    @property
    def has_entry(self) -> bool:
        """Whether an index, if there is one, has this page."""
        return self.standing == Standing.FETCHED and may_index(self.status, self.robots)


def may_index(status: int, robots: Container[str]) -> bool:
    """Whether a page may be in the index: it is there, and does not ask to stay out."""
    return status == 200 and "noindex" not in robots


_URL_FIELDS: Final = tuple(f.name for f in fields(UrlRow))[2:]
# In one call: a list of getattr, and `fields` for each row, took a tenth of the scheduling.
_url_values = attrgetter(*_URL_FIELDS)


def queued(found: Found, place: bytes, first_us: int) -> tuple[bytes, bytes]:
    """The row of a URL just admitted, and its entry in the queue."""
    made: tuple[bytes, bytes] | None = _c.queued(found, place, first_us) if _c else None
    if made is not None:
        return made
    url, key, depth, via, redirects, _ = found
    entry = QueueEntry(key, url, depth, 0, redirects, via).encode()
    return queued_row(url, depth, place, via, first_us), entry


def queued_row(url: str, depth: int, place: bytes, via: bytes, first_us: int) -> bytes:
    """The row of a URL just admitted: the common case of `UrlRow.encode`, made quickly."""
    head = _HEAD.pack(0, min(MAX_DEPTH, depth))
    return head + _packed((url, place, via, first_us))


def refused(found: Found, standing: Standing, reason: str, detail: str, at_us: int) -> bytes:
    """The row of a URL that is refused when it is found."""
    made: bytes | None = _c.refused(found, standing, reason, detail, at_us) if _c else None
    return refused_row(found, standing, reason, detail, at_us) if made is None else made


def refused_row(found: Found, standing: Standing, reason: str, detail: str, at_us: int) -> bytes:
    """The same in Python: `UrlRow.encode`, made quickly."""
    url, _, depth, via, redirects, _ = found
    head = _HEAD.pack(standing, min(MAX_DEPTH, depth))
    return head + _packed((url, b"", via, at_us, redirects, 0, reason, detail, 0, at_us))


def settled(row: bytes, report: Report) -> tuple[bytes, bytes, bytes] | None:
    """Of a row as `queued` made it the place, the row after its report, and the row of the capture,
    empty where nothing was fetched; None for all others."""
    made: tuple[bytes, bytes, bytes] | None = _c.settled(row, report) if _c else None
    if made is not None:
        return made
    values = queued_values(row)
    if values is None:
        return None
    capture = capture_row(report) if report.outcome is Outcome.FETCHED else b""
    return values[1], settled_row(row, values, report), capture


def queued_values(row: bytes) -> tuple[str, bytes, bytes, int] | None:
    """URL, place, via and first_us of a row as `queued_row` made it; None for all others."""
    if row[0]:
        return None
    values = msgpack.unpackb(row[3:], use_list=False)
    return values if len(values) == 4 and values[1] else None


def settled_row(row: bytes, values: tuple[str, bytes, bytes, int], report: Report) -> bytes:
    """A row of `queued_row`, with its values, after its report: `UrlRow.encode`, made quickly."""
    url, _, via, first_us = values
    settled = [
        url, b"", via, first_us, 0, report.lease.tries, report.reason or "", report.detail, 0,
        report.at_us, report.status, report.type, report.size_bytes, report.digest, report.title,
        report.language, report.modified_at, robots_of(report), report.redirect, report.out_links,
        report.is_cut, report.took_s,
    ]  # fmt: skip
    head = STANDING[report.outcome].to_bytes(1, "big") + row[1:3]
    return head + (_packed(settled) if report.took_s else _pack(settled))


def learn(row: UrlRow, report: Report) -> None:
    """Copy what a report says into the row of its URL."""
    row.standing = STANDING[report.outcome]
    row.reason, row.detail = report.reason or "", report.detail
    row.at_us, row.took_s = report.at_us, report.took_s
    row.tries = report.lease.tries
    row.status, row.type, row.size_bytes = report.status, report.type, report.size_bytes
    row.digest, row.modified_at = report.digest, report.modified_at
    row.title, row.language = report.title, report.language
    row.robots = robots_of(report)
    row.redirect, row.out_links, row.is_cut = report.redirect, report.out_links, report.is_cut


def robots_of(report: Report) -> str:
    """What a page asks of robots, as its row says it."""
    return " ".join(sorted(report.robots)) if report.robots else ""


def url_in(row: bytes) -> str:
    """The URL of a row, which is its first field."""
    at = 6 if row[3] == _MANY else 4  # behind the head, and that of the array
    kind = row[at]
    if kind == _TEXT:
        return row[at + 2 : at + 2 + row[at + 1]].decode()
    if _SHORT_TEXT <= kind < _SHORT_TEXT + 32:
        return row[at + 1 : at + 1 + kind - _SHORT_TEXT].decode()
    url: str = msgpack.unpackb(row[_HEAD.size :])[0]
    return url


def standing_of(row: bytes) -> int:
    return row[0]


def depth_of(row: bytes) -> int:
    return row[1] << 8 | row[2]


class QueueEntry(NamedTuple):
    """A URL in its host's queue, with what a lease needs."""

    key: bytes
    url: str
    depth: int = 0
    tries: int = 0
    redirects: int = 0
    via: bytes = b""

    def encode(self) -> bytes:
        return _packed(self) if self.via else _pack(list(self))

    @classmethod
    def decode(cls, row: bytes) -> Self:
        values = msgpack.unpackb(row, use_list=False)
        # Nearly all are whole, and a tuple is made of one in half the time.
        return _made(cls, values) if len(values) == _ENTRY_ITEMS else cls(*values)


@dataclass(slots=True)
class HostRow:
    """What is known of one host. Its clocks are wall time, so they outlive the process."""

    name: str
    known: int = 0
    queued: int = 0  # entries in its queue; URLs that wait for their time are not among them
    fetched: int = 0
    failed: int = 0
    refused: int = 0
    size_bytes: int = 0
    waiting: int = 0  # URLs in the table DUE
    free_us: int = 0  # not to be asked before
    faults: int = 0  # failures to resolve or connect, in a row
    busy: int = 0  # answers 429 or 503, in a row
    trouble: str = ""  # why it is not asked, for people
    crawl_delay_s: float = 0.0  # what its robots.txt asks for
    redirects: int = 0  # of the fetched, those that only led elsewhere

    @property
    def pages(self) -> int:
        """Answers that are pages: what limits count."""
        return self.fetched - self.redirects

    def encode(self) -> bytes:
        return _pack(list(_host_values(self)))

    @classmethod
    def decode(cls, row: bytes) -> Self:
        return cls(*msgpack.unpackb(row))


_host_values = attrgetter(*(f.name for f in fields(HostRow)))


@dataclass(frozen=True, slots=True)
class CaptureRow:
    """One capture of a URL and where it lies in the archive."""

    file: str
    offset: int = 0  # of the response record
    length: int = 0  # to the end of the exchange
    status: int = 0
    type: str = ""
    digest: str = ""
    size_bytes: int = 0

    def encode(self) -> bytes:
        return _pack(list(_capture_values(self)))

    @classmethod
    def decode(cls, row: bytes) -> Self:
        return cls(*msgpack.unpackb(row))


CAPTURE_FIELDS: Final = tuple(f.name for f in fields(CaptureRow))
_capture_values = attrgetter(*CAPTURE_FIELDS)


def capture_row(report: Report) -> bytes:
    """The row of what a fetch brought: `CaptureRow.encode`, made quickly."""
    stored = report.stored
    start = stored.response
    values = (
        stored.file, start, stored.end - start, report.status, report.type, report.digest,
        report.size_bytes,
    )  # fmt: skip
    return _packed(values) if report.size_bytes else _pack(list(values))


def time_key(wall_us: int) -> bytes:
    """Wall time as bytes that sort as it does."""
    return wall_us.to_bytes(8, "big")


def time_of(key: bytes) -> int:
    return int.from_bytes(key[:8], "big")
