"""The pages and sites that come first."""

from pathlib import Path
from typing import Any

import pytest

from gossamer.base.clock import ManualClock
from gossamer.errors import UsageError
from gossamer.graph.ranks.top import BY, top
from support.a_graph import a_graph, capture, link

HOME, NEWS = "http://www.one.org/", "http://two.org/news"


def a_web(home: Path) -> Path:
    """HOME is linked by three pages of two hosts of one other site, NEWS by pages of two sites."""
    pages = [
        capture("http://two.org/", 1, link(HOME, "a"), link(HOME, "b"), link("http://two.org/")),
        capture("http://m.two.org/x", 1, link(HOME)),
        capture("http://m.two.org/y", 1, link(HOME)),
        capture("http://three.org/", 1, link(NEWS)),
        capture(HOME, 1, link(NEWS)),
    ]
    return a_graph(home, pages)


def first(folder: Path, by: str, level: str = "page", limit: int = 9) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = top(folder, ManualClock(), by, level, limit).to_pylist()
    return rows


def test_backlinks_count_pages_once(tmp_path: Path) -> None:
    assert first(a_web(tmp_path), "backlinks") == [
        {"url": HOME, "backlinks": 3, "hosts": 2, "sites": 1},
        {"url": NEWS, "backlinks": 2, "hosts": 2, "sites": 2},
    ]


def test_sites_of_linking_pages_are_another_order(tmp_path: Path) -> None:
    assert [row["url"] for row in first(a_web(tmp_path), "sites")] == [NEWS, HOME]


def test_links_within_a_site_do_not_count_for_it(tmp_path: Path) -> None:
    assert first(a_web(tmp_path), "backlinks", "site") == [
        {"url": "one.org", "backlinks": 3, "hosts": 2, "sites": 1},
        {"url": "two.org", "backlinks": 2, "hosts": 2, "sites": 2},
    ]


def test_ties_go_by_url(tmp_path: Path) -> None:
    targets = [link(f"http://{name}/") for name in "dbca"]
    folder = a_graph(tmp_path, [capture("http://x/", 1, *targets)])

    found = first(folder, "backlinks", limit=3)

    assert [row["url"] for row in found] == ["http://a/", "http://b/", "http://c/"]


@pytest.mark.parametrize("level", ["page", "site"])
@pytest.mark.parametrize("by", BY)
def test_every_order_falls_and_keeps_its_limit(tmp_path: Path, by: str, level: str) -> None:
    rows = first(a_web(tmp_path), by, level, 2)

    values = [row[BY[by][0]] for row in rows]
    assert len(rows) == 2
    assert values == sorted(values, reverse=True)


def test_ranks_older_than_the_graph_are_computed_again(tmp_path: Path) -> None:
    folder = a_web(tmp_path)

    assert first(folder, "pagerank", limit=1)[0]["url"] == NEWS
    assert set(first(folder, "hubs", limit=1)[0]) == {"url", "hub", "authority", "pagerank"}


def test_a_graph_without_links_has_no_first(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()

    assert first(tmp_path / "graph", "backlinks") == first(tmp_path / "graph", "hubs", "site") == []


def test_an_order_that_is_none_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean pagerank\?; use backlinks, hosts"):
        first(tmp_path, "pagernak")
    with pytest.raises(UsageError, match="page and site"):
        first(tmp_path, "hosts", "host")
