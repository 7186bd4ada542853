"""A page that cannot be read costs that page, and nothing else, whoever reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gossamer.archive.reader import iter_exchanges
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import DiskFault
from gossamer.parse.html import Parser
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Page
from gossamer.transfer.exports import batches
from gossamer.upkeep.forget import forget
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from gossamer.workers import build_worker as equip
from gossamer.workers.guarded_reader import DEADLY
from support.a_crawl import crawl
from support.a_site import Site, page, site_in_thread
from workers.test_crash_marker import left_by

BAD_TARGETS = ["http://h:x/", "http://a b/", "http://[::1/", "http://h:99999/"]
PAGES = {
    "/": page("<a href=/other>other</a>" + "".join(f"<a href=/bad{n}>bad</a>" for n in range(4))),
    "/other": page("<title>Other</title><a href=/>home</a>"),
} | {
    f"/bad{n}": page(
        f'<title>Bad {n}</title><meta http-equiv=refresh content="0;url={target}">'
        "<a href=/other>other</a>"
    )
    for n, target in enumerate(BAD_TARGETS)
}


class Mined(Parser):
    """A parser with a fault: it fails on any page that has the word for it."""

    def parse(self, url: str, content_type: str, body: bytes, *more: object) -> Page:
        if b"trigger" in body:
            raise RuntimeError("it went off")
        return super().parse(url, content_type, body, *more)  # type: ignore[arg-type]


MINED = {
    "/": page("<a href=/a>a</a> <a href=/mined>m</a> <a href=/b>b</a>"),
    "/a": page("<a href=/b>b</a> apple"),
    "/mined": page("<a href=/c>c</a> trigger"),
    "/b": page("pear"),
}


@pytest.fixture
def site() -> Iterator[Site]:
    with site_in_thread(PAGES) as served:
        yield served


def outcomes(path: Path) -> dict[str, tuple[str, str]]:
    with CollectionReader.open(path) as reader:
        rows = [row for batch in batches(reader, "pages") for row in batch.to_pylist()]
    return {urlsplit(row["url"]).path: (row["outcome"], row["reason"] or "") for row in rows}


def remade(path: Path, what: str = "all") -> list[str]:
    told: list[str] = []
    rebuild(CollectionPaths(path), what, SystemClock(), told.append)
    return told


def forgotten(path: Path, url: str) -> None:
    forget(CollectionPaths(path), [url], SystemClock(), lambda _: None)


def test_a_refresh_to_a_bad_url_is_a_page_like_any_other(site: Site, collection: Path) -> None:
    crawl(collection, [site.url()])

    assert set(outcomes(collection).values()) == {("fetched", "")}
    assert list(verify(CollectionPaths(collection))) == []


def test_pages_with_bad_refreshes_neither_stop_a_rebuild_nor_a_takedown(
    site: Site, collection: Path
) -> None:
    crawl(collection, [site.url()])
    before = outcomes(collection)

    remade(collection)
    assert outcomes(collection) == before
    forgotten(collection, site.url("/other"))

    assert outcomes(collection).keys() == before.keys() - {"/other"}
    assert list(verify(CollectionPaths(collection))) == []


@pytest.fixture
def mined(collection: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A collection with a page on which reading fails, from its archiving on."""
    monkeypatch.setattr(equip, "Parser", Mined)
    with site_in_thread(MINED) as served:
        crawl(collection, [served.url()])
        yield collection


def url_in(path: Path, end: str) -> str:
    with CollectionReader.open(path) as reader:
        rows = [row for batch in batches(reader, "pages") for row in batch.to_pylist()]
    return next(str(row["url"]) for row in rows if str(row["url"]).endswith(end))


@pytest.mark.parametrize("what", ["graph", "index", "state", "all"])
def test_a_page_that_cannot_be_read_is_named_by_rebuild_and_verify(mined: Path, what: str) -> None:
    before = outcomes(mined)
    assert before["/mined"] == ("failed", "crash")

    told = remade(mined, what)

    assert outcomes(mined) == before
    assert [
        line for line in told if "cannot read" in line and "/mined" in line and "went off" in line
    ]
    [problem] = list(verify(CollectionPaths(mined)))
    assert problem.where.endswith("/mined")
    assert "could not be read" in problem.what


def test_a_takedown_of_another_page_goes_on_over_a_page_that_cannot_be_read(mined: Path) -> None:
    forgotten(mined, url_in(mined, "/b"))

    assert outcomes(mined).keys() == {"/", "/a", "/mined"}
    [problem] = list(verify(CollectionPaths(mined)))
    assert problem.where.endswith("/mined")


def test_a_page_that_can_be_read_by_now_is_read_by_a_rebuild(
    mined: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equip, "Parser", Parser)

    remade(mined)

    assert ("failed", "crash") not in outcomes(mined).values()
    assert list(verify(CollectionPaths(mined))) == []


@pytest.mark.parametrize("what", ["graph", "index", "state", "all"])
def test_a_rebuild_that_fails_leaves_nothing_behind(mined: Path, what: str) -> None:
    parts = sorted(path.name for path in mined.iterdir())
    actions = (mined / "log" / "acts.jsonl").read_bytes()
    [first, *_] = sorted((mined / "archive").glob("*.warc.gz"))
    damaged = bytearray(first.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    first.write_bytes(damaged)

    with pytest.raises(Exception, match="byte"):
        remade(mined, what)

    assert sorted(path.name for path in mined.iterdir()) == parts
    assert (mined / "log" / "acts.jsonl").read_bytes() == actions
    assert not list((mined / "run").glob("marker-*-rebuild"))


def test_a_disk_that_fails_a_rebuild_is_told_in_one_sentence(mined: Path) -> None:
    (mined / "graph").rename(mined / "graph-kept")
    (mined / "graph").write_bytes(b"")  # a file where a folder should be: rmtree cannot help
    (mined / "graph.new").write_bytes(b"")

    with pytest.raises(DiskFault, match="cannot rebuild"):
        remade(mined, "graph")


@pytest.mark.parametrize("what", ["rebuild", "forget"])
def test_a_page_that_killed_two_readers_is_read_by_nobody(
    site: Site, collection: Path, what: str
) -> None:
    crawl(collection, [site.url()])
    [path] = (collection / "archive").glob("*.warc.gz")
    exchanges = {exchange.answer.url: exchange for exchange in iter_exchanges(path)}
    deadly = exchanges[site.url("/bad1")].stored
    for run in "ab":
        left_by(collection / "run", f"marker-{run}-rebuild", path.name, deadly.start)
        if what == "forget":  # whoever comes between counts the first death
            remade(collection, "graph")

    if what == "rebuild":
        remade(collection)
    else:
        remade(collection, "state")
        forgotten(collection, site.url("/other"))
        remade(collection, "state")

    with CollectionReader.open(collection) as reader:
        row = reader.find(site.url("/bad1"))
    assert row is not None
    assert row.reason == "crash"
    assert row.detail == DEADLY
