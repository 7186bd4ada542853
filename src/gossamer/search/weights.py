"""Every number that affects the order, in one table; docs/search.md says how each was found.

The relevance of a page is the sum over the query's words of BM25 in each field, times the field's
weight and the word's rarity. The nearness of the words is added, and the sum is raised by the
page's link rank. Pages with more of the words come before pages with fewer, whatever their
relevance, unless the query is a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each signal, relative to a word in the page's text, which is 1.

    A field with weight 0 is not searched.
    """

    body: float = 1.0
    title: float = 0.5
    headings: float = 0.1
    anchors: float = 0.15
    address: float = 0.05
    # Another word of the same stem, relative to the word itself. A page with several of them has
    # the best, and a share of the others.
    variants: float = 0.9
    more_variants: float = 0.2
    # Rarity in addition to that of BM25: a word's weight is its idf to this power.
    rarity: float = 0.3
    # Two adjacent words of the query that are at most `near_slop` moves apart in the page.
    nearness: float = 0.2
    near_slop: int = 3
    # Relevance is multiplied by 1 + link_rank * ln(1 + rank); the average page has rank 1.
    link_rank: float = 0.05
    # Queries with more words are sentences: no page has all of them, and most say little.
    tiered_words: int = 6
    # Queries with more words are prose, in which quotation marks have no meaning.
    prose_words: int = 20
    # The best pages by words alone, which are ordered again with link rank.
    candidates: int = 30


WEIGHTS: Final = Weights()
