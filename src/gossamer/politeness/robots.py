"""Decide whether robots.txt allows a path (RFC 9309).

    bytes -> lines -> the rules of our group -> `judge(path and query)` -> a Ruling

The most specific rule wins, which is the longest; of two with the same length, the one that allows.
Groups of the same agent are one group; the group of `*` counts only if no group names us. No I/O
and no time here: `access.py` says how long a file is valid.

This is our own parser: Protego 0.7 judges 62 of the 72 RFC rows of Google's suite as they stand
there, this one 69, and the other three contradict the RFC's own table of encodings
(docs/conformance.md). It also returns the rule and its line, which people ask for if a page is
missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from gossamer.politeness.patterns import Rulebook
from gossamer.politeness.robots_text import key_of, plain_text

# RFC 9309, 2.5 requires at least 500 KiB; the rest of a longer file is not read.
MAX_BYTES: Final = 512 * 2**10

_TOKEN: Final = re.compile(r"[A-Za-z_-]+")
_WORD: Final = re.compile(r"[^\s/]+")
_NUMBER: Final = re.compile(r"\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}")


@dataclass(frozen=True, slots=True)
class Ruling:
    """Whether a path is allowed, and the rule and line that decide; line 0 without a rule."""

    allowed: bool
    rule: str = ""
    line: int = 0


class RobotsRule(Struct, frozen=True, array_like=True):
    """One Allow or Disallow of our group. `path` is as written in the file, `line` counts from
    1.
    """

    is_allow: bool
    path: str
    line: int

    def ruling(self) -> Ruling:
        return Ruling(
            self.is_allow, f"{'Allow' if self.is_allow else 'Disallow'}: {self.path}", self.line
        )


_NO_RULE: Final = Ruling(allowed=True)


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one robots.txt for one agent. Without rules everything is allowed."""

    rules: tuple[RobotsRule, ...] = ()
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()
    _book: Rulebook[RobotsRule] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        book = None
        if self.rules:
            book = Rulebook((rule.path, rule.is_allow, rule) for rule in self.rules)
        object.__setattr__(self, "_book", book)

    @classmethod
    def parse(cls, body: bytes, agent: str = "gossamer", *, max_bytes: int = MAX_BYTES) -> Robots:
        """Parse any bytes. Lines that are not robots.txt syntax are skipped.

        `agent` is a product token. A file longer than `max_bytes` is read up to its last whole line
        before that.
        """
        reading = _Reading(agent.lower())
        for number, key, value in _lines(body, max_bytes):
            reading.take(number, key, value)
        return reading.result()

    def judge(self, target: str) -> Ruling:
        """Judge the path and query of a URL (`/a?b=c`). An empty one is `/`."""
        if self._book is None or target == "/robots.txt":  # RFC 9309, 2.2.2: implicitly allowed
            return _NO_RULE
        rule = self._book.find(target)
        return _NO_RULE if rule is None else rule.ruling()


@dataclass(slots=True, eq=False)
class _Group:
    rules: list[RobotsRule] = field(default_factory=list)
    delay_s: float | None = None


class _Reading:
    """The parser state: which of our two groups, named and `*`, the lines belong to."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._ours = _Group()
        self._everyones = _Group()
        self._is_named = False
        self._current: list[_Group] = []
        self._is_group_begun = False  # a rule has come since the last agent line
        self._sitemaps: dict[str, None] = {}

    def take(self, number: int, key: str, value: str) -> None:
        match key:
            case "agent":
                self._take_agent(value)
            case "sitemap":
                if value:
                    self._sitemaps[value] = None
            case "delay":
                self._take_delay(value)
            case _:
                self._is_group_begun = True
                if value:  # an empty path matches nothing
                    for group in self._current:
                        group.rules.append(RobotsRule(key == "allow", value, number))

    def result(self) -> Robots:
        group = self._ours if self._is_named else self._everyones
        return Robots(tuple(group.rules), group.delay_s, tuple(self._sitemaps))

    def _take_agent(self, value: str) -> None:
        if self._is_group_begun:
            self._current = []
            self._is_group_begun = False
        for name in map(str.strip, value.split(",")):  # `One, Two` names both
            if name[:1] == "*" and not name[1:2].strip():
                self._begin(self._everyones)
            elif self._agent and _token(name, self._agent) == self._agent:
                self._is_named = True
                self._begin(self._ours)

    def _begin(self, group: _Group) -> None:
        """Add a group once, however often it is named: 2,000 names and 2,000 rules must not become
        4 million rules.
        """
        if group not in self._current:
            self._current.append(group)

    def _take_delay(self, value: str) -> None:
        """RFC 9309, 2.2.4: other lines do not end a group. Of two delays the longer holds."""
        number = _NUMBER.match(value)
        if number is None:
            return
        for group in self._current:
            group.delay_s = max(group.delay_s or 0.0, float(number[0]))


def _token(value: str, agent: str) -> str:
    """The product token of an agent line: `Bot/2.1 (x)` names `bot`.

    A token has no digits (RFC 9309, 2.2.1). If our own has some, the whole word counts.
    """
    shape = _TOKEN if _TOKEN.fullmatch(agent) else _WORD
    found = shape.match(value)
    return found[0].lower() if found else ""


def _lines(body: bytes, max_bytes: int) -> Iterator[tuple[int, str, str]]:
    """Number, key and value of each line with a known key."""
    for number, raw in enumerate(plain_text(body, max_bytes).splitlines(), 1):
        line = raw.partition(b"#")[0]
        key, colon, value = line.partition(b":")
        if not colon:
            words = line.split()
            if len(words) != 2:  # "disallow /x" is accepted, a sentence is not
                continue
            key, value = words
        name = key_of(key)
        if name is not None:
            yield number, name, _decode(value.strip())


def _decode(value: bytes) -> str:
    """The text of a value. Octets that are not UTF-8 are percent-encoded."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "".join(chr(octet) if octet < 128 else f"%{octet:02X}" for octet in value)
