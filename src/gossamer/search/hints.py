"""Explain how a query was read, if that differs from what was typed.

No query is an error: what is not syntax is read as words, and a hint says so. The parser
(`query.py`) records the reasons, `value_hints` adds those that only the index knows (`type:pdff`
where no page has that type), and `hint_of` makes one line of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

import tantivy

from gossamer.index import schema
from gossamer.search.lexicon import tokens_of
from gossamer.search.tree import All, Any, Has, Not, Phrase, Property, QueryNode, Word, WordPrefix

NO_WORD: Final = "The query has no word to search for."

_MOST_REASONS: Final = 3
_MOST_VALUES: Final = 8
_LONGEST: Final = 100  # characters of the query that is shown
_LONGEST_VALUE: Final = 40
_FIELD_OF: Final = {
    Property.TYPE: schema.TYPE,
    Property.LANG: schema.LANGUAGE,
    Property.SITE: schema.SITE,
}
_PLURAL: Final = {Property.TYPE: "Types", Property.LANG: "Languages", Property.SITE: "Sites"}


class Reasons:
    """Why a query was not read as it was typed. Each sentence is kept once, in order."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}

    def add(self, sentence: str) -> None:
        self._sentences.setdefault(sentence)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sentences)


def hint_of(reasons: Sequence[str], tree: QueryNode, more: Sequence[str] = ()) -> str:
    """One line for a person; empty if there is nothing to say.

    If there are `reasons`, the query as read is shown, too. `more` are separate sentences.
    """
    every = [*_some(reasons), *_some(more)]
    if reasons:
        words = spelled(tree)
        every.append(f"Read as: {words}" if words else NO_WORD)
    return " ".join(every)


def _some(sentences: Sequence[str]) -> list[str]:
    left = len(sentences) - _MOST_REASONS
    return [*sentences[:_MOST_REASONS], *([f"(and {left} more)"] if left > 0 else [])]


def value_hints(tree: QueryNode, searcher: tantivy.Searcher) -> list[str]:
    """Report values that no page has, with those that pages do have."""
    found = dict.fromkeys(leaf for leaf in _conditions(tree) if leaf.property in _FIELD_OF)
    return [
        _no_such_value(leaf, searcher)
        for leaf in found
        if not searcher.doc_freq(_FIELD_OF[leaf.property], leaf.value)
    ]


def date_hint(searcher: tantivy.Searcher) -> str:
    """The range of days in which the pages were fetched; empty if there is none."""
    wanted = {"first": {"min": {"field": schema.AT}}, "last": {"max": {"field": schema.AT}}}
    found = searcher.aggregate(schema.every_entry(), wanted)
    first, last = found["first"]["value"], found["last"]["value"]
    if first is None or last is None:
        return ""
    return f"Pages were fetched from {_day(first)} to {_day(last)}."


def _day(nanoseconds: float) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).date().isoformat()


def _no_such_value(leaf: Has, searcher: tantivy.Searcher) -> str:
    name = _FIELD_OF[leaf.property]
    sentence = f"No page has {leaf.property}:{shortened(leaf.value, _LONGEST_VALUE)}."
    known = [value for value, _ in searcher.terms_with_prefix(name, "", limit=10 * _MOST_VALUES)]
    if leaf.property is Property.SITE:
        # The index has every domain above a host; `org` alone helps nobody.
        known = [
            one for one in known if "." in one or not any(o.endswith(f".{one}") for o in known)
        ]
    if leaf.property is Property.TYPE:
        known.sort(key=lambda value: "/" in value)  # short names first
    if not known:
        return sentence
    shown = ", ".join(shortened(value, _LONGEST_VALUE) for value in known[:_MOST_VALUES])
    more = ", ..." if len(known) > _MOST_VALUES else ""
    return f"{sentence} {_PLURAL[leaf.property]} in this collection: {shown}{more}."


def _conditions(node: QueryNode) -> Iterator[Has]:
    match node:
        case Has():
            yield node
        case All(parts) | Any(parts):
            for part in parts:
                yield from _conditions(part)
        case Not(part):
            yield from _conditions(part)
        case _:
            return


def spelled(tree: QueryNode) -> str:
    """A tree in the query language, as the index understands it, cut to a line."""
    return shortened(_spelled(tree, is_top=True), _LONGEST)


def _spelled(node: QueryNode, *, is_top: bool = False) -> str:
    match node:
        case Word(text, field) | WordPrefix(text, field):
            words = tokens_of(text)
            shown = f'"{" ".join(words)}"' if len(words) > 1 else "".join(words)
            star = "*" if isinstance(node, WordPrefix) and words else ""
            return f"{field}:{shown}{star}" if field and words else f"{shown}{star}"
        case Phrase(text, slop, field):
            words = tokens_of(text)
            shown = f'"{" ".join(words)}"' + (f"~{slop}" if slop else "") if words else ""
            return f"{field}:{shown}" if field and words else shown
        case Has(property, value):
            return f"{property}:{value}"
        case Not(part):
            inside = _spelled(part)
            return f"-{inside}" if inside else ""
        case All(parts) | Any(parts):
            inside = (" OR " if isinstance(node, Any) else " ").join(
                filter(None, map(_spelled, parts))
            )
            is_bare = is_top or len(parts) < 2 or not inside
            return inside if is_bare else f"({inside})"


def shortened(text: str, longest: int) -> str:
    """Text for a message: printable, and cut to a length."""
    shown = "".join(char if char.isprintable() else " " for char in text[: longest + 1])
    return f"{shown[: longest - 3]}..." if len(shown) > longest else shown
