"""A focused crawl while it runs: figures for people, marks of users, and the stored model.

The model is stored with the state about once a minute, and at the end of a run. After a kill the
crawl resumes with the last one: what was learned since then is learned again from new pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gossamer.archive.reader import read_exchange
from gossamer.base.clock import Clock
from gossamer.base.packing import pack, unpack
from gossamer.collection.example_urls import urls_among
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import FOCUS_PAGES_KEY
from gossamer.frontier.selection.focus_feed import FocusFeed
from gossamer.frontier.store import StateTable, Store
from gossamer.node.focus.stored_focus import figures_of, rows_of
from gossamer.node.parts import Parts
from gossamer.node.seeds import form_of, read_seeds
from gossamer.policies.focus.page_words import PageWords
from gossamer.urls.keys import Keys


class LiveFocus:
    """Beside the main loop of a node."""

    def __init__(self, parts: Parts, feed: FocusFeed, keys: Keys) -> None:
        self._parts = parts
        self._feed = feed
        self._keys = keys
        self._frontier: Frontier = parts.frontier
        self._clock: Clock = parts.clock
        self._every_s = parts.settings.focus.save_every_s
        self._saved = 0  # pages that were judged when the model was stored

    def figures(self) -> dict[str, Any]:
        """Judged pages, the relevant ones among them, and the share: the harvest rate."""
        return figures_of(self._feed.order)

    def save(self) -> None:
        """Put the model into the next commit."""
        order = self._feed.order
        self._saved = order.judged
        rows = rows_of(order)
        if self._frontier.selection is not None:
            rows[FOCUS_PAGES_KEY] = pack(self._feed.judged(self._frontier.selection.pages))
        for key, row in rows.items():
            self._frontier.pending.put(StateTable.META, key, row)

    def expect(self, urls: Sequence[str]) -> None:
        """The pages at these URLs are examples when they come."""
        self._feed.example_keys |= {self._keys.of(url) for url in urls}

    def mark(self, url: str, *, is_wanted: bool) -> bool:
        """A user says whether a stored page is relevant; False if the page is not stored."""
        words = self._words_at(self._keys.of(url))
        if words is None:
            return False
        self._feed.order.mark(words.page, is_wanted=is_wanted)
        self.save()
        return True

    def _words_at(self, key: bytes) -> PageWords | None:
        capture = self._frontier.last_capture(key)
        if capture is None:
            return None
        exchange = read_exchange(self._parts.paths.archive / capture.file, capture.offset)
        raw = self._parts.reread(exchange.lease, exchange.answer, exchange.stored).report.focus
        return PageWords.unpack(raw) if raw else None

    async def keep_up(self, _on_moved: Callable[[], None]) -> None:
        """Run without end; the caller cancels it."""
        while True:
            await self._clock.sleep_until(self._clock.now_s() + self._every_s)
            if self._feed.order.judged != self._saved:
                self.save()


def add_focus(parts: Parts, feed: FocusFeed, keys: Keys, store: Store) -> None:
    """Let a node keep its model, and continue with what is stored."""
    row = store.find(StateTable.META, FOCUS_PAGES_KEY)
    if row is not None:
        feed.stored = tuple(unpack(row))
    focus = LiveFocus(parts, feed, keys)
    focus.expect(read_seeds(urls_among(parts.settings.focus.like), form_of(parts.settings)))
    parts.focus = focus
    parts.background += (focus.keep_up,)
