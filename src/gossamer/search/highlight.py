"""The terms of a plan that are highlighted in a page."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.search.lexicon import STOP_WORDS, Lexicon, tokens_of
from gossamer.search.plan import QueryPlan
from gossamer.search.term_patterns import Term
from gossamer.search.tree import Field, Phrase, Word, WordPrefix


def highlight_terms(plan: QueryPlan, lexicon: Lexicon) -> list[Term]:
    """The terms to highlight in a page. Rare words weigh more; stop words count only if they are
    alone.
    """
    every = [one for leaf in plan.texts for one in _terms_of(leaf, lexicon)]
    informative = [one for one in every if not (len(one.words) == 1 and one.words[0] in STOP_WORDS)]
    return informative or every


def _terms_of(leaf: Word | WordPrefix | Phrase, lexicon: Lexicon) -> Iterator[Term]:
    words = tokens_of(leaf.text)
    weights = [0.5 + lexicon.rarity(word) for word in words]
    if isinstance(leaf, Phrase) and leaf.slop:
        yield from (Term((word,), weight) for word, weight in zip(words, weights, strict=True))
    elif isinstance(leaf, Word) and len(words) == 1 and leaf.field is Field.TEXT:
        yield Term(words, weights[0], variants=lexicon.variants(words[0]))
    elif words:
        yield Term(words, max(weights), is_prefix=isinstance(leaf, WordPrefix) and len(words) == 1)
