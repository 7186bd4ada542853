"""What the rows of the state hold, and their bytes.

Rows are msgpack arrays without their trailing empty fields, so a queued URL costs little more
than its own characters. A URL's row starts with three plain bytes (standing, depth), because
admitting a link looks at nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Container
from dataclasses import dataclass, fields
from enum import IntEnum
from operator import attrgetter
from typing import Any, Final, NamedTuple, Self

import msgpack

from gossamer.records import Outcome, Reason, Report


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
# Too deep by this path, marked nofollow on this page, at the end of a long chain: the next page
# that links here may say otherwise.
LIFTABLE: Final = frozenset({Reason.DEPTH, Reason.NOFOLLOW, Reason.REDIRECTS})
# What `crawl/admission.py` says: a change of scope, bans or traps may change it.
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
MAX_DEPTH: Final = 0xFFFF


def _pack(values: list[Any]) -> bytes:
    while len(values) > 1 and not values[-1]:
        values.pop()
    packed: bytes = msgpack.packb(values)
    return packed


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
        packed: bytes = msgpack.packb(values) if values[-1] else _pack(list(values))
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


def queued_row(url: str, depth: int, place: bytes, via: bytes, first_us: int) -> bytes:
    """The row of a URL just admitted: the common case of `UrlRow.encode`, made quickly."""
    packed: bytes = msgpack.packb((url, place, via, first_us))
    return _HEAD.pack(0, min(depth, MAX_DEPTH)) + packed


def refused_row(row: UrlRow) -> bytes:
    """The row of a URL that is refused when it is found: `UrlRow.encode`, made quickly."""
    packed: bytes = msgpack.packb(
        (
            row.url,
            b"",
            row.via,
            row.first_us,
            row.redirects,
            0,
            row.reason,
            row.detail,
            0,
            row.at_us,
        )
    )
    return _HEAD.pack(row.standing, min(row.depth, MAX_DEPTH)) + packed


def url_in(row: bytes) -> str:
    """The URL of a row, which is its first field."""
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
        packed: bytes = msgpack.packb(self) if self.via else _pack(list(self))
        return packed

    @classmethod
    def decode(cls, row: bytes) -> Self:
        return cls(*msgpack.unpackb(row))


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
    return _pack(
        [
            stored.file,
            start,
            stored.end - start,
            report.status,
            report.type,
            report.digest,
            report.size_bytes,
        ]
    )


def time_key(wall_us: int) -> bytes:
    """Wall time as bytes that sort as it does."""
    return wall_us.to_bytes(8, "big")


def time_of(key: bytes) -> int:
    return int.from_bytes(key[:8], "big")
