"""The words of an index: spelling, stemming variants, number of pages.

One moment of one index. Results are cached, because queries repeat words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import tantivy

from gossamer.index.schema import BODY, LANGUAGE
from gossamer.index.stem_variants import LANGUAGES, stem_variants_of
from gossamer.index.words import words_of

# Finding variants costs up to 0.5 ms per language, and most collections have one or two.
_MOST_LANGUAGES: Final = 3
_LEAST_SHARE: Final = 0.05
_SPELLINGS: Final = {"no": ("no", "nb", "nn")}

# Stop words. They are searched as typed, and count little.
_STOP_WORDS: Final = """
    a about an and any are as at be been but by can do does for from had has have he her his how i
    if in into is it its me my no not of on or our s she so such t than that the their them then
    there these they this those to was we were what when where which who whom whose why will with
    would you your
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())


class Lexicon:
    """The words of an index at one moment. For many threads at once."""

    def __init__(self, searcher: tantivy.Searcher) -> None:
        self._searcher = searcher
        self.pages = max(1, searcher.num_docs)
        self.languages = self._languages()
        self._counts: dict[tuple[str, str], int] = {}
        self._variants: dict[str, tuple[str, ...]] = {}

    def variants(self, word: str) -> tuple[str, ...]:
        """Words that share a stem with this one in a language of the collection, itself first."""
        found = self._variants.get(word)
        if found is None:
            found = self._variants[word] = self._find_variants(word)
        return found

    def count(self, field: str, word: str) -> int:
        """Pages with a word in a field; replaced pages count until they are removed."""
        found = self._counts.get((field, word))
        if found is None:
            found = self._counts[field, word] = self._searcher.doc_freq(field, word)
        return found

    def idf(self, pages: int) -> float:
        """BM25's inverse document frequency for that many pages."""
        pages = min(pages, self.pages)
        return math.log(1 + (self.pages - pages + 0.5) / (pages + 0.5))

    def rarity(self, word: str, field: str = BODY) -> float:
        """The same for a word and its stemming variants."""
        return self.idf(sum(self.count(field, one) for one in self.variants(word)))

    def beginning_with(self, field: str, prefix: str, limit: int) -> Mapping[str, int]:
        """At most `limit` words of a field with this prefix, with the number of pages of each."""
        return dict(self._searcher.terms_with_prefix(field, prefix, limit=limit))

    def _find_variants(self, word: str) -> tuple[str, ...]:
        if word in STOP_WORDS or not word.isalpha():
            return (word,)
        variants = stem_variants_of(word, self.languages, self._searcher)
        self._counts |= {(BODY, one.word): one.entries for one in variants}
        return tuple(one.word for one in variants)

    def _languages(self) -> tuple[str, ...]:
        """The languages with a stemmer that most pages have; English if none is known."""
        counts = {
            language: sum(
                self._searcher.doc_freq(LANGUAGE, one)
                for one in _SPELLINGS.get(language, (language,))
            )
            for language in LANGUAGES
        }
        common = [one for one, pages in counts.items() if pages >= _LEAST_SHARE * self.pages]
        ordered = sorted(common, key=lambda one: -counts[one])
        return tuple(ordered[:_MOST_LANGUAGES]) or ("en",)


def tokens_of(text: str) -> tuple[str, ...]:
    """The words of a part of a query, as the index spells them."""
    return tuple(words_of(text))


def are_stop_words(words: Sequence[str]) -> bool:
    """Whether all of these are stop words."""
    return all(word in STOP_WORDS for word in words)
