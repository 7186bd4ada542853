"""The messages between node and workers, and their bytes.

Each message is one class below; its fields travel in their order. On the socket a message is four
bytes of length and a msgpack array that begins with the tag of its class. Leases and reports are
sent as `records.py` defines them. A page's text is sent in the form that the index needs
(`index/prepared.py`), and its links not at all: the worker writes them (`worker.py`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct, structs

from gossamer.base.packing import pack, unpacker
from gossamer.fetch.cookies import Cookie
from gossamer.index.entry import MAX_TEXT_CHARS
from gossamer.index.prepared import prepare, unpack_text
from gossamer.records import Lease, Page
from gossamer.workers.process import ProcessedPage

HEADER: Final = struct.Struct(">I")
MAX_FRAME_BYTES: Final = 256 * 2**20
_REPORTED: Final = 4  # the tag of `Reported`, by which `reports_in` knows it

T = TypeVar("T")


# -- from the node to a worker


class Hello(Struct, frozen=True, array_like=True, tag=0):
    """The first message: settings in force, names, and the cookies that sites have set."""

    settings: dict[str, Any]
    salt: bytes
    info: dict[str, str]  # for the first record of each WARC file
    run: str
    home: str
    name: str
    cookies: Sequence[Cookie]
    counts_links: bool = False  # the order counts links, also repeated ones


class Leases(Struct, frozen=True, array_like=True, tag=1):
    """URLs to request."""

    leases: Sequence[Lease]


class Reread(Struct, frozen=True, array_like=True, tag=9):
    """Read what another worker archived and did not report."""

    lease: Lease
    file: str
    start: int


class EndSlow(Struct, frozen=True, array_like=True, tag=11):
    """End at most this many of the slowest requests, because other hosts wait for connections."""

    most: int


class Close(Struct, frozen=True, array_like=True, tag=3):
    """Write the remaining data and end."""


# -- from a worker to the node


class Reported(Struct, frozen=True, array_like=True, tag=_REPORTED):
    """The result of a lease. Reports come in the order of the archive."""

    processed: ProcessedPage


class PartWritten(Struct, frozen=True, array_like=True, tag=5):
    """A part of links was written; says how far the graph reaches with it."""

    name: str
    rows: int
    covered: dict[str, int]


class Alive(Struct, frozen=True, array_like=True, tag=6):
    """Sent about once a second."""


class Fault(Struct, frozen=True, array_like=True, tag=7):
    """The disk or the program failed; the worker waits to be killed."""

    what: str
    is_full: bool
    is_read_only: bool


class Closed(Struct, frozen=True, array_like=True, tag=8):
    """Everything is written and closed."""


# -- both ways


class Cookies(Struct, frozen=True, array_like=True, tag=10):
    """Cookies that sites have changed."""

    cookies: Sequence[Cookie]


ToWorker = Hello | Leases | Reread | EndSlow | Close | Cookies
ToNode = Reported | PartWritten | Alive | Fault | Closed | Cookies

read_by_worker: Final[Callable[[memoryview], ToWorker]] = unpacker(ToWorker)
read_by_node: Final[Callable[[memoryview], ToNode]] = unpacker(ToNode)


def frame(message: ToWorker | ToNode) -> bytes:
    """One message as it is sent."""
    body = pack(message)
    return HEADER.pack(len(body)) + body


class Frames(Generic[T]):
    """Cuts a stream of bytes into messages."""

    def __init__(self, read: Callable[[memoryview], T]) -> None:
        self._read = read
        self._held = bytearray()

    def feed(self, data: bytes | bytearray) -> Iterator[T]:
        """The messages that are complete now."""
        if self._held:
            self._held += data
            if not self._is_whole(self._held, 0):
                return
            data, self._held = self._held, bytearray()
        at = 0
        view = memoryview(data)  # nearly always whole messages, which are not copied
        try:
            while self._is_whole(data, at):
                start = at + HEADER.size
                at = start + HEADER.unpack_from(data, at)[0]
                yield self._read(view[start:at])
        finally:  # after a failure with one message the others are still read
            if at < len(data):
                self._held += view[at:]

    @staticmethod
    def _is_whole(data: bytes | bytearray, at: int) -> bool:
        """Whether the message that begins there is complete."""
        if len(data) - at < HEADER.size:
            return False
        size: int = HEADER.unpack_from(data, at)[0]
        if size > MAX_FRAME_BYTES:
            raise ValueError(f"a frame of {size} bytes")
        return len(data) - at >= HEADER.size + size


def reports_in(data: bytes) -> int:
    """The number of reports, if they are complete and nothing else has come with them; else 0."""
    count = at = 0
    while len(data) > at + HEADER.size + 1:
        if data[at + HEADER.size + 1] != _REPORTED:  # the tag, after the head of the array
            return 0
        at += HEADER.size + HEADER.unpack_from(data, at)[0]
        count += 1
    return count if at == len(data) else 0


def for_node(
    processed: ProcessedPage, *, is_indexed: bool, has_anchors: bool = False
) -> ProcessedPage:
    """The part of a page that the node needs. Text is sent only for an index, and no more than it
    uses: 3 MB on the wire can be a text of 60 MB. `has_anchors`: the order looks at anchor texts.
    """
    report, page = processed.report, processed.page
    if not is_indexed:
        return ProcessedPage(report, anchors=processed.anchors if has_anchors else b"")
    if page is None:
        return ProcessedPage(report, anchors=processed.anchors)
    words = Page(base=report.lease.url, headings=page.headings)
    ready = prepare(page.text[:MAX_TEXT_CHARS])
    return ProcessedPage(report, words, (), processed.anchors, ready)


def with_text(processed: ProcessedPage) -> ProcessedPage:
    """A page with its text, for a consumer that reads it."""
    page, ready = processed.page, processed.ready
    if page is None or ready is None:
        return processed
    page = structs.replace(page, text=unpack_text(ready.packed))
    return structs.replace(processed, page=page, ready=None)
