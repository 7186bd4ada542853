"""Suggest another spelling if nothing is found.

For each word of the query that no page has, this is the most frequent word of the index within two
typing errors that begins with the same letter. Errors are missing, extra, wrong or swapped letters.
Words of up to four letters are allowed one error. Only a query without a hit pays for this.
"""

from __future__ import annotations

from typing import Final

from gossamer.index.schema import BODY
from gossamer.search.lexicon import Lexicon, tokens_of
from gossamer.search.plan import QueryPlan

_LOOKED_AT: Final = 20_000  # words with one prefix, most frequent first
_LONGEST: Final = 40


def suggestion(query: str, plan: QueryPlan, lexicon: Lexicon) -> str:
    """The query with its unknown words replaced by similar ones; empty if there are none."""
    better = query
    for leaf in plan.texts:
        for word in tokens_of(leaf.text):
            if not any(lexicon.count(BODY, one) for one in lexicon.variants(word)):
                near = nearest(word, lexicon)
                better = _replaced(better, word, near) if near else better
    return better if better != query else ""


def nearest(word: str, lexicon: Lexicon) -> str:
    """The known word with the fewest errors, of those the most frequent; empty if none is near."""
    if not 2 < len(word) <= _LONGEST or not word.isalpha():
        return ""
    most = 1 if len(word) < 5 else 2
    best: tuple[int, int, str] | None = None
    for other, pages in lexicon.beginning_with(BODY, word[0], _LOOKED_AT).items():
        if abs(len(other) - len(word)) <= most and len(set(word) ^ set(other)) <= 2 * most:
            errors = distance(word, other, most)
            if errors <= most and (best is None or (errors, -pages, other) < best):
                best = (errors, -pages, other)
    return best[2] if best else ""


def distance(one: str, other: str, most: int) -> int:
    """Typing errors between two words, where two swapped letters count as one; at most `most`
    + 1.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, char in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (char != wanted))
            if i > 1 and j > 1 and char == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def _replaced(query: str, word: str, near: str) -> str:
    """The query with a word replaced, in any case in which it was typed."""
    at = query.lower().find(word)
    return query[:at] + near + query[at + len(word) :] if at >= 0 else query
