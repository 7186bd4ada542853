"""Which words of the index share a stem with this one? `connect` and `connected`, say.

The index holds words as they stand. Stemming every word of every page would cost a crawl more than
all the rest of the index (docs/adr/0008-index.md), so a query is widened instead: its word is
replaced by all words of the index that have the same stem. What matches is the same.

A stem is the beginning of its words but for its last letter (`happy` has `happi`, `hoping` has
`hope`), so only words with that beginning are looked at, the commonest first. Snowball has
irregular forms beyond that (`dying` is `die`); those are missed. A word is always kin to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import tantivy

from gossamer.index import schema

LANGUAGES: Final = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian",
    "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_SAME: Final = {"nb": "no", "nn": "no"}

_SHORTEST: Final = 3  # letters of a stem; shorter ones are names and begin half the dictionary
_LOOKED_AT: Final = 2_000
_MOST: Final = 16


class Kin(NamedTuple):
    """A word of the index, and the number of entries that have it, dead ones included."""

    word: str
    entries: int


class Stemmer:
    """The stems of one language's words. For many threads at once."""

    def __init__(self, language: str) -> None:
        """`language` is one of `LANGUAGES`, or a language that has the same stemmer."""
        name = LANGUAGES[_SAME.get(language, language)]
        words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        self._analyser = words.filter(tantivy.Filter.stemmer(name)).build()

    def stems(self, words: Sequence[str]) -> list[str]:
        """The stem of each word; words are in normal form."""
        return self._analyser.analyze(" ".join(words))


def has_stemmer(language: str) -> bool:
    """Whether words of a language can be brought to their stems."""
    return _SAME.get(language, language) in LANGUAGES


def kin_of(
    word: str, stemmer: Stemmer, searcher: tantivy.Searcher, field: str = schema.BODY
) -> tuple[Kin, ...]:
    """The words with the stem of `word` (in normal form) that stand in `field`, itself first.

    `word` comes first even where no entry has it. With 94,000 words in the index this takes 0.1 to
    0.5 ms.
    """
    itself = Kin(word, searcher.doc_freq(field, word))
    stem = stemmer.stems([word])[0]
    if len(stem) < _SHORTEST:
        return (itself,)
    near = dict(searcher.terms_with_prefix(field, stem[:-1], limit=_LOOKED_AT))
    near.pop(word, None)
    others = [
        Kin(other, near[other])
        for other, other_stem in zip(near, stemmer.stems([*near]), strict=True)
        if other_stem == stem
    ]
    return (itself, *others[: _MOST - 1])
