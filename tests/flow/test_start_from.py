"""Starting points from a search: a real engine on a real server, and the search of a collection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import gossamer
from gossamer.base.clock import SystemClock
from gossamer.collection.crawl_log import read_actions
from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.collection.starting_points import stored_points
from gossamer.collection.stored_settings import stored_seeds, with_stored_seeds
from gossamer.errors import UsageError
from gossamer.node.starts.engine import SearchFault
from gossamer.upkeep.rebuild import rebuild
from support.a_crawl import crawl
from support.a_site import Site, answer, page, redirect, robots, site_in_thread
from support.killing import typed

QUICK: dict[str, object] = {"delay": 0, "frontier.memory_mb": 16, "workers": 0, "scope": "page"}
ENGINE = "engine.localhost"  # another host than that of the results
LOOPBACK = {"allow_private": ["127.0.0.0/8"]}


def engine(site: Site, path: str = "/search?q={query}") -> str:
    return f"http://{ENGINE}:{site.port}{path}"


def results(site: Site, *paths: str) -> bytes:
    items = "".join(f'<li><a href="{site.url(path)}">{path}</a></li>' for path in paths)
    return page(f"<ul>{items}</ul>")


def begin(folder: Path, source: str, **options: object) -> gossamer.Collection:
    words: dict[str, object] = {"query": "wind instruments", "order": "focus", **LOOPBACK, **QUICK}
    return gossamer.crawl(collection=folder, start_from=[source], **{**words, **options})  # type: ignore[arg-type]


def urls(folder: Path) -> dict[str, str]:
    return {
        row["url"]: row["outcome"] for row in gossamer.open(folder).pages.to_arrow().to_pylist()
    }


def a_web(**pages: bytes) -> Mapping[str, bytes]:
    return {"/a": page("wind instruments"), "/b": page("more of them"), **pages}


def test_results_of_an_engine_are_seeds(tmp_path: Path) -> None:
    with site_in_thread(a_web()) as site:
        site.pages = {**site.pages, "/search?q=wind%20instruments": results(site, "/a", "/b")}
        begin(tmp_path / "c", engine(site))
        wanted = {site.url("/a"): "fetched", site.url("/b"): "fetched"}
        asked = site.asked_of(ENGINE)

    assert urls(tmp_path / "c") == wanted
    assert asked == ["/robots.txt", "/search?q=wind%20instruments"]


def test_why_names_the_search_that_gave_a_seed(tmp_path: Path) -> None:
    with site_in_thread(a_web()) as site:
        site.pages = {**site.pages, "/search?q=wind%20instruments": results(site, "/a", "/b")}
        begin(tmp_path / "c", engine(site))
        second, source = site.url("/b"), engine(site)
    told = typed("why", second, "-c", tmp_path / "c")
    data = json.loads(typed("why", second, "-c", tmp_path / "c", "--json").out)
    [line] = read_actions(CollectionPaths(tmp_path / "c").actions, "starting points")

    assert f"A search for 'wind instruments' in {source} found it" in told.out
    assert "result 2." in told.out
    assert data["starting_point"]["source"] == source
    assert data["starting_point"]["place"] == 2
    assert line["found"][1] == second


def test_a_collection_is_searched_without_a_request(tmp_path: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl(tmp_path / "first", [site.url("/a"), site.url("/b")], scope__kind="page")
        site.log.clear()
        begin(tmp_path / "c", str(tmp_path / "first"))
        wanted = {site.url("/a"): "fetched"}
        asked = site.asked

    assert urls(tmp_path / "c") == wanted
    assert asked == ["/robots.txt", "/a"]


def test_json_and_a_limit(tmp_path: Path) -> None:
    with site_in_thread(a_web()) as site:
        found = {"hits": [{"at": site.url("/b")}, {"at": site.url("/a")}]}
        body = answer(json.dumps(found).encode(), headers={"content-type": "application/json"})
        site.pages = {**site.pages, "/api/wind%20instruments": body}
        source = engine(site, "/api/{query}")
        begin(tmp_path / "c", source, **{"focus.start_select": "hits.at", "focus.start_urls": 1})
        wanted = {site.url("/b"): "fetched"}

    assert urls(tmp_path / "c") == wanted


def test_a_result_may_not_be_private(tmp_path: Path) -> None:
    """The operator typed the engine, and nobody typed what it answers."""
    with site_in_thread(a_web()) as site:
        site.pages = {**site.pages, "/search?q=wind%20instruments": results(site, "/a")}
        begin(tmp_path / "c", engine(site), allow_private=[])
        asked = [one.path for one in site.log if one.host != ENGINE]
    store = open_to_read(CollectionPaths(tmp_path / "c"))
    try:
        hosts = with_stored_seeds(store, ())[1].hosts
    finally:
        store.close()

    assert asked == []
    assert list(urls(tmp_path / "c").values()) == ["refused"]
    assert list(hosts) == []


def test_an_engine_may_not_lead_to_a_private_host(tmp_path: Path) -> None:
    with site_in_thread({}) as site:
        site.pages = {"/search?q=wind%20instruments": redirect(site.url("/inner"))}
        with pytest.raises(SearchFault, match="not public"):
            begin(tmp_path / "c", engine(site), allow_private=[])
        asked = site.asked

    assert "/inner" not in asked
    assert not (tmp_path / "c").exists()


def test_robots_txt_of_the_engine_holds(tmp_path: Path) -> None:
    with site_in_thread({"/robots.txt": robots("User-agent: *\nDisallow: /search")}) as site:
        with pytest.raises(SearchFault, match=r"robots\.txt does not allow"):
            begin(tmp_path / "c", engine(site))
        asked = site.asked

    assert asked == ["/robots.txt"]


def test_the_engine_is_given_its_delay(tmp_path: Path) -> None:
    with site_in_thread(a_web()) as site:
        site.pages = {**site.pages, "/search?q=wind%20instruments": results(site, "/a")}
        begin(tmp_path / "c", engine(site), delay=0.4)
        first, second = (one for one in site.log if one.host == ENGINE)

    assert first.ended_s is not None
    assert second.began_s - first.ended_s >= 0.39


def test_a_search_without_results_is_an_error_and_leaves_no_collection(tmp_path: Path) -> None:
    with site_in_thread({"*": page("nothing here")}) as site:
        with pytest.raises(SearchFault, match="gave no results for 'wind instruments'"):
            begin(tmp_path / "c", engine(site))
        site.pages = {}
        with pytest.raises(SearchFault, match="status 404"):
            begin(tmp_path / "c", engine(site))

    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("http://127.0.0.2/search", {}, "{query} is missing"),
        ("http://127.0.0.2:99999/{query}", {}, "not a URL"),
        ("nowhere", {}, "neither a collection nor a URL"),
        ("http://127.0.0.2/{query}", {"query": ""}, "add --query WORDS"),
    ],
)
def test_a_source_that_cannot_be_searched_is_named(
    tmp_path: Path, source: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        begin(tmp_path / "c", source, **{"order": "breadth", **options})

    assert not (tmp_path / "c").exists()


def test_a_resumed_crawl_searches_again_only_if_it_is_typed_again(tmp_path: Path) -> None:
    with site_in_thread(a_web()) as site:
        path = "/search?q=wind%20instruments"
        site.pages = {**site.pages, path: results(site, "/a")}
        begin(tmp_path / "c", engine(site))
        crawl(tmp_path / "c", [], scope__kind="page")
        once = site.asked.count(path)
        site.pages = {**site.pages, path: results(site, "/a", "/b")}
        begin(tmp_path / "c", engine(site))
        twice = site.asked.count(path)
        wanted = {site.url("/a"): "fetched", site.url("/b"): "fetched"}

    assert (once, twice) == (1, 2)
    assert urls(tmp_path / "c") == wanted


def test_a_rebuilt_state_knows_starting_points_and_does_not_trust_them(tmp_path: Path) -> None:
    with site_in_thread(a_web()) as site:
        site.pages = {**site.pages, "/search?q=wind%20instruments": results(site, "/a")}
        begin(tmp_path / "c", engine(site))
        seed = site.url("/a")
    paths = CollectionPaths(tmp_path / "c")
    for file in paths.state.iterdir():
        file.unlink()
    rebuild(paths, "all", SystemClock(), lambda _: None)
    store = open_to_read(paths)
    try:
        seeds, points = stored_seeds(store), stored_points(store)
        hosts = with_stored_seeds(store, ())[1].hosts
    finally:
        store.close()

    assert list(seeds) == [seed]
    assert [point.url for point in points] == [seed]
    assert points[0].at_us > 0
    assert list(hosts) == []


def test_a_dry_run_sends_no_search(tmp_path: Path) -> None:
    with site_in_thread(a_web()) as site:
        told = typed(
            "crawl", "--dry-run", "-c", tmp_path / "c", "--query", "wind", "--order", "focus",
            "--start-from", engine(site),
        )  # fmt: skip
        asked = site.asked

    assert asked == []
    assert "was not searched; its results would be further seeds" in told.out
