"""`gossamer diff`: two captures of a page, word by word or line by line."""

import json
import shutil
from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.compare.words import ChangedWords, changed_words
from gossamer.upkeep.rebuild import rebuild
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import typed

OLD = "<title>x</title><p>The shop is open on Monday.</p><p>It stays.</p><p>We sell tea.</p>"
NEW = "<title>x</title><p>The shop is closed on Monday.</p><p>It stays.</p>"


@pytest.fixture(scope="module")
def fetched_twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("diff")
    with site_in_thread({"/": [page(OLD), page(NEW)]}) as site:
        crawl(folder / "one", [site.url()])
        crawl(folder / "two", [site.url()])
        url = site.url()
    for file in (folder / "two/archive").glob("*.warc.gz"):
        shutil.copy(file, folder / "one/archive")
    rebuild(CollectionPaths(folder / "one"), "all", SystemClock(), lambda _said: None)
    return folder / "one", url


def test_changed_words_are_marked_in_their_line(fetched_twice: tuple[Path, str]) -> None:
    collection, url = fetched_twice

    ended = typed("diff", "-c", collection, url)

    assert ended.code == 0
    assert "The shop is [-open-] {+closed+} on Monday." in ended.out
    assert "[-We sell tea.-]" in ended.out
    assert "\x1b" not in ended.out


def test_the_source_is_shown_in_whole_lines(fetched_twice: tuple[Path, str]) -> None:
    collection, url = fetched_twice

    lines = typed("diff", "-c", collection, url, "--html").out.splitlines()

    assert lines == [f"-{OLD}", f"+{NEW}"]


def test_versions_are_named_by_number_or_time(fetched_twice: tuple[Path, str]) -> None:
    collection, url = fetched_twice

    backwards = typed("diff", "-c", collection, url, "2", "1").out

    assert "The shop is [-closed-] {+open+} on Monday." in backwards
    assert "nothing changed" in typed("diff", "-c", collection, url, "2020", "1").err
    assert "there is no version 3" in typed("diff", "-c", collection, url, "3").err
    assert typed("diff", "-c", collection, url, "soon").code == 2


def test_programs_get_one_object(fetched_twice: tuple[Path, str]) -> None:
    collection, url = fetched_twice

    found = json.loads(typed("diff", "-c", collection, url, "--json").out)

    assert (found["schema"], found["same"]) == (1, False)
    kinds = [change["kind"] for change in found["changes"]]
    assert kinds == ["removed", "added", "removed"]


def test_one_capture_cannot_be_compared(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()])
        ended = typed("diff", "-c", collection, site.url())

    assert ended.code == 1
    assert "has one capture" in ended.err


def test_lines_that_share_little_are_two_lines() -> None:
    assert changed_words("a b c", "x y z") == [
        ChangedWords("removed", "a b c"),
        ChangedWords("added", "x y z"),
    ]
