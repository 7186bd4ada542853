"""A focused crawl fetches what is about its topic first, and learns only from what it sees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gossamer.errors import UsageError
from gossamer.policies.focus.distiller import distil
from gossamer.policies.focus.focused_order import FocusedOrder
from gossamer.policies.focus.saving import dump_model, load_model
from gossamer.policies.focus.topic import Topic
from gossamer.policies.focus.words import WordHasher, link_rows
from gossamer.policies.orders.columns import PageColumns
from gossamer.policies.orders.edges import Edges, LinkBatch
from support.rows import each_row
from support.topical_webs import TopicalWeb, title_of, topical_web

HASHER = WordHasher()
Ints = np.int32


class SmallCrawl:
    """A crawl of a topical web by an order, one page at a time."""

    def __init__(self, web: TopicalWeb, order: FocusedOrder) -> None:
        self.web, self.order = web, order
        self.pages, self.edges = PageColumns(), Edges()
        self.slot: dict[str, int] = {}
        self.fetched: list[str] = []

    def run(self, seed: str, most: int) -> list[str]:
        self._add([seed])
        while len(self.fetched) < most:
            names = list(self.slot)
            slots = np.arange(len(names), dtype=Ints)
            values = self.order.value(self.pages, slots).copy()
            values[self.pages.is_fetched[: len(names)]] = -1.0
            self._fetch(names[int(values.argmax())])
        return self.fetched

    def _add(self, names: list[str]) -> None:
        new = [name for name in names if name not in self.slot]
        if new:
            first = self.pages.add(0, 0, len(new))
            self.slot.update({name: first + at for at, name in enumerate(new)})
            words = link_rows([HASHER.link(title_of(name), "") for name in new], len(new))
            self.order.note_link_words(np.arange(first, first + len(new), dtype=Ints), words)

    def _fetch(self, name: str) -> None:
        self.fetched.append(name)
        self._add(self.web.links[name])
        targets = np.array(sorted(self.slot[to] for to in self.web.links[name]), Ints)
        batch = LinkBatch(
            np.array([self.slot[name]], Ints), np.array([len(targets)], Ints), targets
        )
        self.pages.note_fetched(batch.sources)
        self.edges.add(batch)
        self.order.note_page(self.slot[name], HASHER.page(title_of(name), self.web.text[name]))
        changed = self.order.learn(self.pages, self.edges, batch)
        assert set(targets.tolist()) <= set(changed.tolist())
        self.order.recompute(self.pages, self.edges)


def topic_of(web: TopicalWeb, name: str, many: int = 5) -> Topic:
    examples = [page for page, topic in web.topic.items() if topic == name][:many]
    return Topic([HASHER.page(title_of(page), web.text[page]) for page in examples])


def share(web: TopicalWeb, fetched: list[str], topic: str) -> float:
    return sum(web.topic[name] == topic for name in fetched) / len(fetched)


def test_most_pages_of_a_focused_crawl_are_about_its_topic() -> None:
    web = topical_web()
    order = FocusedOrder(topic_of(web, "music"))
    start = next(name for name, topic in web.topic.items() if topic == "cheese")

    fetched = SmallCrawl(web, order).run(start, 60)

    assert share(web, fetched, "music") > 0.6  # a quarter of all pages
    assert order.harvest_rate == pytest.approx(share(web, fetched, "music"), abs=0.15)


def test_relevance_stays_between_0_and_1() -> None:
    web = topical_web()
    crawl = SmallCrawl(web, FocusedOrder(topic_of(web, "music")))
    crawl.run(next(iter(web.links)), 60)

    values = crawl.pages.relevance[: crawl.pages.count]
    assert 0.0 <= values.min() <= values.max() <= 1.0
    assert np.isfinite(values).all()


def test_the_same_crawl_twice_is_the_same_to_the_bit() -> None:
    web = topical_web()
    start = next(iter(web.links))
    runs = [SmallCrawl(web, FocusedOrder(topic_of(web, "birds"))) for _ in range(2)]

    assert runs[0].run(start, 50) == runs[1].run(start, 50)
    assert dump_model(runs[0].order) == dump_model(runs[1].order)


def test_a_page_without_words_is_not_relevant_and_teaches_nothing() -> None:
    web = topical_web()
    order = FocusedOrder(topic_of(web, "music"))
    pages, edges = PageColumns(), Edges()
    pages.add(0, 0, 2)
    batch = LinkBatch(np.array([0], Ints), np.array([1], Ints), np.array([1], Ints))
    pages.note_fetched(batch.sources)

    order.learn(pages, edges, batch)

    assert pages.relevance[0] == 0.0
    assert order.judged == 0


def test_the_page_that_many_hubs_point_to_is_worth_most() -> None:
    edges = Edges()  # 0 and 1 are hubs of the relevant pages 2 and 3; both name 4, only 5 names 6
    sources, counts = np.array([0, 1, 5], Ints), np.array([3, 3, 2], Ints)
    edges.add(LinkBatch(sources, counts, np.array([2, 3, 4, 2, 3, 4, 6, 7], Ints)))
    relevance = np.array([0, 0, 1, 1, 0, 0, 0, 0], np.float32)

    values = distil(8, edges, relevance, np.array([0, 1, 2, 3, 5], Ints))

    assert values[4] == values.max() == 1.0
    assert values[6] == values[7] == 0.0


def test_a_model_can_be_used_by_another_crawl(tmp_path: Path) -> None:
    web, other = topical_web(1), topical_web(2)
    first = FocusedOrder(topic_of(web, "music"))
    SmallCrawl(web, first).run(next(iter(web.links)), 60)

    again = load_model(dump_model(first), "model.npz")

    words = HASHER.page("", next(text for name, text in other.text.items()))
    assert again.judge.relevance(words) == pytest.approx(first.judge.relevance(words), abs=0.15)
    assert again.links.weights.tolist() == first.links.weights.tolist()
    assert (again.judged, again.relevant) == (first.judged, first.relevant)
    start = next(name for name, topic in other.topic.items() if topic == "cheese")
    assert share(other, SmallCrawl(other, again).run(start, 40), "music") > 0.6


@each_row("raw", [b"", b"PK\x03\x04 damaged", b"\x80\x04N.", b"x" * 100])
def test_a_file_that_is_no_model_is_refused(raw: bytes) -> None:
    with pytest.raises(UsageError, match=r"model\.npz is not a model"):
        load_model(raw, "model.npz")


def test_no_byte_of_a_damaged_model_is_run_or_crashes_us() -> None:
    web = topical_web()
    raw = dump_model(FocusedOrder(topic_of(web, "music")))
    for at in range(0, len(raw), max(1, len(raw) // 40)):
        damaged = raw[:at] + bytes([raw[at] ^ 0xFF]) + raw[at + 1 :]
        try:
            load_model(damaged, "model.npz")
        except UsageError as refused:
            assert "model.npz" in str(refused)  # noqa: PT017
