"""Check URLs against the ban lists of the operator.

A ban list has one ban per line; blank lines and text after a `#` are ignored:

    ads.example.org             a host, or address, and all hosts below it
    example.org/private/        URLs that begin so, http and https alike
    https://example.org:8443/   the same: the scheme is ignored
    */calendar/*                a pattern with `*`, or one with `re:` (see patterns.py)
    /cgi-bin/                   a path that begins so, on every host

A host costs one lookup per label and a prefix log n comparisons, so lists may be long. Patterns are
tried one after the other, so they should be few.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gossamer.errors import UsageError
from gossamer.urls.canonical import ParsedUrl, host_of, parse
from gossamer.urls.domains import Domains, domain_of, lines_of
from gossamer.urls.patterns import Pattern, Prefixes, find_match, pattern_of


class BanList:
    """URLs that are never requested."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        """Parse ban lines. Raises UsageError with the number of the invalid line."""
        self._take((f"ban {number}", line) for number, line in enumerate(lines, 1))

    @classmethod
    def read(cls, paths: Iterable[Path]) -> BanList:
        """The bans of all files together. Raises UsageError with file and line."""
        bans = cls()
        bans._take(line for path in paths for line in lines_of(path))
        return bans

    def _take(self, lines: Iterable[tuple[str, str]]) -> None:
        hosts: dict[str, str] = {}
        starts: dict[str, str] = {}
        patterns: list[Pattern] = []
        for place, line in lines:
            text = line.strip()
            if text.startswith(("re:", "/")):
                patterns.append(_pattern_at(place, text))
            elif (domain := domain_of(text)) is not None:
                hosts.setdefault(domain, text)
            elif "*" in text:
                patterns.append(_pattern_at(place, text))
            else:
                starts.setdefault(_start_at(place, text), text)
        self._lines = hosts | starts  # no prefix is a host, because it has a slash
        self._hosts = Domains(hosts)
        self._starts = Prefixes(starts)
        self._patterns = tuple(patterns)
        self._is_empty = not self._lines and not patterns  # the usual case

    def __bool__(self) -> bool:
        """Whether there is any ban."""
        return not self._is_empty

    def find(self, url: str) -> str | None:
        """The line that bans a canonical URL, as it was written."""
        if self._is_empty:
            return None
        found = self._hosts.find(host_of(url)) or self._starts.find(_without_scheme(url))
        if found is not None:
            return self._lines[found]
        return find_match(self._patterns, url)


def _pattern_at(place: str, text: str) -> Pattern:
    try:
        return pattern_of(text)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _start_at(place: str, text: str) -> str:
    """A URL prefix without its scheme."""
    is_whole = text.lower().startswith(("http://", "https://"))
    found = parse(text if is_whole else f"http://{text}")
    if found is None or (not is_whole and "://" in text) or not _is_plain(found, text):
        raise UsageError(f"{place}: {text[:80]!r} is not a host, a URL prefix or a pattern")
    return _without_scheme(found.href)


def _is_plain(found: ParsedUrl, text: str) -> bool:
    """Whether no part of it would be ignored or could never match."""
    return domain_of(found.hostname) is not None and not found.username and "#" not in text


def _without_scheme(url: str) -> str:
    return url[8 if url[4] == "s" else 7 :]
