"""Which words of a page are to be marked for a plan?"""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.search.lexicon import STOP_WORDS, Lexicon, tokens_of
from gossamer.search.plan import Plan
from gossamer.search.seekers import Sought
from gossamer.search.tree import Field, Phrase, Prefix, Word


def sought_by(plan: Plan, lexicon: Lexicon) -> list[Sought]:
    """What a page may show of a query: rare words weigh more; `the` only where it stands alone."""
    every = [one for leaf in plan.texts for one in _sought(leaf, lexicon)]
    telling = [one for one in every if not (len(one.words) == 1 and one.words[0] in STOP_WORDS)]
    return telling or every


def _sought(leaf: Word | Prefix | Phrase, lexicon: Lexicon) -> Iterator[Sought]:
    words = tokens_of(leaf.text)
    weights = [0.5 + lexicon.rarity(word) for word in words]
    if isinstance(leaf, Phrase) and leaf.slop:
        yield from (Sought((word,), weight) for word, weight in zip(words, weights, strict=True))
    elif isinstance(leaf, Word) and len(words) == 1 and leaf.field is Field.TEXT:
        yield Sought(words, weights[0], variants=lexicon.variants(words[0]))
    elif words:
        yield Sought(words, max(weights), is_prefix=isinstance(leaf, Prefix) and len(words) == 1)
