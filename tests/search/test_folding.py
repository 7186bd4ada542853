"""Of several duplicates search shows one, with the number of copies, and totals are right."""

from pathlib import Path

import pytest

from gossamer.search import folding
from gossamer.search.engine import Engine
from gossamer.search.results import Request, results_object
from support.a_crawl import crawl
from support.a_site import page, site_in_thread

NAMES = [f"p{number}" for number in range(6)]
COPIES = ["c0", "c1", "c2", "d3"]  # of p0 three times, of p3 once
SITE = {
    "/": page("".join(f"<a href=/{name}>link {name}</a> " for name in [*NAMES, *COPIES])),
    **{f"/{name}": page(f"<title>{name}</title><p>Common words of page {name}.") for name in NAMES},
    **{f"/{name}": page("<title>p0</title><p>Common words of page p0.") for name in COPIES[:3]},
    "/d3": page("<title>p3</title><p>Common words of page p3."),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    collection: Path = tmp_path_factory.mktemp("folding") / "c"
    with site_in_thread(SITE) as site:
        crawl(collection, [site.url()], politeness__per_host=1)
    return Engine(collection)


def found(engine: Engine, query: str = "common words", **options: object) -> list[tuple[str, int]]:
    results = engine.search(Request(query=query, **options))  # type: ignore[arg-type]
    return [(hit.url.rsplit("/", 1)[1], hit.copies) for hit in results]


def test_one_of_the_duplicates_is_shown_with_the_number_of_copies(engine: Engine) -> None:
    results = engine.search(Request(query="common words"))

    assert results.total == 6
    shown = {hit.title: hit.copies for hit in results}
    assert shown == {"p0": 3, "p1": 0, "p2": 0, "p3": 1, "p4": 0, "p5": 0}
    assert {hit["copies"] for hit in results_object(results, Request(query="x"))["hits"]} == {
        0,
        1,
        3,
    }


def test_all_copies_are_shown_when_they_are_wanted(engine: Engine) -> None:
    results = engine.search(Request(query="common words", all_copies=True))

    assert results.total == 10
    assert len(results) == 10
    assert {hit.copies for hit in results} == {0}


def test_pages_of_results_follow_each_other_without_gaps(engine: Engine) -> None:
    whole = found(engine)
    parts = [one for start in range(0, 6, 2) for one in found(engine, limit=2, offset=start)]

    assert parts == whole
    assert found(engine, limit=2, offset=6) == []
    assert sorted(found(engine, sort="date")) == sorted(whole)


def test_a_copy_that_alone_matches_is_shown(engine: Engine) -> None:
    assert found(engine, "url:c1") == [("c1", 3)]
    assert len(found(engine, "url:c1 OR url:c2")) == 1


def test_many_duplicates_are_folded_among_the_candidates(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "_FEW", 1)
    folder = engine._duplicates._folder
    many = Engine(folder)

    results = many.search(Request(query="common words"))
    assert results.total == 6
    assert sorted(hit.copies for hit in results) == [0, 0, 0, 0, 1, 3]


def test_without_a_state_nothing_is_folded(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "index").symlink_to(engine._duplicates._folder / "index")
    (tmp_path / "graph").symlink_to(engine._duplicates._folder / "graph")

    assert Engine(tmp_path).search(Request(query="common words")).total == 10
