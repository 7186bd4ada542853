"""The crawl as a Python object."""

from __future__ import annotations

import ast
import asyncio
import socket
from pathlib import Path
from typing import assert_type

import pytest

import gossamer
from gossamer.api import NothingFetched
from gossamer.api import crawl as crawl_all
from gossamer.errors import NoCollection, SettingsError, UsageError
from gossamer.node.seeds import UnknownHost
from support.a_site import Pages, page, site_in_thread
from support.killing import until

SMALL: Pages = {
    "/": page('<title>Home</title><a href="/a">to a</a><a href="/b">to b</a>'),
    "/a": page("<title>A</title><h1>Head</h1>words"),
    "/b": page("<title>B</title>", "404 Not Found"),
}


def many(count: int) -> Pages:
    links = "".join(f"<a href=/{number}>x</a>" for number in range(count))
    return {"/": page(links), "*": page("x")}


def test_pages_come_as_they_are_fetched(collection: Path) -> None:
    async def titles(url: str) -> dict[str, tuple[int, int]]:
        async with gossamer.Crawl(url, collection=collection, delay=0) as crawl:
            return {p.title: (p.status, len(p.links)) async for p in crawl}

    with site_in_thread(SMALL) as site:
        found = asyncio.run(titles(site.url()))

    assert found == {"Home": (200, 2), "A": (200, 0), "B": (404, 0)}


def test_a_plain_loop_does_the_same(collection: Path) -> None:
    with (
        site_in_thread(SMALL) as site,
        gossamer.Crawl(site.url(), collection=str(collection), delay=0) as crawl,
    ):
        found = {p.title: p for p in crawl}

    assert set(found) == {"Home", "A", "B"}
    assert [(link.url, link.text) for link in found["Home"].links] == [
        (site.url("/a"), "to a"),
        (site.url("/b"), "to b"),
    ]
    assert (found["A"].headings, found["A"].depth, found["Home"].depth) == (("Head",), 1, 0)
    assert crawl.summary is not None
    assert crawl.summary.fetched == 3


def test_a_plain_loop_works_inside_a_running_loop(collection: Path) -> None:
    async def notebook_cell(url: str) -> int:
        with gossamer.Crawl(url, collection=collection, delay=0) as crawl:
            return sum(1 for _ in crawl)

    with site_in_thread(SMALL) as site:
        assert asyncio.run(notebook_cell(site.url())) == 3


def test_looping_again_ends_at_once(collection: Path) -> None:
    async def twice(url: str) -> tuple[int, int]:
        async with gossamer.Crawl(url, collection=collection / "a", delay=0) as crawl:
            first = len([p async for p in crawl])
            return first, len([p async for p in crawl])

    with site_in_thread(SMALL) as site:
        assert asyncio.run(twice(site.url())) == (3, 0)
        with gossamer.Crawl(site.url(), collection=collection / "b", delay=0) as crawl:
            assert (len(list(crawl)), len(list(crawl))) == (3, 0)


def test_who_leaves_early_can_go_on(collection: Path) -> None:
    with site_in_thread(many(400)) as site:
        with gossamer.Crawl(site.url(), collection=collection, delay=0, connections=4) as crawl:
            for number, _ in enumerate(crawl):
                if number == 10:
                    break
        after_first = len(site.log)
        reader = crawl_all(site.url(), collection=collection, delay=0)

    assert after_first < 300
    assert reader.counts().fetched == 401
    reader.close()
    assert len(site.asked) == len(set(site.asked))


def test_who_leaves_an_async_loop_early_can_go_on(collection: Path) -> None:
    async def first(url: str) -> str:
        async with gossamer.Crawl(url, collection=collection, delay=0) as crawl:
            async for found in crawl:
                url = str(found.url)
                break
        return url

    with site_in_thread(many(300)) as site:
        assert asyncio.run(first(site.url())) == site.url()
        crawl_all(site.url(), collection=collection, delay=0).close()

    assert len(site.asked) == len(set(site.asked)) == 302


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_reader_that_does_not_read_holds_the_crawl_back(is_plain: bool, collection: Path) -> None:
    async def wait(url: str) -> None:
        async with gossamer.Crawl(url, collection=collection, delay=0, connections=8) as crawl:
            await asyncio.to_thread(until, lambda: crawl.progress().fetched >= 200)
            await asyncio.to_thread(until, lambda: crawl.progress().under_way == 0)

    with site_in_thread(many(900)) as site:
        if is_plain:
            with gossamer.Crawl(site.url(), collection=collection, delay=0, connections=8) as crawl:
                until(lambda: crawl.progress().fetched >= 200)
                until(lambda: crawl.progress().under_way == 0)
        else:
            asyncio.run(wait(site.url()))
        asked = len(site.log)

    assert 200 <= asked <= 1 + 200 + 8


def test_a_held_back_crawl_goes_on_with_its_reader(collection: Path) -> None:
    with (
        site_in_thread(many(900)) as site,
        gossamer.Crawl(site.url(), collection=collection, delay=0) as crawl,
    ):
        until(lambda: crawl.progress().fetched >= 200)
        assert sum(1 for _ in crawl) == 901


@pytest.mark.parametrize(
    ("seed", "options", "error"),
    [
        ("http://x.invalid/", {}, UnknownHost),
        ("not a url", {}, UsageError),
        ("http://127.0.0.1/", {"dpeth": 1}, UsageError),
        ("http://127.0.0.1/", {"depth": "deep"}, SettingsError),
        ("http://127.0.0.1/", {"depth": -5}, SettingsError),
        ("http://127.0.0.1/", {"include": ["re:("]}, UsageError),
        ("http://127.0.0.1:25/", {}, UsageError),
        ("http://93.184.216.34/", {}, UsageError),
    ],
)
def test_errors_come_to_the_caller_and_nothing_is_made(
    seed: str, options: dict[str, object], error: type[Exception], collection: Path
) -> None:
    async def in_loop() -> None:
        async with gossamer.Crawl(seed, collection=collection, **options):  # type: ignore[arg-type]
            pass

    with (
        pytest.raises(error),
        gossamer.Crawl(seed, collection=collection, **options),  # type: ignore[arg-type]
    ):
        pass
    with pytest.raises(error):
        asyncio.run(in_loop())

    assert not collection.exists()


def test_an_error_of_the_readers_own_stops_the_crawl_cleanly(collection: Path) -> None:
    def divide(url: str) -> None:
        with gossamer.Crawl(url, collection=collection, delay=0) as crawl:
            for _ in crawl:
                _ = 1 // 0

    with site_in_thread(many(300)) as site:
        with pytest.raises(ZeroDivisionError):
            divide(site.url())
        reader = crawl_all(site.url(), collection=collection, delay=0)

    assert reader.counts().fetched == 301
    reader.close()
    assert len(site.asked) == len(set(site.asked))


def test_a_blocking_crawl_gives_the_study(collection: Path) -> None:
    with site_in_thread(SMALL) as site:
        reader = gossamer.crawl(site.url(), collection=collection, delay=0, max_pages=2)

    assert_type(reader, gossamer.Collection)  # of the function: not of the folder of that name
    assert reader.counts().fetched == 2
    reader.close()


def test_type_checkers_see_the_names_that_there_are() -> None:
    stub = ast.parse(Path(gossamer.__file__).with_suffix(".pyi").read_text("utf-8"))
    imported = (node.names for node in stub.body if isinstance(node, ast.ImportFrom))

    names = {alias.name for aliases in imported for alias in aliases}

    assert names == set(gossamer.__all__)
    assert all(hasattr(gossamer, name) for name in names)


@pytest.mark.parametrize("name", ["index", "graph"])
def test_what_the_command_line_leaves_out_python_can_leave_out(name: str, collection: Path) -> None:
    with site_in_thread(SMALL) as site:
        options: gossamer.Options = {"delay": 0}
        options["no_index" if name == "index" else "no_graph"] = True
        gossamer.crawl(site.url(), collection=collection, **options).close()

    assert not any((collection / name).rglob("*.*"))


def test_who_loops_without_a_block_is_told_to_write_one(collection: Path) -> None:
    async def loop() -> None:
        async for _ in gossamer.Crawl("http://127.0.0.1/", collection=collection):
            pass

    with pytest.raises(UsageError, match="use `with Crawl"):
        iter(gossamer.Crawl("http://127.0.0.1/", collection=collection))
    with pytest.raises(UsageError, match="use `async with Crawl"):
        asyncio.run(asyncio.wait_for(loop(), 60))
    assert not collection.exists()


def test_a_collection_is_opened_beside_a_running_crawl(collection: Path) -> None:
    with (
        site_in_thread(many(300)) as site,
        gossamer.Crawl(
            site.url(), collection=collection, delay=0, node__commit_every_s=0.02
        ) as crawl,
    ):
        until(lambda: crawl.progress().fetched >= 200)
        with gossamer.open(collection) as reader:
            known = reader.counts().known
        assert sum(1 for _ in crawl) == 301

    assert known > 0


def test_there_must_be_a_collection_to_open(collection: Path) -> None:
    with pytest.raises(NoCollection):
        gossamer.open(collection)


def test_a_seed_of_a_new_site_joins_only_when_it_is_said(collection: Path) -> None:
    pages: Pages = {"/": page("x")}
    with site_in_thread(hosts={"one.localhost": pages, "two.localhost": pages}) as site:
        one, two = (site.url("/", host) for host in ("one.localhost", "two.localhost"))
        crawl_all(one, collection=collection, delay=0)
        with pytest.raises(UsageError, match=r"two\.localhost is new to"):
            crawl_all(two, collection=collection, delay=0)
        reader = crawl_all(two, collection=collection, delay=0, add=True)

    assert len(reader.pages) == 2


def test_a_crawl_in_vain_raises_and_keeps_its_trace(collection: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        seed = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(NothingFetched, match="nothing was fetched"):
            crawl_all(seed, collection=collection)

    with gossamer.open(collection) as reader:
        assert reader.counts().failed == 1
