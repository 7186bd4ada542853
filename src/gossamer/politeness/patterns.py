"""Find the most specific pattern of robots.txt for a path.

RFC 9309, 2.2.2 and 2.2.3: `*` matches anything, `$` at the end matches the end, other characters
match themselves after percent-encoding is normalised. A pattern is never turned into a regular
expression: the parts between its stars are searched one after the other from the left, so that a
hostile `/*a*a*a*b$` costs one pass over the path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# A path in this form is already normal. Nearly all are.
_PLAIN: Final = re.compile(r"/[A-Za-z0-9\-._~/=&]*(?:\?[A-Za-z0-9\-._~=&]*)?")
_PLAIN_PATTERN: Final = re.compile(r"/[A-Za-z0-9\-._~/=&*]*(?:\?[A-Za-z0-9\-._~=&*]*)?\$?")
# An octet that is percent-encoded or must be: neither unreserved nor reserved. A lone `%` stays, so
# that `/*%` means every path with an encoded octet.
_ODD: Final = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]")
_DELIMITERS: Final = re.compile(r"[:#\[\]@!'()+,;]")
_QUERY_DELIMITERS: Final = re.compile(r"[:#\[\]@!'()+,;/?]")


@dataclass(frozen=True, slots=True)
class _Glob(Generic[T]):
    """A pattern with stars: `head*middle*middle*tail`. No tail if its end is open."""

    rank: int
    head: str
    middles: tuple[str, ...]
    tail: str | None
    value: T

    def matches(self, text: str) -> bool:
        if not text.startswith(self.head):
            return False
        at = len(self.head)
        for middle in self.middles:
            at = text.find(middle, at)
            if at < 0:
                return False
            at += len(middle)
        if self.tail is None:
            return True
        return len(text) - len(self.tail) >= at and text.endswith(self.tail)


class _PatternTable(Generic[T]):
    """Patterns in one spelling, by the way they are looked up.

    Those without stars are looked up by their length, so that a file of thousands of directories
    costs a few dozen dictionary lookups.
    """

    __slots__ = ("_exact", "_globs", "_lengths", "_prefixes")

    def __init__(self, patterns: Iterable[tuple[str, int, T]]) -> None:
        self._exact: dict[str, tuple[int, T]] = {}
        self._prefixes: dict[str, tuple[int, T]] = {}
        self._globs: list[_Glob[T]] = []
        for form, rank, value in patterns:
            self._add(form, rank, value)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._globs.sort(key=lambda glob: -glob.rank)

    def find(self, text: str, best: tuple[int, T] | None) -> tuple[int, T] | None:
        """The matching pattern with the highest rank and its value, if higher than `best`."""
        best = _higher(best, self._exact.get(text))
        for length in self._lengths:
            found = self._prefixes.get(text[:length])
            if found is not None:
                best = _higher(best, found)
        for glob in self._globs:
            if best is not None and glob.rank <= best[0]:
                break
            if glob.matches(text):
                best = (glob.rank, glob.value)
        return best

    def _add(self, form: str, rank: int, value: T) -> None:
        is_closed = form.endswith("$")
        parts = (form[:-1] if is_closed else form).split("*")
        if len(parts) == 1:
            known = self._exact if is_closed else self._prefixes
            known[parts[0]] = _higher(known.get(parts[0]), (rank, value)) or (rank, value)
            return
        head, *middles, last = parts
        tail = last if is_closed and last else None
        if not is_closed:
            middles.append(last)
        self._globs.append(_Glob(rank, head, tuple(filter(None, middles)), tail, value))


class Rulebook(Generic[T]):
    """Patterns with values. `find` returns the value of the most specific match."""

    __slots__ = ("_all", "_encoded")

    def __init__(self, patterns: Iterable[tuple[str, bool, T]]) -> None:
        """`patterns`: pattern, whether it wins against another of the same length, value."""
        forms: list[tuple[str, int, T]] = []
        for pattern, wins_ties, value in patterns:
            spellings = pattern_forms(pattern)
            rank = 2 * len(spellings[0]) + wins_ties
            forms.extend((spelling, rank, value) for spelling in spellings)
        self._all = _PatternTable(forms)
        # Only these may match the encoded spelling of a path: `/*B$` must not match the B of a plus
        # sign that this code wrote as %2B.
        encoded = [form for form in forms if "%" in form[0]]
        self._encoded = _PatternTable(encoded) if encoded else None

    def find(self, target: str) -> T | None:
        """The value of the longest matching pattern, or None."""
        text, *encoded = target_forms(target)
        best = self._all.find(text, None)
        if self._encoded is not None:
            for spelling in encoded:
                best = self._encoded.find(spelling, best)
        return best[1] if best is not None else None


def _higher(one: tuple[int, T] | None, other: tuple[int, T] | None) -> tuple[int, T] | None:
    if one is None or (other is not None and other[0] > one[0]):
        return other
    return one


def target_forms(target: str) -> tuple[str, ...]:
    """The spellings of a path and query under which patterns are looked up."""
    if not target.startswith("/"):
        target = "/" + target
    if _PLAIN.fullmatch(target):
        return (target,)
    # A pattern writes a star or dollar of the path as %2A and %24 (RFC 9309, 2.2.3).
    return _forms(_ODD.sub(_alike, target).replace("*", "%2A").replace("$", "%24"))


def pattern_forms(pattern: str) -> tuple[str, ...]:
    """The spellings of a pattern. A star, and a dollar at its end, keep their meaning."""
    if _PLAIN_PATTERN.fullmatch(pattern):
        return (pattern,)
    body, end = (pattern[:-1], "$") if pattern.endswith("$") else (pattern, "")
    return tuple(form + end for form in _forms(_ODD.sub(_alike, body).replace("$", "%24")))


def _forms(text: str) -> tuple[str, ...]:
    """`text`, and the form of RFC 9309's table if that differs.

    The table percent-encodes the reserved characters of a query (`?u=https%3A%2F%2Fa`), where they
    separate nothing. A pattern such as `/*/private` does not say whether its slash is in the path
    or in the query, so the text is also tried unchanged.
    """
    path, mark, query = text.partition("?")
    encoded = _DELIMITERS.sub(_in_percent, path) + mark + _QUERY_DELIMITERS.sub(_in_percent, query)
    return (text,) if encoded == text else (text, encoded)


def _alike(found: re.Match[str]) -> str:
    """Unreserved octets plain, all others as %XX in capitals."""
    text = found[0]
    if len(text) == 1:
        return _in_percent(found)
    plain = chr(int(text[1:], 16))
    return plain if plain in _UNRESERVED else text.upper()


def _in_percent(found: re.Match[str]) -> str:
    return "".join(f"%{octet:02X}" for octet in found[0].encode("utf-8", "replace"))
