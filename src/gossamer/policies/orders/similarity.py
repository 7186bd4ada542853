"""Similarity: the URL whose links say most of what a driving query asks for (Cho, 1998).

The words of a link are compared with the query by the cosine of their tf-idf vectors. How rare a
word is, is learned from the links that were seen so far; what was compared before is not compared
again. A URL has the similarity of its best link. Its own words count half, and so does the text
around a link.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote

import numpy as np

from gossamer.errors import UsageError
from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.urls.canonical import target_of

_WORD: Final = re.compile(r"[^\W_]+")
_URL_SHARE: Final = 0.5  # a URL has few words, and they are often abbreviations
_CONTEXT_SHARE: Final = 0.5  # the text around a link also belongs to the links beside it
_MOST_WORDS: Final = 200_000  # whose rarity is known, at 100 bytes each
_MOST_OF_A_TEXT: Final = 64


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without a plural s."""
    words = _WORD.findall(text.casefold())[:_MOST_OF_A_TEXT]
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]


class WordRarity:
    """How rare words are among the texts seen so far."""

    def __init__(self) -> None:
        self._texts = 0
        self._with: dict[str, int] = {}

    def see(self, words: Mapping[str, int]) -> None:
        """One more text."""
        self._texts += 1
        for word in words:
            if word in self._with:
                self._with[word] += 1
            elif len(self._with) < _MOST_WORDS:
                self._with[word] = 1

    def of(self, word: str) -> float:
        """The inverse document frequency: large for a rare word, always above 0."""
        return math.log1p((self._texts + 1) / (self._with.get(word, 0) + 1))


class Similarity:
    """By the column `text`, which it writes: 0 (no word in common) to 1."""

    site_power: Final = 0.0
    uses_links: Final = False
    is_newest_first: Final = False
    wants_anchors: Final = True

    def __init__(self, query: str) -> None:
        """Raises UsageError for a query without words."""
        self._query = Counter(words_of(query))
        self._rarity = WordRarity()
        if not self._query:
            raise UsageError("--order similarity needs words to look for; add --query WORDS")

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        return pages.text[slots]

    def similarity(self, text: str) -> float:
        """Of a text to the query, by what is known of its words."""
        return self._cosine(Counter(words_of(text)))

    def note_urls(self, pages: PageColumns, slots: UrlSlots, urls: Sequence[str], /) -> None:
        texts = [unquote(target_of(url)) for url in urls]
        self._note(pages, slots, texts, _URL_SHARE)

    def note_anchors(self, pages: PageColumns, slots: UrlSlots, texts: Sequence[str], /) -> None:
        self._note(pages, slots, texts, 1.0)

    def note_contexts(self, pages: PageColumns, slots: UrlSlots, texts: Sequence[str], /) -> None:
        self._note(pages, slots, texts, _CONTEXT_SHARE)

    def learn(self, _pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        return batch.targets[:0]

    def recompute(self, _pages: PageColumns, _edges: Edges, /) -> bool:
        return False

    def _note(
        self, pages: PageColumns, slots: UrlSlots, texts: Sequence[str], share: float
    ) -> None:
        found = []
        for text in texts:
            words = Counter(words_of(text))
            self._rarity.see(words)
            found.append(share * self._cosine(words))
        np.maximum.at(pages.text, slots, np.array(found, np.float32))

    def _cosine(self, words: Mapping[str, int]) -> float:
        if not any(word in words for word in self._query):
            return 0.0
        rarity = self._rarity.of
        query = {word: many * rarity(word) for word, many in self._query.items()}
        text = {word: many * rarity(word) for word, many in words.items()}
        product = sum(weight * text.get(word, 0.0) for word, weight in query.items())
        return product / (math.hypot(*query.values()) * math.hypot(*text.values()))
