"""How relevant will the page behind a link be? Predicted from what is known before it is fetched.

For each known URL there is evidence:

- its sources: the relevance of the fetched pages that link to it, and how many they are;
- its siblings: the relevance of other fetched pages that its sources link to;
- its words: those of the anchor and the URL, and those around the link. A word is worth what the
  direction of the judge says of it, and the mean relevance of the fetched pages that contain it.
  The second says that `Mozart` is about music when three relevant pages name him and no other does.

A linear model weighs the evidence (ridge regression). It learns from the fetched pages: what was
known of each, and how the judge found it. Nothing else is fed back. Before there are such pages,
the weights are equal shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.focus.judge import ByWord, PageJudge
from gossamer.policies.focus.sample import WordTable, sums
from gossamer.policies.focus.words import BUCKETS, LINK_WORDS, NO_WORD, LinkWords, Words, numbers_of
from gossamer.policies.orders.columns import UrlSlots, Values, longer
from gossamer.policies.orders.edges import Edges, LinkBatch

FEATURES: Final = (
    "constant",
    "source",
    "log sources",
    "log relevant sources",
    "siblings",
    "anchor, by the topic",
    "anchor, by pages with its words",
    "context, by the topic",
    "context, by pages with its words",
    "hubs",
)
# Shares of the evidence before anything is learned.
_START: Final = np.array([0.0, 0.25, 0.0, 0.05, 0.15, 0.25, 0.25, 0.05, 0.05, 0.0])
_RIDGE: Final = 3.0  # how many pages the first weights are worth
_FEW: Final = 2.0  # pages that a mean of words or sources is drawn to the base rate by
_FIRST_ROOM: Final = 1_024


@dataclass(frozen=True, slots=True)
class FocusParts:
    """Parts of a focused crawl that can be switched off, to see what each is worth."""

    has_link_scorer: bool = True  # otherwise: the mean relevance of the sources
    has_distiller: bool = True


class LinkScorer:
    """Evidence for each slot, and the weights."""

    def __init__(self, parts: FocusParts) -> None:
        self._parts = parts
        self.start = _START  # weights before anything is learned
        self.weights = _START.copy()
        self.base_rate = 0.5  # mean relevance of fetched pages
        self._source_sum: Values = np.zeros(_FIRST_ROOM, np.float32)
        self._sources: Values = np.zeros(_FIRST_ROOM, np.float32)
        self._sibling_sum: Values = np.zeros(_FIRST_ROOM, np.float32)
        self._siblings: Values = np.zeros(_FIRST_ROOM, np.float32)
        self._hubs: Values = np.zeros(_FIRST_ROOM, np.float32)
        self._words: LinkWords = np.full((_FIRST_ROOM, LINK_WORDS), NO_WORD, np.int32)
        self._context: LinkWords = np.full((_FIRST_ROOM, LINK_WORDS), NO_WORD, np.int32)
        self.word_pages: ByWord = np.zeros(BUCKETS + 1, np.float32)  # fetched pages with a word
        self.word_sum: ByWord = np.zeros(BUCKETS + 1, np.float32)  # of their relevance

    def note_words(self, slots: UrlSlots, words: LinkWords, context: LinkWords | None) -> None:
        """What the first link to each of these URLs says."""
        self.make_room(int(slots.max()) + 1 if len(slots) else 0)
        self._words[slots] = words
        if context is not None:
            self._context[slots] = context

    def add_words(self, slots: UrlSlots, words: LinkWords) -> None:
        """More is known of these URLs: its words come first, the known ones behind them."""
        self.make_room(int(slots.max()) + 1 if len(slots) else 0)
        for slot, row in zip(slots.tolist(), words, strict=True):
            both = dict.fromkeys((*row.tolist(), *self._words[slot].tolist()))
            both.pop(NO_WORD, None)
            kept = list(both)[:LINK_WORDS]
            self._words[slot, : len(kept)] = kept

    def note_page(self, words: Words, relevance: float) -> None:
        """A page with these words was fetched and judged."""
        numbers = numbers_of(words)
        self.word_pages[numbers] += 1.0
        self.word_sum[numbers] += relevance

    def note_judged_anew(self, pages: WordTable, changes: NDArray[np.float64]) -> None:
        """The relevance of pages that are known changed by so much."""
        change = sums(pages.numbers, changes[pages.row], BUCKETS + 1)
        self.word_sum += change.astype(np.float32)

    def note_links(self, batch: LinkBatch, relevance: Values) -> None:
        """The sources were fetched and judged; their links are evidence for the targets."""
        targets = batch.targets
        self.make_room(int(targets.max()) + 1 if len(targets) else 0)
        np.add.at(self._sources, targets, 1.0)
        np.add.at(self._source_sum, targets, np.repeat(relevance[batch.sources], batch.counts))

    def gather(self, pages: int, edges: Edges, relevance: Values, judged: UrlSlots) -> None:
        """Compute the evidence of all links anew, with the relevance that pages have now."""
        self.make_room(pages)
        room = len(self._sources)
        sources, targets = edges.all()
        is_judged = np.zeros(pages, np.bool_)
        is_judged[judged] = True
        seen = is_judged[targets]
        found = np.where(seen, relevance[targets], 0.0)
        of_source = sums(sources, found, pages)  # sum over the judged targets of a source
        count = sums(sources, seen, pages)
        self._sources = sums(targets, np.ones(len(targets)), room).astype(np.float32)
        self._source_sum = sums(targets, relevance[sources], room).astype(np.float32)
        # Its own relevance is no evidence for a page: it is not known of the others.
        self._sibling_sum = sums(targets, of_source[sources] - found, room).astype(np.float32)
        self._siblings = sums(targets, count[sources] - seen, room).astype(np.float32)

    def note_hubs(self, values: Values) -> None:
        """What the hubs say of each slot (`distiller.py`)."""
        self._hubs[: len(values)] = values

    def learn(self, slots: UrlSlots, relevance: NDArray[np.float64], judge: PageJudge) -> None:
        """Fit the weights to the judged pages that links lead to."""
        self.base_rate = float(relevance.mean()) if len(relevance) else 0.5
        led = self._sources[slots] > 0.0
        known, wanted = self._features(slots[led], judge), relevance[led]
        normal = known.T @ known + _RIDGE * np.eye(len(FEATURES))
        rest = known.T @ (wanted - known @ self.start)
        self.weights = self.start + np.linalg.solve(normal, rest)

    def predict(self, slots: UrlSlots, judge: PageJudge) -> Values:
        """The expected relevance of URLs, from 0 to 1."""
        self.make_room(int(slots.max()) + 1 if len(slots) else 0)
        if self._parts.has_link_scorer:
            expected = self._features(slots, judge) @ self.weights
        else:
            expected = self._mean_source(slots) + self._hubs[slots]
        values: Values = np.clip(expected, 0.0, 1.0).astype(np.float32)
        return values

    def _features(self, slots: UrlSlots, judge: PageJudge) -> NDArray[np.float64]:
        base = self.base_rate
        siblings = (self._sibling_sum[slots] + _FEW * base) / (self._siblings[slots] + _FEW)
        columns: list[NDArray[Any]] = [
            np.ones(len(slots)),
            self._mean_source(slots),
            np.log1p(self._sources[slots]),
            np.log1p(self._source_sum[slots]),
            siblings,
            *self._of_words(self._words[slots], judge),
            *self._of_words(self._context[slots], judge),
            self._hubs[slots],
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    def _mean_source(self, slots: UrlSlots) -> NDArray[np.float32]:
        mean = (self._source_sum[slots] + self.base_rate) / (self._sources[slots] + 1.0)
        return np.asarray(mean, np.float32)

    def _of_words(
        self, words: LinkWords, judge: PageJudge
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What the words of links are worth by the judge, and by the pages that contain them."""
        idf = judge.idf[words]
        length = np.sqrt((idf**2).sum(axis=1))
        length[length == 0.0] = 1.0
        by_topic = (idf * judge.direction[words]).sum(axis=1) / length / judge.scale
        mean = (self.word_sum[words] + _FEW * self.base_rate) / (self.word_pages[words] + _FEW)
        is_word = words != NO_WORD
        count = is_word.sum(axis=1)
        by_pages = np.where(
            count > 0, (mean * is_word).sum(axis=1) / np.maximum(count, 1), self.base_rate
        )
        return np.clip(by_topic, -1.0, 3.0), by_pages

    def make_room(self, pages: int) -> None:
        """Make room for so many slots."""
        if pages <= len(self._sources):
            return
        room = 2 * pages
        for name in ("_source_sum", "_sources", "_sibling_sum", "_siblings", "_hubs"):
            setattr(self, name, longer(getattr(self, name), room, 0))
        for name in ("_words", "_context"):
            old = getattr(self, name)
            rows = np.full((room - len(old), LINK_WORDS), NO_WORD, np.int32)
            setattr(self, name, np.concatenate((old, rows)))
