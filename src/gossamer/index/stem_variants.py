"""Find the words of the index that share a stem with a word, such as `connect` and `connected`.

The index holds unstemmed words. Stemming every word of every page would cost a crawl more than all
the rest of the index (docs/adr/0008-index.md). Instead a word of a query is replaced by all words
of the index with the same stem. The matches are the same.

A stem is the beginning of its words except for its last letter (`happy` has `happi`, `hoping` has
`hope`), so only words with that beginning are checked, most frequent first. Snowball has irregular
forms beyond that (`dying` is `die`); those are missed. A word is always a variant of itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import tantivy

from gossamer.index import schema

LANGUAGES: Final = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian",
    "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip

# Last letters of stems that may differ in the word. For an English stem with any other last letter,
# all words begin with the whole stem. None of 95,000 words disagrees, and a short stem has a tenth
# as many words to check.
_CHANGED: Final = {"en": frozenset("eily")}
_SHORTEST: Final = 3  # letters of a stem; shorter ones are names and begin half the dictionary
_LOOKED_AT: Final = 2_000
_MOST: Final = 16


class StemVariant(NamedTuple):
    """A word of the index, and the number of entries that have it, including dead ones."""

    word: str
    entries: int


class Stemmer:
    """The stems of one language's words."""

    def __init__(self, language: str) -> None:
        """`language` is one of `LANGUAGES`."""
        words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        self._analyser = words.filter(tantivy.Filter.stemmer(LANGUAGES[language])).build()

    def stems(self, words: Sequence[str]) -> list[str]:
        """The stem of each word; words are normalised."""
        return self._analyser.analyze(" ".join(words))


@lru_cache(maxsize=len(LANGUAGES))
def stemmer_of(language: str) -> Stemmer:
    """The stemmer of one of `LANGUAGES`."""
    return Stemmer(language)


def stem_variants_of(
    word: str,
    languages: Iterable[str],
    searcher: tantivy.Searcher,
    field: str = schema.BODY,
) -> tuple[StemVariant, ...]:
    """The words of `field` that share the stem of `word` in one of the languages, the word itself
    first and then the most frequent.

    `word` is normalised and comes first even if no entry has it; `languages` are of `LANGUAGES`.
    With 94,000 words in the index this takes 0.1 to 0.5 ms per language.
    """
    others: dict[str, int] = {}
    for language in languages:
        others |= _with_stem_of(word, language, searcher, field)
    others.pop(word, None)
    ordered = sorted(others.items(), key=lambda item: (-item[1], item[0]))
    itself = StemVariant(word, searcher.doc_freq(field, word))
    return (itself, *(StemVariant(*item) for item in ordered[: _MOST - 1]))


def beginning_of(stem: str, language: str) -> str:
    """The common prefix of all words with a stem, except irregular ones."""
    changed = _CHANGED.get(language)
    return stem if changed and stem[-1] not in changed else stem[:-1]


def _with_stem_of(
    word: str, language: str, searcher: tantivy.Searcher, field: str
) -> dict[str, int]:
    stemmer = stemmer_of(language)
    (stem,) = stemmer.stems([word])
    if len(stem) < _SHORTEST:
        return {}
    beginning = beginning_of(stem, language)
    near = dict(searcher.terms_with_prefix(field, beginning, limit=_LOOKED_AT))
    stems = stemmer.stems([*near])
    return {other: near[other] for other, found in zip(near, stems, strict=True) if found == stem}
