"""Columns of URLs and the links of fetched pages."""

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.orders.backlinks import Backlinks
from gossamer.policies.orders.columns import PageColumns
from gossamer.policies.orders.edges import Edges, LinkBatch


def ints(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def test_columns_grow_and_keep_their_values() -> None:
    pages = PageColumns()

    first = pages.add(0, 3)
    second = pages.add(ints(*range(5_000)), ints(*range(5_000)), 5_000)

    assert (first, second, pages.count) == (0, 1, 5_001)
    assert pages.site[0] == 3
    assert pages.depth[5_000] == 4_999
    assert pages.relevance[4_000] == 0.5
    assert len(pages.site_fetched) >= 5_000


def test_a_page_that_is_fetched_twice_counts_once() -> None:
    pages = PageColumns()
    pages.add(0, ints(7, 7, 8), 3)

    pages.note_fetched(ints(0, 1))
    pages.note_fetched(ints(1, 2))

    assert pages.fetched == 3
    assert pages.site_fetched[[7, 8]].tolist() == [2, 1]


def test_backlinks_are_counted() -> None:
    pages = PageColumns()
    pages.add(0, 0, 3)

    pages.note_links(ints(1, 2, 2))

    assert Backlinks().value(pages, ints(0, 1, 2)).tolist() == [0, 1, 2]


def test_links_of_pages_are_found_again() -> None:
    edges = Edges()

    edges.add(LinkBatch(ints(4, 1), ints(2, 1), ints(7, 8, 9)))
    edges.add(LinkBatch(ints(2), ints(0), ints()))

    assert edges.of(ints(1, 3, 4, 2)).targets.tolist() == [9, 7, 8]
    assert edges.of(ints(1, 3, 4, 2)).counts.tolist() == [1, 0, 2, 0]
    assert edges.counts(6).tolist() == [0, 1, 0, 0, 2, 0]
    assert edges.of(ints(99_999)).targets.tolist() == []


def test_the_links_of_a_page_that_is_fetched_again_replace_the_old_ones() -> None:
    edges = Edges()
    for page in range(100):
        edges.add(LinkBatch(ints(page), ints(2), ints(page + 1, page + 2)))

    for page in range(80):
        edges.add(LinkBatch(ints(page), ints(1), ints(0)))

    sources, targets = edges.all()
    assert len(sources) == 80 + 2 * 20
    assert edges.size < 280
    assert sorted(targets[sources == 90].tolist()) == [91, 92]
    assert targets[sources == 5].tolist() == [0]
