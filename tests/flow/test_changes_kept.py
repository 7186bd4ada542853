"""Changes survive what a collection survives: a kill, a rebuild, a takedown of others, a backup."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.frontier.store import StateTable
from gossamer.reader.changes import ChangesWanted, SeenChange, changes, changes_after
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.forget import forget
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_revisit import revisit
from support.a_site import answer, page, redirect, site_in_thread
from support.killing import typed

GONE = answer(b"<p>nothing here", status="404 Not Found")
ADS = ("Buy shoes at Walkers", "Fly to Spain from 49 euro", "Soup for everybody", "New kitchens")
LONG = f"<title>Moves</title><p>{'many words ' * 40}</p>"


def article(number: int, text: str, visit: int) -> bytes:
    return page(
        f"<title>Page {number}</title><nav><a href=/>home</a></nav><main><p>{text}</p></main>"
        f"<aside>Advert<p>{ADS[(visit + number) % 4]}</p></aside>"
        f"<footer>Views: {visit * 37}</footer>"
    )


def site_at(visit: int) -> dict[str, Any]:
    """A site with adverts and counters. Real edits: page 2 at visit 2, page 3 gone at 1 and back at
    3, page 4 redirects from 2 on, page 5 moves at 1, a new page at 1."""
    links = "".join(f"<a href=/p/{n}>{n}</a> " for n in range(1, 6))
    more = "<a href=/p/new>new</a> <a href=/p/moved>moved</a>" if visit else ""
    pages: dict[str, Any] = {
        "/": page(f"<title>Home</title>{links}{more}"),
        "/p/1": article(1, "The first article stays.", visit),
        "/p/2": article(2, "The second was edited." if visit > 1 else "The second.", visit),
        "/p/3": GONE if visit in (1, 2) else article(3, "The third comes and goes.", 0),
        "/p/4": redirect("/p/1") if visit > 1 else article(4, "The fourth.", 0),
        "/p/5": GONE if visit else page(LONG),
    }
    if visit:
        pages["/p/new"] = article(9, "It is new.", 0)
        pages["/p/moved"] = page(LONG)
    return pages


class Visited:
    """A collection after five visits, and its state before the last one."""

    def __init__(self, path: Path, before: Path) -> None:
        self.path = path
        self.before = before
        pages = site_at(0)
        with site_in_thread(pages) as site:
            self.root = site.url()
            crawl(path, [site.url()], politeness__per_host=1)
            for visit in range(1, 6):
                if visit == 5:
                    shutil.copytree(path, before)
                pages.clear()
                pages.update(site_at(visit))
                revisit(path, politeness__per_host=1)


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Visited:
    folder = tmp_path_factory.mktemp("kept")
    return Visited(folder / "one", folder / "before")


@pytest.fixture
def copy(visited: Visited, tmp_path: Path) -> Path:
    return Path(shutil.copytree(visited.path, tmp_path / "copy"))


def rows_in(path: Path) -> dict[bytes, bytes]:
    with CollectionReader.open(path) as reader:
        return dict(reader.scan(StateTable.CHANGE))


def noise_in(path: Path) -> dict[bytes, bytes]:
    with CollectionReader.open(path) as reader:
        rows = reader.scan(StateTable.META, b"noise:", b"noise;")
        return {**dict(rows), b"": reader.store.find(StateTable.META, b"changes") or b""}


def marks_in(path: Path) -> dict[str, tuple[int, int]]:
    with CollectionReader.open(path) as reader:
        return {row.url: (row.changed_us, row.template) for row in reader.url_rows()}


def all_in(path: Path) -> list[SeenChange]:
    with CollectionReader.open(path) as reader:
        return list(changes(reader, ChangesWanted(with_noise=True, is_newest_first=False)))


def test_noise_and_edits_are_told_apart(visited: Visited) -> None:
    found = [
        (one.kind.value, one.url.removeprefix(visited.root))
        for one in all_in(visited.path)
        if not one.is_noise
    ]
    others = {one for one in found if one[0] != "changed"}

    # Of a move, the old place or the new one is visited first.
    assert others - {("gone", "p/5"), ("new", "p/moved")} == {
        ("back", "p/3"),
        ("gone", "p/3"),
        ("moved", "p/4"),
        ("moved", "p/5"),
        ("new", "p/new"),
    }
    changed = [url for kind, url in found if kind == "changed"]
    assert changed.count("p/1") <= 2
    assert changed.count("p/2") <= 3
    assert changed.count("") == 1  # new links on the home page


def test_the_collection_is_whole(visited: Visited) -> None:
    assert list(verify(visited.path)) == []


def test_a_rebuilt_state_has_the_same_changes(visited: Visited, copy: Path) -> None:
    rebuild(CollectionPaths(copy), "state", SystemClock(), lambda _text: None)

    assert rows_in(copy) == rows_in(visited.path)
    assert noise_in(copy) == noise_in(visited.path)
    assert marks_in(copy) == marks_in(visited.path)
    assert list(verify(copy)) == []


def test_visits_that_are_read_again_after_a_kill_give_the_same_changes(
    visited: Visited, tmp_path: Path
) -> None:
    path = Path(shutil.copytree(visited.before, tmp_path / "killed"))
    shutil.copytree(visited.path / "archive", path / "archive", dirs_exist_ok=True)
    assert len(rows_in(path)) < len(rows_in(visited.path))
    crawl(path, [], politeness__per_host=1)  # the start reads what the archive has more

    assert rows_in(path) == rows_in(visited.path)
    assert noise_in(path) == noise_in(visited.path)
    assert marks_in(path) == marks_in(visited.path)


def test_a_takedown_takes_the_changes_of_its_url_and_no_others(
    visited: Visited, copy: Path
) -> None:
    url = f"{visited.root}p/2"
    forget(CollectionPaths(copy), [url], SystemClock(), lambda _text: None)

    found, before = all_in(copy), all_in(visited.path)
    assert [one.url for one in found] == [one.url for one in before if one.url != url]
    with CollectionReader.open(copy) as reader:
        assert len(changes_after(reader, 0)) == len(found)
    assert list(verify(copy)) == []


def test_the_target_of_a_move_is_taken_down_with_its_url(visited: Visited, copy: Path) -> None:
    target = f"{visited.root}p/moved"
    assert target in {one.target for one in all_in(copy)}
    forget(CollectionPaths(copy), [target], SystemClock(), lambda _text: None)

    assert target not in {one.target for one in all_in(copy)}


def test_a_backup_has_the_changes(visited: Visited, tmp_path: Path) -> None:
    target = tmp_path / "backup"

    assert typed("backup", "-c", visited.path, target).code == 0

    assert rows_in(target) == rows_in(visited.path)


def test_verify_names_a_change_of_an_unknown_url(copy: Path) -> None:
    from gossamer.collection.directory import open_to_write

    store = open_to_write(CollectionPaths(copy), 16)
    store.write({StateTable.CHANGE: {b"\0" * 7 + b"\1" + b"k" * 16: b"\x91\xa3new"}})
    store.close()

    problems = [problem.what for problem in verify(copy)]
    assert "it is of an unknown URL" in problems
    assert any("have a number" in what for what in problems)
