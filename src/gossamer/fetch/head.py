"""The head of a response: its status line and headers, read the way browsers do.

Pure. Names are compared without case; folded lines and lines without a colon are passed over.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime


class Head:
    """The headers of one response, from its bytes."""

    def __init__(self, head: bytes) -> None:
        lines = head.decode("latin-1").replace("\r\n", "\n").split("\n")
        self.status_line = lines[0]
        self._values: dict[str, list[str]] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if colon and name and not line[0].isspace():
                self._values.setdefault(name.strip().lower(), []).append(value.strip())

    def first(self, name: str) -> str:
        """The first value of a header, or an empty text."""
        values = self._values.get(name)
        return values[0] if values else ""

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def length(self) -> int | None:
        """The Content-Length, when there is one that makes sense."""
        value = self.first("content-length")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None


def status_of(head: bytes) -> int:
    """The status of a response; 0 when its first line has none."""
    parts = head[:64].split(None, 2)
    return int(parts[1]) if len(parts) > 1 and parts[1][:3].isdigit() else 0


def is_date(value: str) -> bool:
    """Whether a header value is an HTTP date."""
    try:
        return parsedate_to_datetime(value) is not None
    except (ValueError, TypeError):
        return False
