"""The rows of the state: one Struct per kind, which defines the fields and their order on disk.

Rows are msgpack arrays without their trailing empty fields (`base/packing.py`). A new field is one
line at the end of its Struct, with a default: rows written before it still read. A URL's row starts
with three plain bytes (standing, depth), because admitting a link looks at nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Container
from enum import IntEnum
from operator import attrgetter
from typing import Final, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import astuple

from gossamer.base.packing import pack, pack_row, unpack, unpacker
from gossamer.frontier.levels.level import Level
from gossamer.records import Found, Outcome, Previous, Reason, Report


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
# Too deep by this path, marked nofollow on this page, at the end of a long chain, behind pages that
# brought nothing: the next page that links here may say otherwise.
LIFTABLE: Final = frozenset({Reason.DEPTH, Reason.NOFOLLOW, Reason.REDIRECTS, Reason.TRAP})
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
MAX_DEPTH: Final = 0xFFFF


class UrlRow(Struct):
    """All that is known of one URL. Changed only by the frontier.

    The first two fields are the plain bytes at the start of the row, the others its array. Fields
    that a report has, too, are copied from it by name (`learn`).
    """

    standing: Standing
    depth: int
    url: str
    # Where it stands in its host's queue; empty when it does not. A fetched page that has a place
    # waits for another visit, in the table VISIT.
    place: bytes = b""
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
    etag: str = ""
    body_us: int = 0  # of the capture that has the body; 0: it is the last one
    changed_us: int = 0  # when a change was seen last; 0: never
    visits: int = 0  # after the first
    rate_shape: float = 0.0  # what is known of how often it changes (`policies/refresh/`)
    rate_scale: float = 0.0
    missed: int = 0  # visits in a row that failed, of a page that was fetched before
    hint_us: int = 0  # when a sitemap or feed says that it was changed
    gone_us: int = 0  # since when it answers 404 or 410, of a page that was there
    template: int = 0  # of a page that has changed (`records.PageChange`)
    missed_us: int = 0  # when a visit failed last, and why
    missed_reason: str = ""
    missed_detail: str = ""
    next_us: int = 0  # about when it is visited next; -1: never, it changes too often; 0: unknown
    named_bytes: int = 0  # of a file that is only listed: its length by the headers; 0: unknown
    # By the metric of `limits.importance`: of a page that left, when it did; of others at the last
    # end of a crawl with a threshold or a limited buffer. 0: unknown.
    importance: float = 0.0
    run: int = 0  # how long its line of descent brought nothing new (`policies/traps/yields.py`)

    def encode(self) -> bytes:
        head = _HEAD.pack(self.standing, min(self.depth, MAX_DEPTH))
        return head + pack_row(astuple(self)[2:])

    @classmethod
    def decode(cls, row: bytes) -> Self:
        """Raises ValueError or TypeError when these are no bytes of `encode`."""
        if len(row) <= _HEAD.size or row[0] >= len(_STANDINGS):
            raise ValueError(f"{row[:3].hex()} is no standing and depth")
        return cls(_STANDINGS[row[0]], depth_of(row), *unpack(row[_HEAD.size :]))

    @property
    def outcome(self) -> Outcome:
        return OUTCOME[self.standing]

    @property
    def version_us(self) -> int:
        """When the stored version was captured; `at_us` is when it was last seen."""
        return self.body_us or self.at_us

    @property
    def waits(self) -> bool:
        """Whether it is to be requested: it is in a queue, or waits for a time."""
        return bool(self.place or self.due_us)

    def is_said_by(self, report: Report) -> bool:
        """Whether this report is the one that the row was made from: the stored version of a
        fetched page, or the last outcome of any other URL."""
        at_us = self.version_us if self.standing == Standing.FETCHED else self.at_us
        return at_us == report.at_us and self.outcome is report.outcome

    @property
    def has_entry(self) -> bool:
        """Whether an index, if there is one, has this page."""
        return self.standing == Standing.FETCHED and may_index(self.status, self.robots)


def may_index(status: int, robots: Container[str]) -> bool:
    """Whether a page may be in the index: it is there, and does not ask to stay out."""
    return status == 200 and "noindex" not in robots


def queued(
    found: Found, place: bytes, first_us: int, later: int = 0, level: Level | None = None
) -> tuple[bytes, bytes]:
    """The row of a URL just admitted, and its entry in the queue."""
    url, key, depth, via, redirects, _ = found
    entry = QueueEntry(key, url, depth, 0, redirects, via, later)
    if level is None:
        return queued_row(url, depth, place, via, first_us), entry.encode()
    run, number, is_first, is_trial = level
    row = UrlRow(Standing.QUEUED, depth, url, place, via, first_us)
    row.run = run
    entry = entry._replace(run=run, level=number, is_first=is_first, is_trial=is_trial)
    return row.encode(), entry.encode()


def queued_row(url: str, depth: int, place: bytes, via: bytes, first_us: int) -> bytes:
    """The row of a URL just admitted."""
    return UrlRow(Standing.QUEUED, depth, url, place, via, first_us).encode()


def refused(
    found: Found, standing: Standing, reason: str, detail: str, at_us: int, run: int = 0
) -> bytes:
    """The row of a URL that is refused when it is found."""
    url, _, depth, via, redirects, _ = found
    row = UrlRow(standing, depth, url, b"", via, at_us, redirects)
    row.reason, row.detail, row.at_us, row.run = reason, detail, at_us, run
    return row.encode()


# What a report says in another form than a row does, `learn` copies by hand.
_REPORTED: Final = tuple(
    name
    for name in UrlRow.__struct_fields__
    if name in Report.__annotations__ and name not in {"reason", "robots"}
)
_reported_values: Final = attrgetter(*_REPORTED)


def learn(row: UrlRow, report: Report) -> None:
    """Copy what a report says into the row of its URL."""
    row.standing = STANDING[report.outcome]
    row.tries = report.lease.tries
    row.reason = report.reason or ""
    row.robots = robots_of(report)
    for name, value in zip(_REPORTED, _reported_values(report), strict=True):
        setattr(row, name, value)


_HISTORY: Final = (
    "body_us", "changed_us", "visits", "rate_shape", "rate_scale", "hint_us", "gone_us", "template",
)  # fmt: skip


def keep_history(row: UrlRow, before: UrlRow) -> None:
    """Copy what a row says of earlier versions into the row that takes its place."""
    for name in _HISTORY:
        setattr(row, name, getattr(before, name))


def robots_of(report: Report) -> str:
    """What a page asks of robots, as its row says it."""
    return " ".join(sorted(report.robots)) if report.robots else ""


class RowStart(Struct, array_like=True):
    """The first fields of a URL's row, which are read in a fifth of the time."""

    url: str
    place: bytes = b""
    via: bytes = b""
    first_us: int = 0


_unpack_start: Final = unpacker(RowStart)


def start_of(row: bytes) -> RowStart:
    """The first fields of a row."""
    return _unpack_start(row[_HEAD.size :])


class _UrlOnly(Struct, array_like=True):
    url: str


_unpack_url: Final = unpacker(_UrlOnly)


def url_in(row: bytes) -> str:
    """The URL of a row, which is the first field of its array."""
    return _unpack_url(row[_HEAD.size :]).url


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
    # levels by which it comes later than its depth says, for an order whose scores can change
    later: int = 0
    is_visit: bool = False  # the page was fetched before; the entry is in the table VISIT
    run: int = 0  # as in its row
    level: int = 0  # behind the URLs of all smaller levels (`frontier/levels/`)
    is_first: bool = False  # of the new URLs of a page that brought nothing new
    is_trial: bool = False  # it has the place of level 0
    anchor: str = ""  # of the link that led here, and the text around it: only for an order of a
    context: str = ""  # plug-in that uses them

    def encode(self) -> bytes:
        return pack_row(self)

    @classmethod
    def decode(cls, row: bytes) -> QueueEntry:
        """Raises ValueError when these are no bytes of `encode`."""
        return _unpack_entry(row)


_unpack_entry: Final = unpacker(QueueEntry)


class HostRow(Struct, array_like=True):
    """What is known of one host. Its clocks are wall time, so they outlive the process."""

    name: str
    known: int = 0
    queued: int = 0  # in the table QUEUE; URLs that wait for their time are not among them
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
    visits: int = 0  # in the table VISIT: fetched pages that wait for another visit

    @property
    def to_request(self) -> int:
        """Entries in its two queues."""
        return self.queued + self.visits

    @property
    def pages(self) -> int:
        """Answers that are pages: what limits count."""
        return self.fetched - self.redirects

    def encode(self) -> bytes:
        return pack_row(astuple(self))

    @classmethod
    def decode(cls, row: bytes) -> HostRow:
        """Raises ValueError when these are no bytes of `encode`."""
        return _unpack_host(row)


_unpack_host: Final = unpacker(HostRow)


class CaptureRow(Struct, array_like=True, frozen=True):
    """One capture of a URL and where it lies in the archive."""

    file: str
    offset: int = 0  # of the response record
    length: int = 0  # to the end of the exchange
    status: int = 0
    type: str = ""
    digest: str = ""
    size_bytes: int = 0

    def encode(self) -> bytes:
        return pack_row(astuple(self))

    @classmethod
    def decode(cls, row: bytes) -> CaptureRow:
        """Raises ValueError when these are no bytes of `encode`."""
        return _unpack_capture(row)


_unpack_capture: Final = unpacker(CaptureRow)


def capture_row(report: Report) -> bytes:
    """The row of what a fetch brought."""
    stored = report.stored
    return CaptureRow(
        stored.file, stored.response, stored.end - stored.response, report.status, report.type,
        report.digest, report.size_bytes,
    ).encode()  # fmt: skip


class SitemapRow(Struct, array_like=True, frozen=True):
    """A sitemap that is wanted, or was fetched; in the table META."""

    url: str
    via: str
    hops: int
    level: int
    tries: int
    is_done: bool
    previous: Previous | None = None  # the last version that was stored whole

    def encode(self) -> bytes:
        return pack(self)

    @classmethod
    def decode(cls, row: bytes) -> SitemapRow:
        """Raises ValueError when these are no bytes of `encode`."""
        return _unpack_sitemap(row)


_unpack_sitemap: Final = unpacker(SitemapRow)


class DuplicateRow(Struct, array_like=True, frozen=True):
    """A page that is a duplicate; in the table DUPLICATE, by the key of its URL."""

    first: bytes  # key of the page that it is a duplicate of, which is no duplicate itself
    mode: str
    similarity: float = 1.0

    def encode(self) -> bytes:
        return pack(self)

    @classmethod
    def decode(cls, row: bytes) -> DuplicateRow:
        """Raises ValueError when these are no bytes of `encode`."""
        return _unpack_duplicate(row)


_unpack_duplicate: Final = unpacker(DuplicateRow)


def time_key(wall_us: int) -> bytes:
    """Wall time as bytes that sort as it does."""
    return wall_us.to_bytes(8, "big")


def time_of(key: bytes) -> int:
    return int.from_bytes(key[:8], "big")
