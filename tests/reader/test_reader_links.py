"""Links of a crawled site, asked as people ask: by URL as typed, by host, as a network."""

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import gossamer.api as gossamer
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import CorruptFile, NotKnown, UsageError
from gossamer.graph import manifest
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.links import anchors, backlinks
from gossamer.transfer.exports import export
from gossamer.upkeep.rebuild import rebuild
from support.a_crawl import crawl
from support.a_site import Pages, Site, page, redirect, site_in_thread

PAGES: Pages = {
    "/": page("<nav><a href=/b>bee</a></nav><a href=/b rel=nofollow>B</a> <a href=/c>c</a>"),
    "/b": page("<a href=#top>self</a><a href=http://never.example/x?q=1>out</a>"),
    "/c": page("<a href=/b>bee</a> <a href=/moved>m</a><a href='http://[bad'>bad</a>"),
    "/moved": redirect("/b"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    folder = tmp_path_factory.mktemp("links") / "collection"
    with site_in_thread(PAGES) as site:
        crawl(folder, [site.url()])
        yield site, folder


@pytest.fixture
def site(crawled: tuple[Site, Path]) -> Site:
    return crawled[0]


@pytest.fixture
def reader(crawled: tuple[Site, Path]) -> Iterator[CollectionReader]:
    with CollectionReader.open(crawled[1]) as opened:
        yield opened


def shown(table: Any, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in table.to_pylist()]


def test_backlinks_come_with_words_and_place(reader: CollectionReader, site: Site) -> None:
    meant, table = backlinks(reader, site.url("/b"))

    assert meant == site.url("/b")
    assert shown(table, "source", "anchor", "rel", "place", "kind") == [
        (site.url("/"), "B", "nofollow", "body", "a"),
        (site.url("/"), "bee", "", "nav", "a"),
        (site.url("/b"), "self", "", "body", "a"),
        (site.url("/c"), "bee", "", "body", "a"),
        (site.url("/moved"), "", "", "head", "redirect"),
    ]
    assert all(row["first_seen"].endswith("Z") for row in table.to_pylist())


def test_a_url_is_found_as_people_type_it(reader: CollectionReader, site: Site) -> None:
    typed = site.url("/x/../b").removeprefix("http://") + "#fragment"

    assert backlinks(reader, typed)[0] == site.url("/b")
    assert backlinks(reader, "never.example/x?q=1")[1].num_rows == 1


def test_backlinks_by_host_and_site_are_counted(reader: CollectionReader, site: Site) -> None:
    by_host = backlinks(reader, site.url("/b"), "host")[1]
    by_site = backlinks(reader, site.url("/b"), "site")[1]

    assert shown(by_host, "host", "pages", "links") == [("127.0.0.1", 4, 5)]
    assert shown(by_site, "site", "hosts", "pages", "links") == [("127.0.0.1", 1, 4, 5)]


def test_anchors_are_listed_with_their_counts(reader: CollectionReader, site: Site) -> None:
    table = anchors(reader, site.url("/b"))[1]

    assert shown(table, "anchor", "pages", "links") == [
        ("bee", 2, 2), ("", 1, 1), ("B", 1, 1), ("self", 1, 1),
    ]  # fmt: skip


def test_a_url_that_nobody_knows_is_said_so(reader: CollectionReader, site: Site) -> None:
    with pytest.raises(NotKnown, match=r"does not contain .*/nothing"):
        backlinks(reader, site.url("/nothing"))
    with pytest.raises(UsageError, match="is not a URL"):
        anchors(reader, "mailto:me@example.org")


def test_a_seed_that_nobody_links_has_none(reader: CollectionReader, site: Site) -> None:
    assert backlinks(reader, site.url())[1].num_rows == 0


def test_another_grouping_is_refused(reader: CollectionReader, site: Site) -> None:
    with pytest.raises(UsageError, match="page, host or site"):
        backlinks(reader, site.url("/b"), "domain")


@pytest.mark.parametrize("what", ["links", "graph"])
def test_a_network_of_sites_is_exported(
    reader: CollectionReader, tmp_path: Path, what: str
) -> None:
    count = export(reader, what, tmp_path / "sites.gexf", "site")

    graph = nx.read_gexf(tmp_path / "sites.gexf")
    assert count == 1
    assert dict(graph.edges) == {
        ("127.0.0.1", "never.example"): {"weight": 1.0, "id": "0", "pages": 1}
    }


def test_links_of_hosts_are_edges(reader: CollectionReader, tmp_path: Path) -> None:
    export(reader, "links", tmp_path / "hosts.csv", "host")

    with (tmp_path / "hosts.csv").open(encoding="utf-8") as file:
        assert list(csv.reader(file)) == [
            ["source", "target", "pages", "links"], ["127.0.0.1", "never.example", "1", "1"],
        ]  # fmt: skip


def test_anchors_of_a_site_are_summed(reader: CollectionReader, tmp_path: Path) -> None:
    export(reader, "anchors", tmp_path / "anchors.jsonl", "site")

    lines = [json.loads(line) for line in (tmp_path / "anchors.jsonl").read_text().splitlines()]
    summed = {(line["target"], line["anchor"]): line["pages"] for line in lines}
    assert summed[("127.0.0.1", "bee")] == 2
    assert summed[("never.example", "out")] == 1
    assert ("127.0.0.1", "") not in summed


@pytest.mark.parametrize("what", ["pages", "anchors"])
def test_only_networks_have_the_formats_of_networks(
    reader: CollectionReader, tmp_path: Path, what: str
) -> None:
    with pytest.raises(UsageError, match=r"unknown file format.* \.csv or \.parquet"):
        export(reader, what, tmp_path / "x.gexf")


def test_only_links_have_levels(reader: CollectionReader, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--level works only with links"):
        export(reader, "pages", tmp_path / "x.csv", "site")
    with pytest.raises(UsageError, match="unknown level 'x'"):
        export(reader, "links", tmp_path / "x.csv", "x")


def test_rebuilt_links_are_the_same(crawled: tuple[Site, Path], tmp_path: Path) -> None:
    site, folder = crawled
    urls = [*(site.url(path) for path in PAGES if path != "/"), "http://never.example/x?q=1"]
    with CollectionReader.open(folder) as reader:
        before = [backlinks(reader, url)[1] for url in urls]

    rebuild(CollectionPaths(folder), "graph", SystemClock(), lambda _: None)

    with CollectionReader.open(folder) as reader:
        assert [backlinks(reader, url)[1] for url in urls] == before


def test_python_has_tables_that_hand_over_arrow(crawled: tuple[Site, Path], tmp_path: Path) -> None:
    site, folder = crawled
    with gossamer.open(folder) as reader:
        assert len(reader.backlinks(site.url("/b"))) == 5
        assert reader.backlinks(site.url("/b"), by="host").columns[0] == "host"
        assert reader.anchors(site.url("/b")).to_arrow().num_rows == 4
        assert reader.sql("select count(*) as n from links where anchor = 'bee'").to_arrow() == (
            reader.links.sql("select count(*) as n from links where anchor = 'bee'").to_arrow()
        )
        joined = reader.sql(
            "select count(*) as n from pages join captures using (url) join hosts on true"
        )
        assert [row["n"] > 0 for row in joined] == [True]
        reader.graph(level="site").write(tmp_path / "sites.graphml")
        assert reader.graph("host").edges.columns == ("source", "target", "pages", "links")
        assert "never.example" in [row["name"] for row in reader.graph("host").nodes]
    assert len(nx.read_graphml(tmp_path / "sites.graphml")) == 2


def test_a_query_may_not_leave_the_collection(crawled: tuple[Site, Path]) -> None:
    with gossamer.open(crawled[1]) as reader, pytest.raises(UsageError, match="the query failed"):
        reader.sql("select count(*) from links, read_text('/etc/hostname')")


def test_pandas_and_polars_take_a_table(crawled: tuple[Site, Path]) -> None:
    with gossamer.open(crawled[1]) as reader:
        rows = list(reader.hosts)

        assert reader.hosts.to_polars().to_dicts() == rows
        assert list(reader.hosts.to_pandas()["host"]) == [row["host"] for row in rows]


def test_a_damaged_part_is_named_wherever_links_are_asked_for(
    crawled: tuple[Site, Path], tmp_path: Path
) -> None:
    site, folder = crawled
    copied = tmp_path / "copy"
    shutil.copytree(folder, copied)
    (part, *_) = manifest.read(copied / "graph").files
    (copied / "graph" / part).write_bytes(b"PAR1 no more")
    named = f"{part}.*gossamer rebuild graph"
    with gossamer.open(copied) as reader:
        for ask in (
            lambda: reader.backlinks(site.url("/b")).to_arrow(),
            lambda: reader.anchors(site.url("/b")).to_arrow(),
            reader.links.to_arrow,
            lambda: reader.graph("site").write(tmp_path / "x.gexf"),
            lambda: reader.sql("select count(*) from links"),
            lambda: export(reader, "anchors", tmp_path / "x.csv"),
            lambda: export(reader, "refused", tmp_path / "x.csv"),
            lambda: export(reader, "pages", tmp_path / "x.csv"),
        ):
            with pytest.raises(CorruptFile, match=named):
                ask()
    assert not (tmp_path / "x.gexf").exists()
