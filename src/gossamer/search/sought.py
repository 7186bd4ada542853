"""The terms of a plan that are highlighted in a page."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.search.lexicon import STOP_WORDS, Lexicon, tokens_of
from gossamer.search.plan import QueryPlan
from gossamer.search.seekers import Sought
from gossamer.search.tree import Field, Phrase, Word, WordPrefix


def sought_by(plan: QueryPlan, lexicon: Lexicon) -> list[Sought]:
    """The terms to highlight in a page. Rare words weigh more; stop words count only if they are
    alone.
    """
    every = [one for leaf in plan.texts for one in _sought(leaf, lexicon)]
    informative = [one for one in every if not (len(one.words) == 1 and one.words[0] in STOP_WORDS)]
    return informative or every


def _sought(leaf: Word | WordPrefix | Phrase, lexicon: Lexicon) -> Iterator[Sought]:
    words = tokens_of(leaf.text)
    weights = [0.5 + lexicon.rarity(word) for word in words]
    if isinstance(leaf, Phrase) and leaf.slop:
        yield from (Sought((word,), weight) for word, weight in zip(words, weights, strict=True))
    elif isinstance(leaf, Word) and len(words) == 1 and leaf.field is Field.TEXT:
        yield Sought(words, weights[0], variants=lexicon.variants(words[0]))
    elif words:
        yield Sought(
            words, max(weights), is_prefix=isinstance(leaf, WordPrefix) and len(words) == 1
        )
