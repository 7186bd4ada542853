"""Weighted mixes of orders, and the text that names them."""

from __future__ import annotations

import numpy as np
import pytest

from gossamer.base.weighted_names import WeightedName, read_mix
from gossamer.errors import SettingsError
from gossamer.policies.named_order import is_by_value, values_named
from gossamer.policies.orders.columns import PageColumns
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.makers import NAMES, OrderFacts, make_order
from gossamer.policies.orders.mix import Mix
from gossamer.settings import Frontier
from support.rows import each_row

FACTS = OrderFacts("query", ("*?*=0.5",), {"/": 1.0})


def columns() -> tuple[PageColumns, Edges]:
    """Twenty URLs; the first is fetched and links to the others."""
    pages, links = PageColumns(), Edges()
    pages.add(np.minimum(np.arange(20, dtype=np.int32), 1), 0, 20)
    targets = np.arange(1, 20, dtype=np.int32)
    batch = LinkBatch(np.zeros(1, np.int32), np.array([19], np.int32), targets)
    pages.note_fetched(batch.sources)
    pages.note_links(targets)
    pages.links[7] = 9
    links.add(batch)
    return pages, links


@pytest.mark.parametrize("text", ["0.6 pagerank+0.4*location", "pagerank + 2 location"])
def test_a_mix_is_read_with_its_weights(text: str) -> None:
    names = [name for _, name in read_mix(text)]

    assert names == ["pagerank", "location"]
    assert read_mix("best") == [WeightedName(1.0, "best")]


@each_row(
    ("text", "says"),
    [
        ("0.6 pagerang + 0.4 location", "'pagerang' is not one of .*; did you mean pagerank"),
        ("0.6 pagerank + location + ", "'' is not a weight and a name"),
        ("0 pagerank + location", "the weight 0 is not greater than 0"),
        ("pagerank + pagerank", "'pagerank' occurs twice"),
        ("x1 pagerank", "is not a weight and a name"),
        ("1..2 pagerank", "'1..2' is not a number"),
        ("pagerang", "must be one of .*; did you mean pagerank"),
    ],
)
def test_a_wrong_mix_is_refused_with_what_is_wrong_in_it(text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        Frontier(order=text)


def test_parts_are_brought_to_one_scale_and_weighted() -> None:
    mix = make_order("3 backlinks + breadth", FACTS)
    assert isinstance(mix, Mix)
    pages, links = columns()
    for _ in range(20):  # grows until the means are due
        pages.fetched += 1
        mix.recompute(pages, links)

    slots = np.array([1, 7], np.int32)
    mean = (18 * 1 + 9) / 19
    by_links = [1 / (1 + mean), 9 / (9 + mean)]
    expected = [0.75 * share + 0.25 * 0.5 for share in by_links]  # all have the same depth
    assert mix.value(pages, slots).tolist() == pytest.approx(expected, rel=1e-5)


def test_a_mix_asks_for_what_its_parts_need() -> None:
    words, links = make_order("similarity + location", FACTS), make_order("best + random", FACTS)
    assert isinstance(words, Mix)
    assert isinstance(links, Mix)

    assert (words.uses_links, words.wants_anchors, words.site_power) == (False, True, 0)
    assert (links.uses_links, links.wants_anchors, links.site_power) == (True, False, 0.25)


@each_row("name", [name for name in NAMES if name != "focus"])  # it needs a topic
def test_every_order_values_all_urls_and_keeps_its_promises(name: str) -> None:
    order = make_order(name, FACTS)
    pages, links = columns()
    slots = np.arange(pages.count, dtype=np.int32)
    if hasattr(order, "note_urls"):
        order.note_urls(pages, slots, [f"http://a.example/{n}" for n in range(pages.count)])
    before = order.value(pages, slots)

    changed = order.learn(pages, links, links.of(np.zeros(1, np.int32)))
    after = order.value(pages, slots)

    assert before.dtype == after.dtype == np.float32
    assert (after >= 0).all()
    assert np.isfinite(after).all()
    assert set(np.flatnonzero(before != after).tolist()) <= {0, *changed.tolist()}
    few = slots[[3, 7]]
    assert order.value(pages, few).tolist() == after[few].tolist()
    assert order.recompute(pages, links) is False  # so early


@pytest.mark.parametrize("name", ["breadth", "depth"])
def test_breadth_and_depth_alone_need_no_columns(name: str) -> None:
    assert not is_by_value(name)
    assert values_named(Frontier(order=name)) is None
    assert is_by_value(f"{name} + random")
