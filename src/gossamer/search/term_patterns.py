"""Find the terms of a query in a folded text.

`TermPattern` describes a term in a form that C uses directly (`native/passage.c`). `finder_of`
makes a regular expression of it. Letters are the characters of Python's `\\w`.

Pure.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final, NamedTuple

from gossamer.index.words import normal

_MOST_BETWEEN: Final = 9  # characters between two adjacent words
# Words of a phrase that are searched: on a page of one repeated word, each position matches the
# start of a phrase of a thousand such words, and each is followed to its end.
_MOST_WORDS: Final = 32
# Letters of a prefix above which the character before it is checked first: a page of one repeated
# letter has as many matches as letters.
_LONG: Final = 32


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the query: adjacent words, a word with its variants, or a prefix."""

    words: tuple[str, ...]
    weight: float = 1.0
    is_prefix: bool = False
    variants: tuple[str, ...] = ()  # of a single word: the words that count as it does


class Tail(IntEnum):
    """What must follow the start of a group."""

    PLAIN = 0  # anything
    BEGINNING = 1  # the letters that follow belong to it
    ENDS = 2  # the first of these endings that no letter follows
    # these words, with so many characters between them that are not letters; then no letter
    ADJACENT = 3
    ADJACENT_OPEN = 4  # the same, with anything after the last word


class TermPattern(NamedTuple):
    """A literal text, and the checks at each place where it is found.

    Searching for literal letters first, and then checking before and after them, takes a tenth of
    the time of the reverse order.
    """

    beginning: str
    is_bound: bool  # no letter may precede it
    how: Tail
    rest: tuple[Any, ...] = ()  # endings, or (minimum of characters between, word)


def groups_of(one: Term) -> tuple[TermPattern, ...]:
    """The groups that find one term; matches of the first group come first."""
    words = one.words[:_MOST_WORDS]
    word = words[0]
    is_bound = not is_unspaced(word[0])
    if len(words) > 1:
        is_open = is_unspaced(words[-1][-1])
        rest = tuple(_adjacent(*pair) for pair in itertools.pairwise(words))
        return (
            TermPattern(word, is_bound, Tail.ADJACENT_OPEN if is_open else Tail.ADJACENT, rest),
        )
    if not is_bound:
        return (TermPattern(word, False, Tail.PLAIN),)
    if one.is_prefix:
        return (TermPattern(word, True, Tail.BEGINNING),)
    variants = sorted({word, *one.variants})
    if beginning := _common_start(variants):
        ends = tuple(each.removeprefix(beginning) for each in variants)
        return (TermPattern(beginning, not is_unspaced(beginning[0]), Tail.ENDS, ends),)
    # Arabic words of one stem may begin differently.
    return tuple(TermPattern(each, not is_unspaced(each[0]), Tail.ENDS, ("",)) for each in variants)


def _adjacent(before: str, word: str) -> tuple[int, str]:
    return 0 if is_unspaced(before[-1]) or is_unspaced(word[0]) else 1, word


def is_simple(group: TermPattern) -> bool:
    """Whether each further word begins with a letter, so that there is one way to match it."""
    is_adjacent = group.how in (Tail.ADJACENT, Tail.ADJACENT_OPEN)
    return not is_adjacent or all(word[0].isalnum() for _, word in group.rest)


@lru_cache(maxsize=1024)
def is_unspaced(char: str) -> bool:
    """Whether a character is a word of its own, such as an ideograph."""
    return normal(char) == f" {char} "


def _common_start(ordered: list[str]) -> str:
    pairs = zip(ordered[0], ordered[-1], strict=False)  # what these share, all between them share
    return "".join(one for one, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


Finder = Callable[[str], Iterator[tuple[int, int]]]


@lru_cache(maxsize=256)  # ten pages are searched for the same terms
def finder_of(groups: tuple[TermPattern, ...]) -> Finder:
    """The same as a regular expression: finds all groups in a text."""
    expressions = [(group.beginning, re.compile(_pattern(group))) for group in groups]

    def find(text: str) -> Iterator[tuple[int, int]]:
        for beginning, expression in expressions:
            at = text.find(beginning)  # faster still, and most pages lack some of the words
            if at >= 0:
                yield from map(re.Match.span, expression.finditer(text, at))

    return find


def _pattern(group: TermPattern) -> str:
    plain, behind = re.escape(group.beginning), _pattern_behind(group)
    if not group.is_bound:
        return plain + behind
    if len(group.beginning) > _LONG:
        return rf"(?<!\w){plain}{behind}"
    return rf"{plain}(?<!\w{plain}){behind}"


def _pattern_behind(group: TermPattern) -> str:
    match group.how:
        case Tail.PLAIN:
            return ""
        case Tail.BEGINNING:
            return r"\w*"
        case Tail.ENDS:
            return rf"(?:{'|'.join(map(re.escape, group.rest))})(?!\w)"
        case Tail.ADJACENT | Tail.ADJACENT_OPEN:
            words = "".join(
                rf"\W{{{least},{_MOST_BETWEEN}}}{re.escape(word)}" for least, word in group.rest
            )
            return words if group.how is Tail.ADJACENT_OPEN else rf"{words}(?!\w)"
