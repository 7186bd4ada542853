"""Collect one response from libcurl's callbacks: lines of a head, then pieces of a body.

libcurl's header callback also delivers 1xx responses and trailers: the last block before the body
is the head. The judge is called when a head is complete. Room is requested before bytes are held:
once for a short body, else for each piece.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pycurl

from gossamer.fetch.head import Head, status_of

MAX_INTERIM: Final = 20  # 1xx blocks before the response; browsers see one or two
SHORT_BYTES: Final = 128 * 1024  # limit of bodies for which room is requested once
STOP: Final = -1  # tells libcurl to abort; any number but the length does
PAUSE: Final[int] = pycurl.WRITEFUNC_PAUSE
_EMPTY_LINES: Final = (b"\r\n", b"\n")
_NO_HEADERS: Final = Head(b"")


class ResponseIntake:
    """Collects many responses, one after the other.

    `head` is the last complete head, `status` its status: 0 before it, and if it has none.
    `is_cut`: the body was longer than the limit and is not complete. `is_watched`: `on_start` must
    see the first piece of a body; it is set for one head only.
    """

    def __init__(
        self,
        max_header_bytes: int,
        may_hold: Callable[[int], bool],
        on_head: Callable[[], int | None],
        on_start: Callable[[bytes], object],
        on_fault: Callable[[str], object],
    ) -> None:
        """`on_head` is called when a head other than 1xx is complete; its result goes to libcurl.

        `on_start` gets the first piece of a body if `is_watched`, and returns whether it is
        unwanted. `on_fault` gets a sentence about the fault before libcurl is told to abort.
        """
        self._max_header_bytes = max_header_bytes
        self._may_hold = may_hold
        self._on_head = on_head
        self._on_start = on_start
        self._on_fault = on_fault
        self._passed: str | None = None
        self.begin(0)

    def begin(self, max_body_bytes: int) -> None:
        """Reset for the next response."""
        self._max_body_bytes = max_body_bytes
        self._header_bytes = self._interim = self.status = 0
        self._is_whole = self.is_watched = self.is_cut = False
        self.end()

    def end(self) -> None:
        """Free the body; the other facts stay."""
        self.head = b""
        self._headers = _NO_HEADERS
        self._lines: list[bytes] = []
        self._pieces: list[bytes] = []
        self._body_bytes = self._granted = 0

    def taken(self) -> bytes:
        """The received body. It is removed from here."""
        pieces, self._pieces = self._pieces, []
        self._body_bytes = self._granted = 0
        return b"".join(pieces)

    def let_pass(self, content_type: str) -> None:
        """Skip `on_head` for a status 200 with exactly this type, now and in later responses, if it
        sets no cookies and its Content-Length is within the limit.
        """
        self._passed = content_type

    def _passes(self) -> bool:
        head = self._headers
        return (
            self.status == 200
            and head.first("content-type") == self._passed
            and not head.all("set-cookie")
            and (head.length() or 0) <= self._max_body_bytes
        )

    def header(self, line: bytes) -> int | None:
        """Take the next header line. Returns the instruction for libcurl; None to continue."""
        self._header_bytes += len(line)
        if self._header_bytes > self._max_header_bytes:
            return self._fail(f"more than {self._max_header_bytes} bytes of headers")
        if self._is_whole:
            if self._body_bytes or not line.startswith(b"HTTP/"):
                return None  # a trailer
            self._lines, self._is_whole, self.is_watched = [], False, False
        self._lines.append(line)
        return self._head_is_whole() if line in _EMPTY_LINES else None

    def _head_is_whole(self) -> int | None:
        self._is_whole = True
        self.head = b"".join(self._lines)
        self._headers = Head(self.head)
        self.status = status_of(self.head)
        if self.status >= 200:
            return None if self._passes() else self._on_head()
        self._interim += 1
        if self._interim > MAX_INTERIM:
            return self._fail(f"more than {MAX_INTERIM} interim responses")
        return None

    def _fail(self, sentence: str) -> int:
        self._on_fault(sentence)
        return STOP

    def body(self, piece: bytes) -> int | None:
        """Take the next piece of the body; as above."""
        is_first = self.is_watched and not self._body_bytes and 200 <= self.status < 300
        if is_first and self._on_start(piece):
            return STOP
        if not self._has_room(len(piece)):
            return PAUSE  # libcurl delivers the same piece again when the transfer resumes
        left = self._max_body_bytes - self._body_bytes
        self._pieces.append(piece[:left])
        self._body_bytes += min(len(piece), left)
        if len(piece) <= left:
            return None
        self.is_cut = True
        return STOP

    def _has_room(self, count: int) -> bool:
        needed = self._body_bytes + count
        if not self._granted:
            length = self._headers.length() or 0
            needed = max(needed, length if length <= SHORT_BYTES else 0)
        if needed > self._granted:
            if not self._may_hold(needed - self._granted):
                return False
            self._granted = needed
        return True
