"""Orders by words: of the URL, of links to it, and of an access log."""

from __future__ import annotations

import numpy as np
import pytest

from gossamer.errors import UsageError
from gossamer.policies.orders.columns import PageColumns, UrlSlots
from gossamer.policies.orders.location import Location
from gossamer.policies.orders.logged_visits import LoggedVisits
from gossamer.policies.orders.similarity import Similarity
from gossamer.policies.orders.url_order import UrlOrder
from gossamer.settings import Frontier
from support.rows import each_row

ROOT = "http://a.example/"


def noted(order: UrlOrder, *urls: str) -> tuple[PageColumns, UrlSlots]:
    pages = PageColumns()
    slots = np.arange(len(urls), dtype=np.int32)
    pages.add(1, 0, len(urls))
    order.note_urls(pages, slots, urls)
    return pages, slots


def values(order: UrlOrder, *urls: str) -> list[float]:
    pages, slots = noted(order, *urls)
    return [float(value) for value in order.value(pages, slots)]


def test_a_location_near_the_root_without_a_query_is_worth_most() -> None:
    urls = [ROOT, f"{ROOT}a", f"{ROOT}a/b/", f"{ROOT}a?x=1", f"{ROOT}index.html"]

    assert values(Location(Frontier().location), *urls) == pytest.approx(
        [1, 1 / 2, 1 / 3, 1 / 4, 3 / 4]
    )


def test_patterns_of_a_location_multiply() -> None:
    order = Location(["/docs/=4", "*.pdf=0.5", "re:draft=0"])

    assert order.worth(f"{ROOT}docs/a") == pytest.approx(4 / 3)
    assert order.worth(f"{ROOT}docs/a.pdf") == pytest.approx(2 / 3)
    assert order.worth(f"{ROOT}draft") == 0


@each_row("text", ["*.pdf", "=3", "*.pdf=much", "*.pdf=-1", "*.pdf=inf", "*.pdf=nan"])
def test_a_pattern_without_a_weight_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="PATTERN=WEIGHT"):
        Location([text])


def test_the_link_that_says_what_the_query_asks_for_is_worth_most() -> None:
    order = Similarity("stained glass windows")
    pages, slots = noted(order, *(f"{ROOT}{n}" for n in range(4)))

    texts = ["contact", "glass", "the stained glass window", "windows and doors and much more"]
    order.note_anchors(pages, slots, texts)

    found = order.value(pages, slots).tolist()
    assert found[0] == 0
    assert found[2] > found[1] > found[3] > 0
    assert max(found) <= 1


def test_a_rare_word_of_the_query_counts_more_than_a_common_one() -> None:
    order = Similarity("the heron")
    pages, slots = noted(order, f"{ROOT}1", f"{ROOT}2")
    for _ in range(50):
        order.note_anchors(pages, slots[:0], [])
        order._rarity.see({"the": 1, "house": 1})

    order.note_anchors(pages, slots, ["the nest", "heron nest"])

    common, rare = order.value(pages, slots).tolist()
    assert rare > 3 * common > 0


def test_the_best_link_counts_and_words_of_the_url_count_half() -> None:
    order = Similarity("heron")
    pages, slots = noted(order, f"{ROOT}heron", f"{ROOT}x")
    by_url = float(order.value(pages, slots)[0])
    order.note_anchors(pages, slots, ["elsewhere", "heron"])
    order.note_anchors(pages, slots, ["", "page"])

    url, link = order.value(pages, slots).tolist()
    assert url == by_url == pytest.approx(0.5)
    assert link == pytest.approx(1)


def test_a_query_without_words_is_refused() -> None:
    with pytest.raises(UsageError, match="--query"):
        Similarity(" ?! ")


def test_visits_are_found_by_url_by_host_and_by_path() -> None:
    counts = {f"{ROOT}a": 7.0, "//b.example/a": 5.0, "/a": 3.0, "/b": 2.0}
    urls = [f"{ROOT}a", "http://b.example/a", "https://c.example/a", f"{ROOT}b", f"{ROOT}c"]

    assert values(LoggedVisits(counts), *urls) == [7, 5, 3, 2, 0]


def test_the_text_around_a_link_counts_half() -> None:
    order = Similarity("stained glass")
    pages, slots = noted(order, f"{ROOT}1", f"{ROOT}2", f"{ROOT}3")

    order.note_anchors(pages, slots[:1], ["stained glass"])
    order.note_contexts(pages, slots[1:], ["stained glass", "nothing of it"])

    named, beside, other = order.value(pages, slots).tolist()
    assert beside == pytest.approx(named / 2)
    assert other == 0
