"""The graph's list of files: what is merged counts, what it replaced stays a while."""

import asyncio
from pathlib import Path

import pytest

from gossamer.base.clock import ManualClock, SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.graph import manifest, tables, tiers
from gossamer.graph.parts import PartWriter
from gossamer.node.link_files import LinkFiles
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from gossamer.workers.wire import PartWritten
from support.a_crawl import crawl
from support.a_graph import Captured, capture, link, rows
from support.a_site import page, site_in_thread

KEEP_S = 600.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def book(tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> LinkFiles:
    monkeypatch.setattr(tiers, "RAW_PARTS", 4)
    (tmp_path / "graph").mkdir()
    return LinkFiles(tmp_path / "graph", clock, KEEP_S)


def a_page(number: int) -> Captured:
    return capture(f"http://a/{number}", number, link(f"http://b/{number % 3}"))


def add_part(book: LinkFiles, folder: Path, number: int) -> None:
    writer = PartWriter(folder)
    writer.add(*a_page(number))
    count = writer.rows
    path = writer.write(f"links-{number:03}")
    book.note(PartWritten(path.name, count, {"w.warc.gz": 100 * number}))
    book.name(book.take())


def test_merged_links_are_the_same_and_old_files_go_after_a_while(
    tmp_path: Path, book: LinkFiles, clock: ManualClock
) -> None:
    folder = tmp_path / "graph"
    for number in range(6):
        add_part(book, folder, number)
    book.finish()

    graph = manifest.read(folder)
    assert len(graph.sets) >= 1
    assert len(graph.retired) >= 4
    assert graph.covered == {"w.warc.gz": 500}
    assert len(rows(tables.links(folder))) == 6
    assert all((folder / name).exists() for name in graph.retired), "for readers that have begun"
    asyncio.run(clock.advance(KEEP_S + 1))
    book.name([])
    assert not any((folder / name).exists() for name in graph.retired)
    assert manifest.read(folder).retired == {}
    assert len(rows(tables.links(folder))) == 6


def test_files_that_are_merged_in_the_end_stay_until_their_readers_are_done(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "RAW_PARTS", 4)
    book = LinkFiles(tmp_path, clock, keep_s=0.0)
    for number in range(4):
        add_part(book, tmp_path, number)
    before = [part.name for part in book.manifest.parts]

    book.merge_rest()
    are_there = [(tmp_path / name).exists() for name in before]
    book.finish()

    assert (len(before), all(are_there)) == (4, True)
    assert (book.manifest.parts, book.manifest.retired) == ((), {})
    assert not any((tmp_path / name).exists() for name in before)


def test_retired_files_survive_a_restart_and_strays_do_not(
    tmp_path: Path, book: LinkFiles, clock: ManualClock
) -> None:
    folder = tmp_path / "graph"
    for number in range(4):
        add_part(book, folder, number)
    book.finish()
    (folder / "links-lost-by-target.parquet").write_bytes(b"half")
    (folder / "links-lost-by-source.parquet.new").write_bytes(b"half")

    again = LinkFiles(folder, clock, KEEP_S)

    assert len(again.manifest.retired) == 4
    assert all((folder / name).exists() for name in again.manifest.retired)
    assert not list(folder.glob("links-lost*"))


def test_a_merge_that_fails_leaves_all_as_it_was(
    tmp_path: Path, book: LinkFiles, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "graph"
    for number in range(3):
        add_part(book, folder, number)
    (folder / "links-001.parquet").write_bytes(b"damaged")
    before = book.manifest

    add_part(book, folder, 3)
    book.finish()

    assert book.failed_merges == 1
    assert "cannot merge links" in caplog.text
    assert book.manifest.parts[:3] == before.parts
    assert (book.manifest.sets, book.manifest.retired) == ((), {})


def test_a_merge_under_way_is_ended_with_the_node(tmp_path: Path, book: LinkFiles) -> None:
    for number in range(4):
        add_part(book, tmp_path / "graph", number)

    book.close()

    assert len(rows(tables.links(tmp_path / "graph"))) == 4
    assert book.failed_merges == 0


def test_without_a_clock_nothing_is_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "RAW_PARTS", 2)
    book = LinkFiles(tmp_path)
    for number in range(4):
        add_part(book, tmp_path, number)
    book.finish()

    assert manifest.read(tmp_path).sets == ()


@pytest.mark.slow
def test_a_crawl_merges_as_it_goes_and_is_whole_and_rebuilt_the_same(
    collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "RAW_ROWS", 150)
    monkeypatch.setattr(tiers, "_FEWEST_ROWS", 150 // 8)
    links = " ".join(f"<a href=/{number}>to {number}</a>" for number in range(60))
    pages = {f"/{number}": page(f"<title>{number}</title>{links}") for number in range(12)}
    with site_in_thread({"/": page(links), **pages}) as site:
        crawl(collection, [site.url()], node__part_rows=100)
    graph = manifest.read(collection / "graph")
    before = rows(tables.links(collection / "graph"))

    assert list(verify(collection)) == []
    assert graph.sets
    assert len(before) == 13 * 60
    rebuild(CollectionPaths(collection), "graph", SystemClock(), lambda _: None)
    assert rows(tables.links(collection / "graph")) == before
    assert list(verify(collection)) == []
