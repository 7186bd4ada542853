"""How relevant is a page? The distance of its words from ordinary pages towards the examples.

A page is a vector of tf-idf weights of length 1. The *direction* is the mean of the examples minus
the mean of ordinary pages (Rocchio 1971): with ten examples it orders pages better than ridge
regression or logistic regression (docs/adr/0017-focus.md). Ordinary pages are those that the crawl
has fetched. Pages that seem relevant are examples, too, with half of the weight at most, so that
the topic is known in more words than ten pages have.

The score of a page is its length along the direction. It becomes a relevance from 0 to 1 by two
points: the median of fetched pages, and the median of the examples, each left out in turn. So the
more relevant pages come, the more is expected of the next one. Counting only pages that seemed not
relevant as ordinary has no such limit: in trials all pages seemed relevant in the end.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.focus.sample import WordTable, sums
from gossamer.policies.focus.topic import Topic
from gossamer.policies.focus.words import BUCKETS, Words, numbers_of, weights_of

ByWord = NDArray[np.float32]  # an entry for each word and one for NO_WORD
RELEVANT: Final = 0.5  # from here on a page counts as relevant
_SURE: Final = 0.6  # from here on a page serves as an example
_COLUMN: Final = BUCKETS + 1
# Of the way from an ordinary page (0) to a typical example (1), 0.6 makes a page relevant: pages
# about neighbouring topics lie in the middle. The steepness gives a typical example 0.83.
_MIDDLE: Final = 0.6
_STEEPNESS: Final = 4.0
_UNWANTED: Final = 0.5  # share of the mean of unwanted examples
# One or two examples cannot be left out in turn. Two pages of a topic have about this similarity.
_LIKENESS: Final = 0.25


class PageJudge:
    """Gives each page a relevance. `fit` learns anew from all that is known."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.pages = 0  # whose words were counted
        self.with_word: ByWord = np.zeros(_COLUMN, np.float32)
        self.idf: ByWord = np.zeros(_COLUMN, np.float32)
        self.direction: ByWord = np.zeros(_COLUMN, np.float32)
        self.ordinary = 0.0  # score of an ordinary page
        self.scale = 1.0  # score of a typical example minus that
        for words in [*topic.examples, *topic.unwanted]:
            self.see(words)
        self.fit(WordTable([]), np.zeros(0))

    def see(self, words: Words) -> None:
        """Count the words of a page: those that many pages have say little."""
        self.pages += 1
        self.with_word[numbers_of(words)] += 1.0

    def relevance(self, words: Words) -> float:
        """From 0 to 1; 0 for a page without words."""
        numbers = numbers_of(words)
        weights = weights_of(words) * self.idf[numbers]
        length = float(np.sqrt(weights @ weights))
        if length == 0.0:
            return 0.0
        score = float(weights @ self.direction[numbers]) / length
        return float(self._to_relevance(np.array([score]))[0])

    def fit(self, pages: WordTable, before: NDArray[np.float64]) -> NDArray[np.float64]:
        """Learn the direction from the topic and from a sample of fetched pages, which were judged
        `before`; the relevance of these pages, judged anew."""
        self._count_rare()
        examples = WordTable(self.topic.examples)
        for table in (examples, pages):
            table.weigh(self.idf)
        typical = examples.mean(np.ones(examples.pages), _COLUMN)
        ordinary = pages.mean(np.ones(pages.pages), _COLUMN)
        if self.topic.unwanted:
            ordinary += _UNWANTED * self._unwanted()
        reached = self._examples_left_out(examples, typical, ordinary)
        sure = np.where(before >= _SURE, before, 0.0)
        if sure.sum() > 0.0 and examples.pages:
            share = min(1.0, float(sure.sum()) / (2.0 * examples.pages))
            sample = pages.mean(sure, _COLUMN)
            sample *= share
            typical += sample
            typical /= 1.0 + share
        typical -= ordinary  # columns have 2 MB: they are changed in place
        self.direction = typical.astype(np.float32)
        scores = pages.times(self.direction)
        self.ordinary = float(np.median(scores)) if len(scores) else 0.0
        if not self.topic.wanted and len(scores):
            reached = self._pages_with_the_query(pages, scores)
        self.scale = max(reached - self.ordinary, 1e-6)
        return self._to_relevance(scores)

    def _count_rare(self) -> None:
        counts = self.with_word + np.float32(0.5)
        idf: ByWord = np.log(np.divide(np.float32(self.pages + 1), counts, out=counts), out=counts)
        self.idf = np.maximum(idf, np.float32(0.0), out=idf)
        self.idf[BUCKETS] = 0.0

    def _unwanted(self) -> NDArray[np.float64]:
        table = WordTable(self.topic.unwanted)
        table.weigh(self.idf)
        return table.mean(np.ones(table.pages), _COLUMN)

    def _examples_left_out(
        self, examples: WordTable, typical: NDArray[np.float64], ordinary: NDArray[np.float64]
    ) -> float:
        """The median score of an example by the direction of the others. Otherwise each would be
        too similar to itself. `typical` is the mean of the examples."""
        many = examples.pages
        if not many:
            return 1.0
        itself = sums(examples.row, examples.weights**2, many)
        if many < 3:
            return _LIKENESS * float(itself.max())
        # The mean of the others is the mean of all, without the share of this one.
        by_all = examples.times(typical)
        by_others = (by_all * many - itself) / (many - 1)
        return float(np.median(by_others - examples.times(ordinary)))

    def _pages_with_the_query(self, pages: WordTable, scores: NDArray[np.float64]) -> float:
        """The median score of the pages that have the most of the query's words."""
        worth: ByWord = np.zeros(_COLUMN, np.float32)
        query = numbers_of(self.topic.query)
        worth[query] = self.idf[query]
        had = sums(pages.row, worth[pages.numbers], pages.pages)
        most = float(had.max(initial=0.0))
        return float(np.median(scores[had >= most])) if most > 0.0 else 1.0

    def _to_relevance(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        way = (scores - self.ordinary) / self.scale
        return 1.0 / (1.0 + np.exp(np.clip(_STEEPNESS * (_MIDDLE - way), -30.0, 30.0)))
