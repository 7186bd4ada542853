"""`crawl --revisit`: every known page is visited once more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import UsageError
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable
from gossamer.graph import backlinks, tables
from gossamer.index.reader import ids
from gossamer.node.visits.revisit_filter import RevisitFilter
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl, crawl_again
from support.a_site import (
    Answer,
    Request,
    answer,
    page,
    redirect,
    reset,
    robots,
    site_in_thread,
)
from support.rows import each_row

LONG = "the sea rises and falls twice a day " * 300


def tagged(html: str, etag: str = '"1"') -> Callable[[Request], bytes]:
    """A page whose server answers 304 to its own ETag."""

    def respond(request: Request) -> bytes:
        if request.headers.get("if-none-match") == etag:
            return answer(b"", "304 Not Modified", {"etag": etag})
        return page(html, headers={"etag": etag})

    return respond


def a_web() -> dict[str, Answer]:
    return {
        "/": page("<title>Home</title><a href=/same>s</a><a href=/tag>t</a><a href=/news>n</a>"),
        "/same": page(f"<title>Same</title>{LONG}<a href=/far>f</a>"),
        "/tag": tagged(f"<title>Tag</title>{LONG}"),
        "/news": page(f"<title>News</title>{LONG}<a href=/tag>old</a>"),
        "/far": page("<title>Far</title>far away"),
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "c"


class DaysLater(SystemClock):
    """A robots.txt is valid for a day."""

    def __init__(self, days: int) -> None:
        self._days = days

    def wall_us(self) -> int:
        return super().wall_us() + self._days * 86_400_000_000


def row(home: Path, url: str) -> UrlRow:
    with CollectionReader.open(home) as reader:
        return reader.get(url)


def indexed(home: Path, url: str) -> bool:
    with CollectionReader.open(home) as reader:
        return reader.keys.of(url).hex() in set(ids(reader.paths.index))


def state_of(home: Path) -> dict[str, tuple[object, ...]]:
    """What must be the same after a rebuild."""
    left_out = {"place", "via", "first_us", "took_s", "tries"}
    with CollectionReader.open(home) as reader:
        return {
            one.url: tuple(v for n, v in structs.asdict(one).items() if n not in left_out)
            for one in (UrlRow.decode(packed) for _, packed in reader.scan(StateTable.URL))
        }


def test_unchanged_pages_are_stored_and_parsed_once(home: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl(home, [site.url()])
        size = archive_bytes(home)
        summary = crawl_again(home)

        assert site.asked.count("/tag") == 2
        assert (summary.fetched, summary.unchanged, summary.visited["visits"]) == (5, 5, 5)
        assert archive_bytes(home) - size < 5 * 2000 + 5000  # with robots.txt and the file's head
        seen = row(home, site.url("/tag"))
        assert (seen.status, seen.title, seen.visits) == (200, "Tag", 1)
        assert seen.version_us < seen.at_us
        assert indexed(home, site.url("/tag"))
    with CollectionReader.open(home) as reader:
        assert "the sea rises" in reader.page(site.url("/tag")).text
    assert list(verify(home)) == []


def archive_bytes(home: Path) -> int:
    return sum(path.stat().st_size for path in (home / "archive").glob("*.warc.gz"))


def test_what_changed_vanished_or_moved_is_found(home: Path) -> None:
    web = a_web()
    with site_in_thread(web) as site:
        crawl(home, [site.url()])
        web["/news"] = page("<title>Newer</title>tomorrow <a href=/new>n</a>")
        web["/far"] = page("gone", "404 Not Found")
        web["/same"] = redirect("/elsewhere")
        web["/elsewhere"] = page("<title>Elsewhere</title>here")
        web["/new"] = page("<title>New</title>new")
        summary = crawl_again(home)
        url = site.url

    assert summary.visited["changed"] == 1
    assert summary.visited["gone"] == 1
    assert summary.visited["moved"] == 1
    news, far, same = row(home, url("/news")), row(home, url("/far")), row(home, url("/same"))
    assert (news.title, news.changed_us) == ("Newer", news.at_us)
    assert (far.status, far.gone_us) == (404, far.at_us)
    assert same.redirect == url("/elsewhere")
    for path, is_there in (("/news", 1), ("/far", 0), ("/same", 0), ("/elsewhere", 1), ("/new", 1)):
        assert indexed(home, url(path)) == bool(is_there), path
    graph = CollectionPaths(home).graph
    found = backlinks.backlinks(graph, url("/tag")).to_pylist()
    assert [link["source"] for link in found] == [url("/")], "the link of /news is gone"
    assert backlinks.backlinks(graph, url("/far")).num_rows == 0, "its source has moved"
    assert list(verify(home)) == []


def test_a_page_that_was_gone_comes_back(home: Path) -> None:
    web = a_web()
    with site_in_thread(web) as site:
        crawl(home, [site.url()])
        far, web["/far"] = web["/far"], page("gone", "410 Gone")
        crawl_again(home)
        assert not indexed(home, site.url("/far"))
        web["/far"] = far
        summary = crawl_again(home)

        assert summary.visited["back"] == 1
        assert indexed(home, site.url("/far"))
        assert row(home, site.url("/far")).gone_us == 0
    assert list(verify(home)) == []


def test_a_visit_that_fails_leaves_the_page_as_it_was(home: Path) -> None:
    web = a_web()
    with site_in_thread(web) as site:
        crawl(home, [site.url()])
        before = row(home, site.url("/news"))
        web["/news"] = reset()
        web["/far"] = page("oops", "500 Internal Server Error")
        summary = crawl_again(home, politeness__retries=0, politeness__retry_wait_s=0.1)
        after, far = row(home, site.url("/news")), row(home, site.url("/far"))
        graph = CollectionPaths(home).graph

        assert (after.status, after.title, after.at_us) == (200, "News", before.at_us)
        assert (after.missed, after.missed_reason) == (1, "reset")
        assert (far.status, far.missed) == (200, 1)
        assert summary.visited["missed"] == 2
        assert indexed(home, site.url("/news"))
        assert indexed(home, site.url("/far"))
        links = tables.table_of(tables.links(graph)).to_pylist()
        assert {"source": site.url("/news"), "target": site.url("/tag")}.items() <= {
            key: value
            for link in links
            if link["source"] == site.url("/news")
            for key, value in link.items()
        }.items()
    assert list(verify(home)) == []


def test_a_page_that_robots_txt_forbids_now_leaves_and_can_return(home: Path) -> None:
    web = a_web()
    with site_in_thread(web) as site:
        crawl(home, [site.url()])
        web["/robots.txt"] = robots("User-agent: *\nDisallow: /far")
        crawl_again(home, clock=DaysLater(2))
        far = row(home, site.url("/far"))
        assert (far.outcome, far.reason, far.status) == (Outcome.REFUSED, "robots", 0)
        assert not indexed(home, site.url("/far"))
        del web["/robots.txt"]
        crawl_again(home, clock=DaysLater(4))

        assert row(home, site.url("/far")).outcome is Outcome.FETCHED
        assert indexed(home, site.url("/far"))
    assert list(verify(home)) == []


def test_a_server_that_says_304_for_nothing_is_asked_without_conditions(home: Path) -> None:
    asked: list[str] = []

    def lying(request: Request) -> bytes:
        asked.append(request.headers.get("if-none-match", ""))
        if len(asked) == 2:
            return answer(b"", "304 Not Modified", {"x-robots-tag": "noindex"})
        return page("<title>Truth</title>whole", headers={"etag": '"1"'})

    with site_in_thread({"/": lying}) as site:
        crawl(home, [site.url()])
        summary = crawl_again(home)

    assert asked == ["", '"1"', ""]
    assert (summary.unchanged, summary.fetched) == (1, 1)
    assert list(verify(home)) == []


def test_without_conditions_the_same_body_is_still_unchanged(home: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl(home, [site.url()])
        summary = crawl_again(home, fetch__conditional=False)

        assert summary.unchanged == 5
        assert not any("if-none-match" in one.headers for one in site.log)


# -- which pages


def test_only_the_chosen_pages_are_visited(home: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl(home, [site.url()])
        crawl_again(home, RevisitFilter.read(match=["/n*"]))
        crawl_again(home, RevisitFilter.read(older_than="1h"))
        crawl_again(home, RevisitFilter.read(site="elsewhere.example"))

        assert site.asked.count("/news") == 2
        assert site.asked.count("/tag") == site.asked.count("/") == 1


def test_a_url_that_failed_is_tried_again(home: Path) -> None:
    web = a_web() | {"/far": reset()}
    with site_in_thread(web) as site:
        crawl(home, [site.url()], politeness__retries=0, politeness__retry_wait_s=0.1)
        assert row(home, site.url("/far")).outcome is Outcome.FAILED
        web["/far"] = page("<title>Far</title>far")
        crawl_again(home)

        assert row(home, site.url("/far")).outcome is Outcome.FETCHED


def test_a_collection_at_its_limit_can_be_visited_again(home: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl(home, [site.url()], limits__max_pages=3)
        summary = crawl_again(home, limits__max_pages=3)

        assert (summary.fetched, summary.visited["visits"]) == (3, 3)
        assert summary.stopped == "max-pages"
        assert summary.queued > 0
    assert list(verify(home)) == []


def test_a_revisit_that_was_stopped_goes_on_and_visits_no_page_twice(home: Path) -> None:
    web: dict[str, Answer] = {"/": page("".join(f"<a href=/{n}>{n}</a>" for n in range(20)))}
    web |= {f"/{n}": page(f"<title>{n}</title>") for n in range(20)}
    with site_in_thread(web) as site:
        crawl(home, [site.url()])
        first = crawl_again(home, until=lambda: len(site.asked) >= 32)
        assert first.visited["revisits"] > 0
        again = crawl_again(home)
        crawl(home, [])

        assert again.visited["visits"] == 21
        assert [site.asked.count(f"/{n}") for n in range(20)] == [2] * 20
    assert list(verify(home)) == []


def test_a_plain_crawl_resumes_a_revisit_that_was_stopped(home: Path) -> None:
    web: dict[str, Answer] = {"/": page("".join(f"<a href=/{n}>{n}</a>" for n in range(20)))}
    web |= {f"/{n}": page(f"<title>{n}</title>") for n in range(20)}
    with site_in_thread(web) as site:
        crawl(home, [site.url()])
        crawl_again(home, until=lambda: len(site.asked) >= 32)
        crawl(home, [])
        assert [site.asked.count(f"/{n}") for n in range(20)] == [2] * 20
        crawl_again(home)

        assert [site.asked.count(f"/{n}") for n in range(20)] == [3] * 20


@pytest.mark.slow
def test_a_rebuild_gives_the_same_rows_and_entries(home: Path) -> None:
    web = a_web()
    with site_in_thread(web) as site:
        crawl(home, [site.url()])
        web["/news"] = page("<title>Newer</title>tomorrow")
        web["/far"] = page("gone", "404 Not Found")
        crawl_again(home)
        web["/same"] = page("oops", "500 Internal Server Error")
        crawl_again(home)
        before = state_of(home)
        entries = entries_of(home)
        rebuild(CollectionPaths(home), "all", SystemClock(), lambda _: None)

        assert state_of(home) == before
        assert entries_of(home) == entries
    assert list(verify(home)) == []


def entries_of(home: Path) -> set[str]:
    return set(ids(CollectionPaths(home).index))


@each_row("wrong", ["7", "7 days", "-1d", "soon"])
def test_a_wrong_duration_is_told(wrong: str) -> None:
    with pytest.raises(UsageError, match=r"--older-than: .* is not a duration"):
        RevisitFilter.read(older_than=wrong)
