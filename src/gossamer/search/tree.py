"""The tree of a parsed query.

A leaf is a property of a page (words, a phrase, a prefix, a filter), with its position in the
query, so that a message can point at it. The meaning of the nodes:

- `All`: pages that have all of its parts first, then those that have most. Phrases, fields and
  properties are required: without them a page is not found.
- `Any`: one of its parts is enough.
- `Not`: pages that the part would not find.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Field(StrEnum):
    """Where a word is searched; TEXT is anywhere."""

    TEXT = ""
    TITLE = "title"
    ANCHOR = "anchor"
    URL = "url"


class Property(StrEnum):
    """Facts about a page, in contrast to its text."""

    SITE = "site"
    TYPE = "type"
    LANG = "lang"
    SINCE = "since"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Word:
    """A word as typed. One like `wi-fi` is several words to the index, which must be adjacent."""

    text: str
    field: Field = Field.TEXT
    at: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class WordPrefix:
    """`inter*`: any word with this prefix."""

    text: str
    field: Field = Field.TEXT
    at: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Phrase:
    """`"these words"~slop`: the allowed moves of one word by one position, as in Lucene."""

    text: str
    slop: int = 0
    field: Field = Field.TEXT
    at: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Has:
    """`site:example.org`: a property with a value. For `since` and `changed` it is a lower bound: a
    time, or a duration before now, in microseconds.
    """

    property: Property
    value: str
    since_us: int = 0
    ago_us: int = 0  # not 0: in place of `since_us`
    at: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class All:
    """Parts side by side."""

    parts: tuple[QueryNode, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """Parts joined by OR."""

    parts: tuple[QueryNode, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`-part`."""

    part: QueryNode


Leaf = Word | WordPrefix | Phrase | Has
QueryNode = Leaf | All | Any | Not


def leaves(node: QueryNode) -> Iterator[Leaf]:
    """What a page may have to be found, from left to right, without excluded parts."""
    match node:
        case All(parts) | Any(parts):
            for part in parts:
                yield from leaves(part)
        case Not():
            return
        case _:
            yield node


def is_condition(node: QueryNode) -> bool:
    """Whether a page without it is not found, even if other parts match."""
    match node:
        case Word(field=field) | WordPrefix(field=field):
            return field is not Field.TEXT
        case Phrase() | Has():
            return True
        case Any(parts) | All(parts):
            return bool(parts) and all(is_condition(part) for part in parts)
        case Not():
            return True


def is_about_words(node: QueryNode) -> bool:
    """Whether a condition is about words, so that a page may be found for it alone."""
    match node:
        case Has() | Not():
            return False
        case All(parts) | Any(parts):
            return any(map(is_about_words, parts))
        case _:
            return True
