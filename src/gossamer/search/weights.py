"""Every number that decides about order, in one table; docs/search.md tells how each was found.

A page's relevance is the sum over the query's words of BM25 in each field, times the field's
weight and the word's rarity; the nearness of the words is added, and the sum is raised by the
page's link rank. Pages with more of the words come before pages with fewer, whatever their
relevance, as long as the query is no sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign of relevance counts, against a word in the page's text, which is 1.

    A field with no weight is not searched.
    """

    body: float = 1.0
    title: float = 0.5
    headings: float = 0.1
    anchors: float = 0.15
    address: float = 0.05
    # Another word of the same stem, against the word itself. A page with several of them has the
    # best, and a share of the others.
    variants: float = 0.9
    more_kin: float = 0.2
    # Rarity beyond what BM25 has of it: a word's weight is its idf to this power.
    rarity: float = 0.3
    # Two neighbours of the query that are at the most `near_slop` moves apart in the page.
    nearness: float = 0.2
    near_slop: int = 3
    # Relevance is multiplied by 1 + link_rank * ln(1 + rank); the average page has rank 1.
    link_rank: float = 0.05
    # Queries of more words are sentences: no page has all of them, and most say little.
    tiered_words: int = 6
    # Queries of more words are prose, in which quotation marks ask for nothing.
    prose_words: int = 20
    # The best pages by words alone, which are looked at again with link rank.
    candidates: int = 30


WEIGHTS: Final = Weights()
