"""A search by hand: every page is looked at, and the tree is followed word by word.

Slow, and written without the planner: it shares with it only what a word is, which words are kin,
and the tree. `test_oracle.py` holds the two against each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence

from gossamer.index.entry import Entry
from gossamer.index.fields import address_words, domains_of, types_of
from gossamer.index.words import words_of
from gossamer.search.tree import (
    All,
    Any,
    Field,
    Has,
    Not,
    Phrase,
    Property,
    QueryNode,
    Word,
    WordPrefix,
    is_about_words,
    is_condition,
)
from gossamer.urls.canonical import host_of

StemVariant = Callable[[str], Collection[str]]


def finds(tree: QueryNode, page: Entry, variants: StemVariant, *, is_own: bool = False) -> bool:
    """Whether a page answers. `is_own`: only what it says itself, and as it is spelt, counts."""
    match tree:
        case Has():
            return _has(tree, page)
        case Not(part):
            return not finds(part, page, variants, is_own=True)
        case Any(parts):
            return any(finds(one, page, variants, is_own=is_own) for one in parts)
        case All(parts):
            return _finds_all(parts, page, variants, is_own=is_own)
        case _:
            return any(
                _in_text(tree, text, variants, is_own) for text in _texts(tree.field, page, is_own)
            )


def _finds_all(
    parts: Sequence[QueryNode], page: Entry, variants: StemVariant, *, is_own: bool
) -> bool:
    conditions = [part for part in parts if is_condition(part)]
    wishes = [part for part in parts if not is_condition(part)]
    if not all(finds(one, page, variants, is_own=is_own) for one in conditions):
        return False
    may_be_alone = any(map(is_about_words, conditions)) or not wishes
    return may_be_alone or any(finds(one, page, variants, is_own=is_own) for one in wishes)


def _texts(field: Field, page: Entry, is_own: bool) -> list[list[str]]:
    """The texts of a page, none of which a phrase leaves. A bar is between headings or anchors."""
    title, anchors = [words_of(page.title)], [_listed(page.anchors)]
    address = [address_words(page.url).split()]
    own = [words_of(page.text), *title, _listed(page.headings)]
    anywhere = own if is_own else [*own, *anchors, *address]
    by_field = {Field.TITLE: title, Field.ANCHOR: anchors, Field.URL: address}
    return by_field.get(field, anywhere)


def _listed(texts: Sequence[str]) -> list[str]:
    return [word for text in texts for word in (*words_of(text), "|")]


def _in_text(
    leaf: Word | WordPrefix | Phrase, text: list[str], variants: StemVariant, is_own: bool
) -> bool:
    words = words_of(leaf.text)
    if isinstance(leaf, Phrase):
        return any(_is_close(places, leaf.slop) for places in _choices(text, words))
    if isinstance(leaf, WordPrefix) or leaf.field is Field.URL:
        *whole, last = words
        return any(
            text[at : at + len(whole)] == whole and text[at + len(whole)].startswith(last)
            for at in range(len(text) - len(whole))
        )
    if len(words) == 1 and leaf.field is Field.TEXT and not is_own:
        return any(word in text for word in variants(words[0]))
    return any(text[at : at + len(words)] == words for at in range(len(text)))


def _choices(text: list[str], words: list[str]) -> list[tuple[int, ...]]:
    """All ways to find the words in a text, each at a place of its own."""
    places = [[at for at, found in enumerate(text) if found == word] for word in words]
    return [one for one in itertools.product(*places) if len(set(one)) == len(one)]


def _is_close(places: Sequence[int], slop: int) -> bool:
    begins = [place - which for which, place in enumerate(places)]
    return max(begins) - min(begins) <= slop


def _has(leaf: Has, page: Entry) -> bool:
    match leaf.property:
        case Property.SITE:
            return leaf.value in domains_of(host_of(page.url)).split()
        case Property.TYPE:
            return leaf.value in types_of(page.type).split()
        case Property.LANG:
            return leaf.value == page.language
        case Property.SINCE:
            return page.at_us // 1_000_000 >= leaf.since_us // 1_000_000
        case Property.CHANGED:
            return page.changed_us > 0 and (
                page.changed_us // 1_000_000 >= leaf.since_us // 1_000_000
            )
