"""`gossamer changes` and `versions` after a site was visited again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gossamer.api import open as open_collection
from gossamer.errors import NotKnown
from support.a_crawl import crawl
from support.a_revisit import revisit
from support.a_site import answer, page, redirect, site_in_thread
from support.killing import Ended, typed

HOME = "<title>Home</title><p>Welcome to the museum. {}</p><a href=/a>a</a><a href=/b>b</a>"
LINKS = "<a href=/c>c</a> <a href=/d>d</a> <a href=/new>new</a>"
LONG = "<title>D</title><p>This page stays as it is, with all its words.</p>"
GONE = answer(b"<p>nothing here", status="404 Not Found")


class History:
    """A collection that was crawled, and visited again twice."""

    def __init__(self, path: Path) -> None:
        self.path = path
        pages: dict[str, Any] = {
            "/": page(HOME.format("Views: 10.") + "<a href=/c>c</a> <a href=/d>d</a>"),
            "/a": page("<title>A</title><p>The shop is open on Monday.</p>"),
            "/b": page("<title>B</title><p>It goes away.</p>"),
            "/c": page("<title>C</title><p>It redirects soon.</p>"),
            "/d": page(LONG + "<!--" + "x" * 99 + "-->"),
        }
        with site_in_thread(pages) as site:
            self.root = site.url()
            crawl(path, [site.url()])
            pages["/"] = page(HOME.format("Views: 25.") + LINKS)
            pages["/a"] = page("<title>A2</title><p>The shop is closed on Monday.</p>")
            pages["/b"] = GONE
            pages["/c"] = redirect("/a")
            pages["/new"] = page("<title>New</title><p>Hello.</p>")
            revisit(path)
            pages["/"] = page(HOME.format("Views: 31.") + LINKS)
            pages["/b"] = page("<title>B</title><p>It goes away.</p>")
            revisit(path)

    def url(self, path: str) -> str:
        return f"{self.root}{path.removeprefix('/')}"

    def typed(self, verb: str, *words: str) -> Ended:
        return typed(verb, "-c", self.path, *words)

    def changes(self, *words: str) -> list[dict[str, Any]]:
        ended = self.typed("changes", "--json", *words)
        assert ended.code == 0, ended.err
        return [json.loads(line) for line in ended.out.splitlines()]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return History(tmp_path_factory.mktemp("history") / "one")


def test_every_kind_of_change_is_listed(history: History) -> None:
    found = {(one["kind"], one["url"]) for one in history.changes("--limit", "0")}

    assert found == {
        ("changed", history.url("/")),
        ("changed", history.url("/a")),
        ("gone", history.url("/b")),
        ("back", history.url("/b")),
        ("moved", history.url("/c")),
        ("new", history.url("/new")),
    }


def test_a_change_says_what_changed(history: History) -> None:
    (found,) = [one for one in history.changes() if one["url"] == history.url("/a")]

    assert (found["words_added"], found["words_removed"]) == (1, 1)
    assert (found["title_before"], found["title"]) == ("A", "A2")
    assert (found["schema"], found["noise"]) == (1, False)
    (moved,) = history.changes("--kind", "moved")
    assert moved["target"] == history.url("/a")
    (gone,) = history.changes("--kind", "gone")
    assert (gone["status_before"], gone["status"]) == (200, 404)


def test_the_list_for_people_has_one_line_for_each(history: History) -> None:
    ended = history.typed("changes")

    (line,) = [line for line in ended.out.splitlines() if line.split()[2] == history.url("/a")]
    assert line.endswith('changed  {}  +1 -1 words, title was "A"'.format(history.url("/a")))
    assert "\x1b" not in ended.out


def test_noise_is_listed_on_request(history: History) -> None:
    quiet = history.changes("--limit", "0")
    noisy = history.changes("--limit", "0", "--all")

    (noise,) = [one for one in noisy if one not in quiet]
    assert (noise["url"], noise["noise"], noise["kind"]) == (history.root, True, "changed")


def test_filters_narrow_the_list(history: History) -> None:
    assert len(history.changes("--limit", "2")) == 2
    assert {one["kind"] for one in history.changes("--kind", "new,gone")} == {"new", "gone"}
    assert len(history.changes("--since", "1h")) == 6
    assert history.changes("--until", "1h") == []
    assert len(history.changes("--site", "127.0.0.1")) == 6
    assert history.changes("--site", "other.example") == []
    oldest = history.changes("--oldest")
    assert oldest == history.changes()[::-1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kind", "odd"), "it is one of new, changed, gone, back, moved"),
        (("--since", "soon"), "not a time"),
        (("--since", "now", "--until", "2d"), "later than until"),
    ],
)
def test_a_wrong_filter_is_named(history: History, words: tuple[str, ...], message: str) -> None:
    ended = history.typed("changes", *words)

    assert ended.code == 2
    assert message in ended.err


def test_a_collection_without_a_second_visit_says_so(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()])

    assert "no page was visited twice" in typed("changes", "-c", collection).err


def test_visits_that_found_no_change_are_not_denied(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()])
        again = typed("crawl", "-c", collection, "--revisit", "--delay", "0", "--workers", "0")

    assert again.code == 0, again.err
    told = typed("changes", "-c", collection).err
    assert "no changes: later visits found every page as it was" in told


def test_versions_fold_visits_without_change(history: History) -> None:
    url = history.url("/d")
    lines = history.typed("versions", url).out.splitlines()

    assert len(lines) == 2
    assert "2 visits without change until" in lines[1]
    found = json.loads(history.typed("versions", url, "--json").out)["versions"]
    assert [(one["version"], one["unchanged"]) for one in found] == [
        (1, False), (1, True), (1, True)
    ]  # fmt: skip


def test_versions_say_what_each_visit_found(history: History) -> None:
    lines = history.typed("versions", history.url("/a")).out.splitlines()

    assert len(lines) == 3
    assert 'changed: +1 -1 words, title was "A"' in lines[2]
    gone = history.typed("versions", history.url("/b")).out
    assert "gone: status 200 is 404 now" in gone
    assert "back" in gone


def test_a_diff_compares_the_last_two_versions_whatever_visits_followed(history: History) -> None:
    ended = history.typed("diff", history.url("/a"))

    assert ended.out == "The shop is [-open-] {+closed+} on Monday.\n"
    assert "the title changed from 'A' to 'A2'" in ended.err
    assert "+1 -1 words" in ended.err


def test_a_diff_leaves_noise_out_unless_asked(history: History) -> None:
    url = history.root
    quiet, noisy = history.typed("diff", url), history.typed("diff", url, "--all")

    assert "31" not in quiet.out
    assert "noise is left out" in quiet.err
    assert "[-25.-] {+31.+}" in noisy.out


def test_a_diff_names_links(history: History) -> None:
    ended = history.typed("diff", history.root, "1", "2")

    assert "link + /new" in ended.err
    found = json.loads(history.typed("diff", history.root, "1", "2", "--json").out)
    assert found["links_added"] == ["/new"]
    assert found["words_added"] == 1  # the words of the link


def test_a_page_is_shown_as_it_was(history: History) -> None:
    def text_at(path: str, at: str) -> str:
        shown = json.loads(history.typed("page", history.url(path), "--json", "--at", at).out)
        assert shown["status"] == 200
        return str(shown["text"])

    def times(path: str) -> list[str]:
        found = json.loads(history.typed("versions", history.url(path), "--json").out)
        return [one["at"] for one in found["versions"]]

    assert [text_at("/a", at).split()[3] for at in times("/a")] == ["open", "closed", "closed"]
    assert "closed" in text_at("/a", "now")
    assert "open" in text_at("/a", "7d")
    assert {text_at("/d", at) for at in times("/d")} == {
        "This page stays as it is, with all its words."
    }


def test_python_tells_the_same(history: History) -> None:
    with open_collection(history.path) as study:
        kinds = [change.kind.value for change in study.changes(limit=0)]
        assert len(kinds) == 6
        assert [one.url for one in study.changes(kinds=["new"])] == [history.url("/new")]
        page = study.page(history.url("/a"))
        diff = page.diff()
        assert str(diff) == "The shop is [-open-] {+closed+} on Monday."
        assert (diff.words_added, diff.words_removed, diff.title) == (1, 1, ("A", "A2"))
        assert str(page.diff("7d")) == str(diff)
        assert len(page.versions) == 3
        with pytest.raises(NotKnown, match="no older version"):
            study.page(history.url("/d")).diff()
