"""URL patterns of the operator.

    https://a.org/docs/*.pdf    with `*`: a glob over the whole URL; `*` matches anything, `?` and
                                all else just themselves
    /docs/*.pdf                 the same over path and query, on every host
    https://a.org/docs/         without `*`: URLs that begin so
    /docs/                      paths that begin so, on every host
    re:\\bprint=1\\b              a regular expression (regex.py), found anywhere in the URL

Patterns are compared with canonical URLs, so their scheme and host are converted to that form, and
non-ASCII text is percent-encoded. A pattern that could match no URL is refused with a reason, not
ignored. All take linear time: each piece of a glob is searched once, after the piece before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import quote

from gossamer.errors import UsageError
from gossamer.urls.canonical import parse, target_of
from gossamer.urls.regex import regex_of

# All of printable ASCII but space and quote, which the URL standard always percent-encodes.
_KEPT: Final = "".join(map(chr, range(0x21, 0x7F))).replace('"', "")
_SCHEMES: Final = ("http://", "https://")


class Pattern(Protocol):
    """Matches canonical URLs."""

    @property
    def text(self) -> str:
        """The pattern as it was written."""
        ...

    def matches(self, url: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Glob:
    """`pieces` in this order, with anything between them; first and last are at the ends."""

    text: str
    pieces: tuple[str, ...]
    is_of_path: bool

    def matches(self, url: str) -> bool:
        subject = target_of(url) if self.is_of_path else url
        first, *middle, last = self.pieces
        end = len(subject) - len(last)
        if not (subject.startswith(first) and subject.endswith(last)):
            return False
        at = len(first)
        for piece in middle:
            found = subject.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return at <= end


@dataclass(frozen=True, slots=True)
class UrlPrefix:
    """The start of a URL, or of a path if it begins with a slash."""

    text: str
    start: str

    def matches(self, url: str) -> bool:
        return url.startswith(self.start, url.index("/", 8) if self.start[0] == "/" else 0)


def pattern_of(text: str) -> Pattern:
    """Parse a pattern of the operator. Raises UsageError if it could match no URL."""
    written = text.strip()
    if not written:
        raise UsageError("a pattern is empty; write a URL, a path, or `*` for anything")
    if written.startswith("re:"):
        return regex_of(written)
    if "#" in written:
        raise UsageError(f"pattern {written!r} has a `#`, but a URL here never has a fragment")
    head, star, tail = written.partition("*")
    start = _start_of(written, head, has_star=bool(star))
    if not star:
        return UrlPrefix(written, start)
    pieces = (start, *(quote(piece, safe=_KEPT) for piece in tail.split("*")))
    return Glob(written, pieces, is_of_path=start.startswith("/"))


def _start_of(written: str, head: str, *, has_star: bool) -> str:
    """`head`, the part before any `*`, in the form of canonical URLs."""
    if head.startswith("/") or (has_star and not head):
        return quote(head, safe=_KEPT)
    lowered = head.lower()
    if has_star and any(scheme.startswith(lowered) for scheme in _SCHEMES):
        return lowered
    if not lowered.startswith(_SCHEMES):
        raise UsageError(
            f"pattern {written!r} matches no URL; begin it with http:// or https://, "
            "with / for a path, or with * for anything"
        )
    authority, slash, path = head.partition("://")[2].partition("/")
    if has_star and not slash:
        return lowered  # the star is in the host: nothing to parse yet
    found = parse(f"{head.partition('://')[0]}://{authority}/")
    if found is None or found.pathname != "/" or found.search or found.username:
        raise UsageError(f"pattern {written!r} has no valid host")
    return f"{found.protocol}//{found.host}/{quote(path, safe=_KEPT)}"


def find_match(patterns: Iterable[Pattern], url: str) -> str | None:
    """The first pattern that matches, as it was written."""
    for pattern in patterns:
        if pattern.matches(url):
            return pattern.text
    return None


class Prefixes:
    """Many string prefixes; finding the matching one takes log n comparisons.

    Invariant: sorted, and none begins with another. Then only the last prefix that is not greater
    than a text can be its prefix.
    """

    def __init__(self, prefixes: Iterable[str]) -> None:
        self._prefixes: list[str] = []
        for prefix in sorted(prefixes):
            if not (self._prefixes and prefix.startswith(self._prefixes[-1])):
                self._prefixes.append(prefix)

    def find(self, text: str) -> str | None:
        """The prefix that `text` begins with."""
        at = bisect_right(self._prefixes, text)
        if at and text.startswith(self._prefixes[at - 1]):
            return self._prefixes[at - 1]
        return None
