"""Whoever has a collection open when something is forgotten in it gets nothing of that any more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import gossamer
from gossamer.api import Collection
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import NotKnown, Rewritten
from gossamer.frontier.store import Store
from gossamer.graph.formats import NETWORK_FORMATS
from gossamer.reader.state import PresentState
from gossamer.transfer import export_archive, export_links
from gossamer.transfer.export_schemas import SCHEMAS
from gossamer.transfer.exports import batches, export
from gossamer.upkeep.forget import forget
from support.a_crawl import crawl
from support.a_site import Pages, Site, page, site_in_thread

MARK = "zyxquince"
PAGES: Pages = {
    "/robots.txt": page("", "404 Not Found"),
    "/": page(
        "<title>home</title><a href=/gone>there</a> <a href=/stays>here</a>"
        "<a href=http://other.example/>out</a>"
    ),
    "/gone": page(f"<title>{MARK}</title>{MARK} words <a href=/stays>{MARK} link</a>"),
    "/stays": page("<title>stays</title>plain words"),
}


@pytest.fixture
def site() -> Iterator[Site]:
    with site_in_thread(PAGES) as served:
        yield served


@pytest.fixture
def reader(site: Site, collection: Path) -> Iterator[Collection]:
    crawl(collection, [site.url()])
    with gossamer.open(collection) as opened:
        yield opened


def take_down(reader: Collection, url: str) -> None:
    """As another process does: the one that has it open is told nothing."""
    forget(CollectionPaths(reader.paths.path), [url], SystemClock(), lambda _text: None)


def test_what_is_forgotten_is_not_given_by_a_study_that_was_open(
    reader: Collection, site: Site
) -> None:
    gone = site.url("/gone")
    (before,) = reader.captures(gone)
    assert reader.search(MARK).total == 2
    assert len(reader.backlinks(site.url("/stays"))) == 2

    take_down(reader, gone)

    assert reader.find(gone) is None
    for asked in (reader.page, reader.captures, reader.backlinks):
        with pytest.raises(NotKnown):
            asked(gone)
    with pytest.raises(NotKnown, match="no longer exists"):
        reader.page_at(gone, before)
    assert reader.search(MARK).total == 0
    assert len(reader.backlinks(site.url("/stays"))) == 1
    assert gone not in [row["url"] for row in reader.pages]
    assert MARK not in str(reader.links.to_arrow()) + str(reader.anchors(site.url("/stays")))
    assert reader.story(gone).row is None
    assert reader.page(site.url("/stays")).title == "stays"


def test_a_scan_that_is_overtaken_ends_with_one_sentence(reader: Collection, site: Site) -> None:
    rows = reader.url_rows()
    next(rows)

    take_down(reader, site.url("/gone"))

    with pytest.raises(Rewritten, match=r"was replaced by `forget` or `rebuild` .* try again$"):
        list(rows)
    assert len(list(reader.url_rows())) == 3


@pytest.mark.parametrize("what", SCHEMAS)
def test_no_table_is_of_two_states(what: str, reader: Collection, site: Site) -> None:
    found = batches(reader, what)
    next(found)

    take_down(reader, site.url("/gone"))

    with pytest.raises(Rewritten):
        list(found)


def overtaken(first: Callable[..., object], act: Callable[[], None]) -> Callable[..., object]:
    """The same function, and then something else happens."""

    def called(*args: object) -> object:
        found = first(*args)
        act()
        return found

    return called


@pytest.mark.parametrize(
    ("what", "name"), [("warc", "a.warc.gz"), ("wacz", "a.wacz"), ("graph", "a.gexf")]
)
def test_an_export_that_is_overtaken_leaves_no_file(
    what: str,
    name: str,
    reader: Collection,
    site: Site,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    act = lambda: take_down(reader, site.url("/gone"))  # noqa: E731
    monkeypatch.setattr(export_archive, "_write", overtaken(export_archive._write, act))
    formats = {end: overtaken(write, act) for end, write in NETWORK_FORMATS.items()}
    monkeypatch.setattr(export_links, "NETWORK_FORMATS", formats)

    with pytest.raises(Rewritten, match=re.escape(str(reader.paths.path))):
        export(reader, what, folder / name)

    assert list(folder.iterdir()) == []


def test_an_archive_that_is_shorter_than_what_was_committed_is_no_export(
    reader: Collection, tmp_path: Path
) -> None:
    (file,) = (reader.paths.archive).glob("*.warc.gz")
    file.write_bytes(file.read_bytes()[:-100])

    with pytest.raises(gossamer.errors.CorruptFile, match="100 more bytes were committed"):
        export(reader, "warc", tmp_path / "a.warc.gz")

    assert not (tmp_path / "a.warc.gz").exists()


class Watched(PresentState):
    """Asked for its rows, as by another thread, at each step of a change."""

    seen: list[Store] | None = None

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if self.seen is not None:
            self.seen.append(self.store)


def test_no_thread_is_given_the_old_rows_once_the_new_state_is_known(
    reader: Collection, site: Site
) -> None:
    present = Watched(reader.paths)
    old = present.store
    take_down(reader, site.url("/gone"))
    seen = Watched.seen = []
    try:
        new = present.store
    finally:
        Watched.seen = None
    present.close()

    assert new is not old
    assert seen
    assert all(store is new for store in seen)
