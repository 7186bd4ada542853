"""The order of a focused crawl: the URL whose page is expected to be most relevant first.

It judges each fetched page, and predicts the relevance of what the page links to. It learns again
when the crawl has grown by a fifth: the judge from the pages that came, the link scorer from
how right it was. A link on a page that is not relevant is not dropped. It has a low value, and its
turn comes when nothing better is known: so the crawl goes through a few other pages to relevant
ones (tunnelling).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.focus.distiller import distil
from gossamer.policies.focus.judge import RELEVANT, PageJudge
from gossamer.policies.focus.link_scorer import FocusParts, LinkScorer
from gossamer.policies.focus.sample import PageSample, WordTable
from gossamer.policies.focus.topic import Topic
from gossamer.policies.focus.words import LinkWords, WordHasher, Words, link_rows
from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch

ALL_PARTS: Final = FocusParts()
_GROWTH: Final = 1.2
_TOGETHER: Final = 8  # pages whose links are predicted together
_AT_LEAST: Final = 10  # pages between two times of learning


class FocusedOrder:
    """Judges pages and scores URLs for one topic. One object serves one run."""

    site_power: Final = 0.0
    uses_links: Final = True
    is_newest_first: Final = False
    wants_anchors: Final = False

    def __init__(self, topic: Topic, parts: FocusParts = ALL_PARTS) -> None:
        self.judge = PageJudge(topic)
        self.links = LinkScorer(parts)
        self.judged = 0  # pages with words
        self.relevant = 0  # of them, as the judge found them when they came
        self._parts = parts
        self._has_plugin = False  # pages are judged by a plug-in
        self.sample = PageSample()
        self._hasher = WordHasher()
        self._bare: dict[int, str] = {}  # URLs by slot, whose words are not noted yet
        # Noted, and not yet learned: words, and the relevance by a plug-in.
        self._judged_before: set[int] = set()  # slots, whose links are still to come
        self._waiting: dict[int, tuple[Words, float | None]] = {}
        self._unpredicted: list[UrlSlots] = []  # targets of the last pages
        self._next = _AT_LEAST

    @property
    def harvest_rate(self) -> float:
        """The share of relevant pages among those with words; 0 before the first."""
        return self.relevant / self.judged if self.judged else 0.0

    def note_page(self, slot: int, words: Words, relevance: float | None = None) -> None:
        """A page was fetched; to be called before `learn`. `relevance`: a plug-in has judged it."""
        self._waiting[slot] = words, relevance

    def mark(self, words: Words, *, is_wanted: bool) -> None:
        """A page is an example of the topic, or of what is not wanted. It counts from the next page
        on."""
        if len(words):
            self.judge.see(words)
            self.judge.topic.mark(words, is_wanted=is_wanted)
            self._next = 0

    def note_urls(self, _pages: PageColumns, slots: UrlSlots, urls: Sequence[str], /) -> None:
        """URLs were found. Mostly their links follow, which say more than the URLs."""
        self._bare.update(zip(slots.tolist(), urls, strict=True))

    def note_anchors(self, _pages: PageColumns, slots: UrlSlots, texts: Sequence[str], /) -> None:
        """Anchor texts that an earlier run has found. Of this run `note_link_words` has them."""
        rows = link_rows([self._hasher.context(text) for text in texts], len(texts))
        self.links.add_words(slots, rows)

    def note_judged(self, slots: UrlSlots) -> None:
        """An earlier run has judged these pages: the column `relevance` has it. What follows from
        it is computed at the next occasion."""
        self._judged_before.update(slots.tolist())
        self._next = 0

    def note_link_words(
        self, slots: UrlSlots, words: LinkWords, context: LinkWords | None = None
    ) -> None:
        """New URLs, and what the links to them say; to be called before `learn`."""
        self.links.note_words(slots, words, context)
        for slot in slots.tolist():
            self._bare.pop(slot, None)

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        values: Values = pages.relevance[slots]
        return values

    def learn(self, pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        """Judge the pages, and predict their targets."""
        for slot in batch.sources.tolist():
            noted = self._waiting.pop(slot, None)
            if noted is not None:
                pages.relevance[slot] = self._judge(slot, *noted)
            elif slot not in self._judged_before:
                pages.relevance[slot] = 0.0
        self.links.note_links(batch, pages.relevance)
        return self._changed(pages, batch)

    def _changed(self, pages: PageColumns, batch: LinkBatch) -> UrlSlots:
        """Predict the targets of some pages together: one by one it takes ten times as long. Until
        then a new URL has the mean of its page and of all pages."""
        first = batch.targets[pages.links[batch.targets] <= 1]
        near = 0.5 * (self.links.base_rate + float(pages.relevance[batch.sources].mean()))
        pages.relevance[first[~pages.is_fetched[first]]] = near
        self._unpredicted.append(batch.targets)
        if len(self._unpredicted) < _TOGETHER:
            return batch.targets
        changed = np.unique(np.concatenate(self._unpredicted))
        self._unpredicted = []
        self._predict(pages, changed)
        return changed

    def recompute(self, pages: PageColumns, edges: Edges, /) -> bool:
        """Learn again, if there is enough that is new."""
        if self.judged < self._next:
            return False
        self.learn_from(self.judged)
        self._unpredicted = []
        sample = self.sample
        table, before = WordTable(sample.words), np.array(sample.relevance)
        after = self.judge.fit(table, before)
        if self._has_plugin:
            after = before
        sample.relevance = after.tolist()
        self.links.note_judged_anew(table, after - before)
        slots: NDArray[np.int32] = np.array(sample.slots, np.int32)
        is_here = slots >= 0
        slots, after = slots[is_here], after[is_here]
        pages.relevance[slots] = after
        fetched = np.flatnonzero(pages.is_fetched[: pages.count]).astype(np.int32)
        self.links.gather(pages.count, edges, pages.relevance, fetched)
        if self._parts.has_distiller:
            self.links.note_hubs(distil(pages.count, edges, pages.relevance, fetched))
        self.links.learn(slots, after, self.judge)
        self._predict(pages, np.arange(pages.count, dtype=np.int32))
        return True

    def learn_from(self, judged: int) -> None:
        """Learn again when the crawl has grown from this number of pages."""
        self._next = max(judged + _AT_LEAST, int(judged * _GROWTH))

    def judge_page(self, words: Words, given: float | None = None) -> float:
        """Judge a page that has no slot, and learn from it; its relevance."""
        return self._judge(-1, words, given)

    def _judge(self, slot: int, words: Words, given: float | None) -> float:
        self.judge.see(words)
        self._has_plugin = given is not None
        relevance = self.judge.relevance(words) if given is None else given
        self.links.note_page(words, relevance)
        self.sample.offer(slot, words, relevance)
        self.judged += 1
        self.relevant += relevance >= RELEVANT
        return relevance

    def _note_bare(self) -> None:
        """Of URLs that no link has named, such as those of a sitemap, the words of the URL."""
        slots = np.array(list(self._bare), np.int32)
        urls, self._bare = list(self._bare.values()), {}
        self.links.add_words(
            slots, link_rows([self._hasher.link("", url) for url in urls], len(urls))
        )

    def _predict(self, pages: PageColumns, slots: UrlSlots) -> None:
        """Set the expected relevance of those that are not fetched."""
        if self._bare:
            self._note_bare()
        queued = slots[~pages.is_fetched[slots]]
        if len(queued):
            pages.relevance[queued] = self.links.predict(queued, self.judge)
