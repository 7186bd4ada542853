"""What node and workers say to each other, as bytes.

A frame is four bytes of length and a msgpack array; its first item names it. Leases and reports
travel as plain tuples in the order of their fields, many to a frame. What both sides know is not
sent: the node keeps the lease that a report answers, and a found URL's depth and via follow from
it. A text travels as the index wants it (`index/prepared.py`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, Final, cast

import msgpack

from gossamer.base.values import dataclass
from gossamer.index.entry import MAX_TEXT_CHARS
from gossamer.index.prepared import Prepared, prepare, unpack_text
from gossamer.records import Found, Lease, Outcome, Page, Purpose, Reason, Report, Stored
from gossamer.workers.process import ProcessedPage

HEADER: Final = struct.Struct(">I")
MAX_FRAME_BYTES: Final = 256 * 2**20

HELLO: Final = 0  # node to worker: settings and names
LEASES: Final = 1  # node to worker: URLs to ask
WRITE_PART: Final = 2  # node to worker: write the links gathered so far
CLOSE: Final = 3  # node to worker: end cleanly
REPORTS: Final = 4  # worker to node: outcomes, in the order of the archive
PART: Final = 5  # worker to node: a part of links is written
ALIVE: Final = 6  # worker to node: nothing new
FAULT: Final = 7  # worker to node: the disk failed; the worker ends
CLOSED: Final = 8  # worker to node: all is written and closed
REREAD: Final = 9  # node to worker: read what another worker archived and left
END_SLOW: Final = 11  # node to worker: others wait for connections, end the slowest answers
COOKIES: Final = 10  # both ways: what sites have changed, in the order of `Cookie`

_MUCH_BYTES: Final = 4_000_000  # of a message, more than which is seldom said
# How msgpack says that an array begins: of two items, of up to 15, and of more.
_TWO: Final = 0x92
_FEW: Final = 15
_FEW_BEGIN: Final = 0x90
_MANY: Final = struct.Struct(">BH")
_MANY_BEGIN: Final = 0xDC

# Of each name its member: to ask the class for it takes half a microsecond.
_OUTCOMES: Final = {str(one): one for one in Outcome}
_PURPOSES: Final = {str(one): one for one in Purpose}
_made: Final = tuple.__new__  # half the time of a call of `Found`
_NOTHING: Final[frozenset[str]] = frozenset()

_lease_values = attrgetter(*(f.name for f in fields(Lease)))
_stored_values = attrgetter(*(f.name for f in fields(Stored)))
# The fields that travel as they are, in their order.
_report_values = attrgetter(
    *(
        f.name
        for f in fields(Report)
        if f.name not in {"lease", "stored", "found", "robots", "sitemaps"}
    )
)


@dataclass(frozen=True, slots=True)
class PartWritten:
    """A part of links, and how far the graph reaches with it."""

    name: str
    rows: int
    covered: dict[str, int]


class _Packing:
    """Values as bytes. One packer for all: to make one, with a buffer of 256 KB, takes longer than
    most messages do."""

    def __init__(self) -> None:
        self._pack: Callable[[Any], bytes] = msgpack.Packer().pack

    def __call__(self, values: Any) -> bytes:
        try:
            packed = self._pack(values)
        except UnicodeEncodeError:  # half of a surrogate pair; to look for it takes a fifth
            packed = cast("bytes", msgpack.packb(values, unicode_errors="surrogatepass"))
        if len(packed) > _MUCH_BYTES:
            self._pack = msgpack.Packer().pack  # a packer keeps its buffer as large as it ever was
        return packed


_packed: Final = _Packing()


def frame(kind: int, *items: Any) -> bytes:
    """One message."""
    body = _packed((kind, *items))
    return HEADER.pack(len(body)) + body


def packed_harvest(processed: ProcessedPage, *, is_indexed: bool) -> bytes:
    """A harvest as a part of a frame, packed while what it holds is at hand."""
    return _packed(harvest_items(processed, is_indexed=is_indexed))


def reports_frame(harvests: Sequence[bytes]) -> bytes:
    """The message of all these harvests."""
    count = len(harvests)
    many = _MANY.pack(_MANY_BEGIN, count) if count > _FEW else bytes((_FEW_BEGIN | count,))
    start = bytes((_TWO, REPORTS)) + many
    size = len(start) + sum(map(len, harvests))
    return b"".join((HEADER.pack(size), start, *harvests))


class Frames:
    """Cuts a stream of bytes into messages."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes | bytearray) -> Iterable[tuple[Any, ...]]:
        """The messages that are whole now."""
        if self._held:
            self._held += data
            if not self._is_whole(self._held, 0):
                return
            data, self._held = self._held, bytearray()
        at = 0
        view = memoryview(data)  # nearly always of whole messages: they are not copied
        try:
            while self._is_whole(data, at):
                start = at + HEADER.size
                at = start + HEADER.unpack_from(data, at)[0]
                yield msgpack.unpackb(
                    view[start:at],
                    use_list=False,
                    strict_map_key=False,
                    unicode_errors="surrogatepass",
                )
        finally:  # whoever failed over one message hears the others
            if at < len(data):
                self._held += view[at:]

    @staticmethod
    def _is_whole(data: bytes | bytearray, at: int) -> bool:
        """Whether all of the message that begins there has come."""
        if len(data) - at < HEADER.size:
            return False
        size: int = HEADER.unpack_from(data, at)[0]
        if size > MAX_FRAME_BYTES:
            raise ValueError(f"a frame of {size} bytes")
        return len(data) - at >= HEADER.size + size


def lease_items(lease: Lease) -> tuple[Any, ...]:
    items: tuple[Any, ...] = _lease_values(lease)
    return items


def lease_of(items: tuple[Any, ...]) -> Lease:
    number, url, key, host, address, purpose, *rest = items
    return Lease(number, url, key, host, address, _PURPOSES[purpose], *rest)


def report_items(report: Report) -> tuple[Any, ...]:
    """A report without its lease. Found URLs: (url, key, flag), flag 1 nofollow, 2 redirect."""
    found = report.found and [
        (url, key, 1 if is_nofollow else 2 if redirects else 0)
        for url, key, _, _, redirects, is_nofollow in report.found
    ]
    return (
        report.lease.number,
        _stored_values(report.stored),
        found,
        tuple(report.robots) if report.robots else (),
        report.sitemaps,
        _report_values(report),
    )


def harvest_items(processed: ProcessedPage, *, is_indexed: bool) -> tuple[Any, ...]:
    """A harvest as the node wants it: links stay with the worker, words only go to an index, and
    no more of them than that takes: 3 MB on the way can be a text of 60."""
    if not is_indexed:
        return ((), *report_items(processed.report))
    page = processed.page
    if page is None:
        return ((None, (), processed.anchors), *report_items(processed.report))
    ready = prepare(page.text[:MAX_TEXT_CHARS])
    return ((ready, page.headings, processed.anchors), *report_items(processed.report))


def harvest_of(items: tuple[Any, ...], lease: Lease) -> ProcessedPage:
    words = items[0]
    report = report_of(items[1:], lease)
    if not words:
        return ProcessedPage(report)
    ready, headings, anchors = words
    if ready is None:
        return ProcessedPage(report, None, (), anchors)
    page = Page(lease.url, "", "", headings)  # by name it would take half as long again
    return ProcessedPage(report, page, (), anchors, Prepared(*ready))


def with_text(processed: ProcessedPage) -> ProcessedPage:
    """A harvest with the text of its page, for whoever wants to read it."""
    page, ready = processed.page, processed.ready
    if page is None or ready is None:
        return processed
    return replace(processed, page=replace(page, text=unpack_text(ready.packed)), ready=None)


def report_of(items: Sequence[Any], lease: Lease) -> Report:
    _, stored, found, robots, sitemaps, values = items
    (
        outcome, at_us, took_s, reason, detail, status, type_, size_bytes, digest, modified_at,
        retry_after_s, title, language, redirect, is_cut, out_links, body, dropped,
        wasted_bytes,
    ) = values  # fmt: skip
    return Report(
        lease, _OUTCOMES[outcome], at_us, took_s, Stored(*stored),
        Reason(reason) if reason else None, detail, status, type_, size_bytes, digest, modified_at,
        retry_after_s, title, language, frozenset(robots) if robots else _NOTHING, redirect, is_cut,
        _found_of(found, lease) if found else (), out_links, body, sitemaps, dropped, wasted_bytes,
    )  # fmt: skip


def _found_of(found: tuple[Any, ...], lease: Lease) -> tuple[Found, ...]:
    via, depth = lease.key, lease.depth + 1
    return tuple(
        [
            _made(Found, (url, key, depth, via, 0, flag == 1))
            if flag != 2
            else Found(url, key, lease.depth, via, lease.redirects + 1)
            for url, key, flag in found
        ]
    )
