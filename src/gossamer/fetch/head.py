"""The head of a response: status line and headers, parsed as browsers do.

Pure. Names are compared without case; folded lines and lines without a colon are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gossamer.base.content_type import content_type_of

_SET_COOKIE: Final = re.compile(rb"(?im)^(set-cookie2?[ \t]*:[^=;\r\n]*=)[^;\r\n]*")
# Three digits, whatever follows: some servers omit the space before the phrase.
_STATUS: Final = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})")


class Head:
    """The headers of one response, from its bytes.

    Values are parsed on demand: of ten headers three are used per page, and five more are looked up
    that most responses do not have.
    """

    __slots__ = ("_lower", "_text")

    def __init__(self, head: bytes) -> None:
        self._text = head.decode("latin-1")
        self._lower = self._text.lower()  # lower() changes no length in Latin-1

    def first(self, name: str) -> str:
        """The first value of a header (name in lower case), or an empty string."""
        at = self._lower.find(f"\n{name}")
        if at < 0:
            return ""
        begin = at + len(name) + 1
        if self._lower[begin : begin + 1] != ":":  # the start of another name, or white space
            return next(self._values(name), "")
        end = self._text.find("\n", begin)
        return self._text[begin + 1 : end if end >= 0 else None].strip()

    def all(self, name: str) -> list[str]:
        return list(self._values(name)) if f"\n{name}" in self._lower else []

    def _values(self, name: str) -> Iterator[str]:
        lower, line = self._lower, f"\n{name}"
        at = lower.find(line)
        while at >= 0:
            begin = at + len(line)
            end = lower.find("\n", begin)
            rest = self._text[begin : end if end >= 0 else None]
            before, colon, value = rest.partition(":")
            if colon and not before.strip():
                yield value.strip()
            at = lower.find(line, begin)

    def length(self) -> int | None:
        """The Content-Length if it is valid, capped at 10**18."""
        value = self.first("content-length")
        if not (value.isascii() and value.isdigit()):
            return None
        digits = value.lstrip("0")
        return int(digits or "0") if len(digits) < 19 else 10**18

    def content_type(self) -> str:
        """The effective Content-Type if there are several."""
        return content_type_of(self.all("content-type"))

    def location(self) -> str:
        """The Location. It may contain raw UTF-8; any other non-ASCII byte becomes %XX."""
        raw = self.first("location").encode("latin-1")
        if raw.isascii():
            return raw.decode("ascii")
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in raw)


def status_of(head: bytes) -> int:
    """The status of a response; 0 if its first line has none."""
    found = _STATUS.match(head)
    return int(found[1]) if found else 0


def without_cookies(head: bytes) -> bytes:
    """A head without the values of its cookies; names and attributes stay."""
    return _SET_COOKIE.sub(rb"\1(not kept)", head)
