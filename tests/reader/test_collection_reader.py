"""A collection is read beside its writer, and tells what it knows."""

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.archive.warc import RevisitOf, payload_digest
from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import ManualClock, SystemClock, iso_of
from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.errors import CorruptFile, NoCollection, NotKnown, UsageError
from gossamer.frontier.rows import CaptureRow, Standing, UrlRow, time_key
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader, nearest_of
from gossamer.reader.moments import moment_of
from gossamer.reader.pages import StoredCapture, nearest_capture, times_of
from gossamer.reader.story import SAYS
from gossamer.reader.story_text import story_sentences, when
from gossamer.records import Fetched, Lease, Outcome, Reason
from gossamer.settings import Archive
from gossamer.urls.keys import Keys
from support.a_crawl import crawl, crawl_in_loop, crawl_until
from support.a_site import Site, a_site, answer, page, redirect, robots, site_in_thread, too_many
from support.rows import each_row

HOME = (
    "<title>Home</title><h1>Welcome</h1><a href=/b>b</a> <a href=/moved>m</a>"
    "<a href=/private/x>x</a> <a href=http://other.example/>o</a> <a href='http://[bad/'>bad</a>"
    "<a href=/latin>l</a> <a href=/secret>s</a> <a href=/packed>p</a>"
)
PAGES = {
    "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
    "/": page(HOME),
    "/b": page("<title>B</title><p>bees</p><a href=/d/e>deep</a>"),
    "/d/e": page("<p>deep</p><a href='../b'>back</a> <a href=/busy>the last to be asked</a>"),
    "/moved": redirect("/b"),
    "/busy": too_many("3600"),
    "/latin": answer(
        "<p>Grüße".encode("latin-1"), headers={"content-type": "text/html; charset=iso-8859-1"}
    ),
    "/secret": page("<p>hush", headers={"x-robots-tag": "noarchive"}),
    "/packed": answer(
        gzip.compress(b"<p>packed words"),
        headers={"content-type": "text/html", "content-encoding": "gzip"},
    ),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    folder = tmp_path_factory.mktemp("study") / "collection"
    with site_in_thread(PAGES) as site:
        crawl_until(
            folder,
            [site.url()],
            lambda: set(PAGES) <= set(site.asked),
            limits__max_time_s=80.0,
        )
        yield site, folder


@pytest.fixture
def site(crawled: tuple[Site, Path]) -> Site:
    return crawled[0]


@pytest.fixture
def reader(crawled: tuple[Site, Path]) -> Iterator[CollectionReader]:
    with CollectionReader.open(crawled[1]) as opened:
        yield opened


def told(reader: CollectionReader, url: str) -> str:
    return "\n".join(story_sentences(reader.story(url), SystemClock().wall_us()))


def test_where_there_is_no_collection_it_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(NoCollection, match="gossamer crawl"):
        CollectionReader.open(tmp_path / "nothing")


def test_every_known_url_has_a_row_and_the_sums_agree(reader: CollectionReader) -> None:
    outcomes = [row.outcome for row in reader.url_rows()]

    counts = reader.counts()
    assert len(outcomes) == counts.known == 10
    assert outcomes.count(Outcome.QUEUED) == counts.queued == 1
    assert outcomes.count(Outcome.REFUSED) == counts.refused == 2


def test_hosts_have_their_names(reader: CollectionReader) -> None:
    assert {row.name for row in reader.host_rows()} == {"127.0.0.1", "other.example"}


def test_settings_and_seeds_are_those_of_the_crawl(reader: CollectionReader, site: Site) -> None:
    assert reader.seeds() == (site.url(),)
    assert reader.settings().limits.max_time_s == 80.0


def test_a_url_is_found_however_it_is_typed(reader: CollectionReader, site: Site) -> None:
    typed = [site.url("/b"), f" {site.url('/x/../b')}#part", f"127.0.0.1:{site.port}/b"]

    rows = [reader.find(text) for text in typed]

    assert [row.url if row else None for row in rows] == [site.url("/b")] * 3


def test_a_url_that_is_not_known_is_not_found(reader: CollectionReader, site: Site) -> None:
    assert reader.find(site.url("/never")) is None
    assert reader.find("mailto:a@example.org") is None


def test_a_url_that_is_not_known_gets_the_nearest_that_is(
    reader: CollectionReader, site: Site
) -> None:
    with pytest.raises(NotKnown, match=f"did you mean {site.url('/latin')}"):
        reader.page(site.url("/latim"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("two words", "its host 'two words' is not a valid host name"),
        ("ftp://example.org/", "only http and https are crawled"),
        ("http://", "it has no host"),
        ("", "it has no host"),
    ],
)
def test_what_is_no_url_is_wrong_usage_whoever_asks(
    reader: CollectionReader, text: str, says: str
) -> None:
    for ask in (reader.get, reader.captures, reader.page, reader.story):
        with pytest.raises(UsageError, match=f"is not a URL: {says}"):
            ask(text)


def test_a_page_comes_back_as_it_was(reader: CollectionReader, site: Site) -> None:
    found = reader.page(site.url())

    assert found.status == 200
    assert found.html == HOME
    assert found.title == "Home"
    assert found.text.startswith("Welcome")
    assert "# Welcome" in found.markdown
    assert f"[b]({site.url('/b')})" in found.markdown
    assert ("content-type", "text/html") in found.headers
    assert found.head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert not found.is_noarchive


def test_a_page_is_read_in_its_charset(reader: CollectionReader, site: Site) -> None:
    assert reader.page(site.url("/latin")).text == "Grüße"


def test_a_packed_body_is_unpacked(reader: CollectionReader, site: Site) -> None:
    assert reader.page(site.url("/packed")).body == b"<p>packed words"


def test_a_page_that_asks_for_no_copies_is_marked(reader: CollectionReader, site: Site) -> None:
    assert reader.page(site.url("/secret")).is_noarchive


def test_a_redirect_is_shown_as_it_came(reader: CollectionReader, site: Site) -> None:
    assert reader.page(site.url("/moved")).status == 302


def test_what_was_never_captured_says_what_became_of_it(
    reader: CollectionReader, site: Site
) -> None:
    with pytest.raises(NotKnown, match=r"/private/x has no capture: it is refused \(robots\)"):
        reader.page(site.url("/private/x"))


def test_captures_say_where_they_lie(reader: CollectionReader, site: Site) -> None:
    (capture,) = reader.captures(site.url("/b"))

    assert (reader.paths.archive / capture.file).stat().st_size >= capture.offset + capture.length
    assert capture.status == 200
    assert capture.digest.startswith("sha1:")


def test_a_page_names_all_its_versions(reader: CollectionReader, site: Site) -> None:
    found = reader.page(site.url("/b"))

    assert found.versions == tuple(reader.captures(site.url("/b")))
    assert reader.page(site.url("/b"), at=found.versions[0].at).at_us == found.at_us


def test_the_story_of_a_refusal_names_rule_and_line(reader: CollectionReader, site: Site) -> None:
    story = reader.story(site.url("/private/x"))

    assert story.row is not None
    assert story.row.reason == Reason.ROBOTS
    assert story.robots is not None
    assert (story.robots.is_allowed, story.robots.line) == (False, 2)
    assert "Disallow: /private (line 2)" in told(reader, site.url("/private/x"))


def test_the_story_leads_back_to_the_seed(reader: CollectionReader, site: Site) -> None:
    story = reader.story(site.url("/d/e"))

    assert [step.url for step in story.via] == [site.url("/b"), site.url()]
    assert f"{site.url()} -> {site.url('/b')} -> {site.url('/d/e')}" in told(reader, story.url)


def test_the_story_of_a_waiting_url_says_when_it_is_due(
    reader: CollectionReader, site: Site
) -> None:
    story = reader.story(site.url("/busy"))

    assert story.row is not None
    assert story.row.due_us > SystemClock().wall_us()
    assert f"next attempt is on {iso_of(story.row.due_us)}" in told(reader, story.url)


def test_the_story_of_a_seed_says_so(reader: CollectionReader, site: Site) -> None:
    assert "It is a seed" in told(reader, site.url())


def test_a_redirect_tells_where_it_leads(reader: CollectionReader, site: Site) -> None:
    assert f"It redirects to {site.url('/b')}." in told(reader, site.url("/moved"))


def test_a_url_that_is_not_known_is_judged_by_the_rules(
    reader: CollectionReader, site: Site
) -> None:
    inside = reader.story(site.url("/never")).judged
    outside = reader.story("http://else.example/").judged
    forbidden = reader.story(site.url("/private/never")).judged

    assert inside is not None
    assert inside.is_in
    assert inside.because == "it is on the host of a seed"
    assert outside is not None
    assert (outside.is_in, outside.reason) == (False, "scope")
    assert forbidden is not None
    assert (forbidden.is_in, forbidden.reason) == (False, "robots")


def test_what_is_no_url_is_no_story(reader: CollectionReader) -> None:
    with pytest.raises(UsageError, match="is not a URL"):
        reader.story("mailto:somebody@example.org")


@each_row("reason", Reason)
def test_every_reason_is_half_a_sentence(reason: Reason) -> None:
    assert SAYS[reason]
    assert not SAYS[reason].endswith(".")


def test_reading_does_not_stop_a_running_crawl(collection: Path) -> None:
    async def both() -> tuple[int, int]:
        seen = 0
        pages = {"/": page("".join(f"<a href=/{n}>{n}</a>" for n in range(30))), "*": page("<p>x")}
        async with a_site(pages) as site, asyncio.TaskGroup() as tasks:
            settings = {"node__commit_every_s": 0.01, "politeness__per_host": 1}
            running = tasks.create_task(crawl_in_loop(collection, [site.url()], settings))
            while not running.done():
                await asyncio.sleep(0.01)
                if CollectionPaths(collection).exists:
                    with CollectionReader.open(collection) as reader:
                        seen = max(seen, sum(1 for _ in reader.url_rows()))
        return seen, running.result().fetched

    seen, fetched = asyncio.run(both())

    assert fetched == 31
    assert seen > 0


def test_a_refresh_shows_what_came_since(collection: Path) -> None:
    with site_in_thread({"*": page("<p>x")}) as site:
        crawl(collection, [site.url("/1")])
        with CollectionReader.open(collection) as reader:
            crawl(collection, [site.url("/2")])
            before = reader.find(site.url("/2"))
            reader.refresh()

            assert before is None
            assert reader.find(site.url("/2")) is not None


def test_a_damaged_capture_is_named_with_file_and_byte(collection: Path) -> None:
    with site_in_thread({"/": page("<p>x")}) as site:
        crawl(collection, [site.url()])
        with CollectionReader.open(collection) as reader:
            (capture,) = reader.captures(site.url())
            (collection / "archive" / capture.file).unlink()

            with pytest.raises(CorruptFile, match=f"{capture.file}, byte {capture.offset}"):
                reader.page(site.url())


def test_a_revisit_shows_the_body_that_it_repeats(collection: Path) -> None:
    url, at_us = "http://example.org/", 1_767_225_600_000_000
    home, clock = CollectionPaths(collection), ManualClock()
    home.make()
    store = open_to_write(home, 16)
    key = Keys(store.find(StateTable.META, b"salt") or b"").of(url)
    archive = WarcWriter.open(home.archive, "gossamer", Archive(), {}, clock)
    rows: dict[bytes, bytes | None] = {}
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n"
    content = b"<title>Same</title>same words"
    for number, status in enumerate((200, 200, 304)):
        when_us = at_us + number * 86_400_000_000
        shown = head if status == 200 else b"HTTP/1.1 304 Not Modified\r\n\r\n"
        body = content if status == 200 else b""
        fetched = Fetched(url, status, shown, body, b"", "192.0.2.1", "http/1.1", when_us, 0.1)
        lease = Lease(number, url, key, "example.org", "192.0.2.1")
        first = RevisitOf(url, at_us, payload_digest(content)) if number else None
        stored = archive.append(lease, fetched, first)
        capture = CaptureRow(stored.file, stored.response, stored.end - stored.response, status)
        rows[key + time_key(when_us)] = capture.encode()
    archive.close()
    row = UrlRow(standing=Standing.FETCHED, depth=0, url=url, at_us=when_us, status=304)
    store.write({StateTable.CAPTURE: rows, StateTable.URL: {key: row.encode()}})
    store.close()

    with CollectionReader.open(collection) as reader:
        pages = [reader.page(url, at) for at in ("2026-01-01", "2026-01-02", "2026-01-03")]

    assert [found.status for found in pages] == [200, 200, 200]
    assert [found.title for found in pages] == ["Same"] * 3
    assert [found.text for found in pages] == ["same words"] * 3


@each_row(
    ("text", "last"),
    [
        ("2026", "2026-12-31T23:59:59Z"),
        ("2026-01", "2026-01-31T23:59:59Z"),
        ("2026-12", "2026-12-31T23:59:59Z"),
        ("202602", "2026-02-28T23:59:59Z"),
        ("2026-01-31", "2026-01-31T23:59:59Z"),
        ("20260131", "2026-01-31T23:59:59Z"),
        ("2026013112", "2026-01-31T12:59:59Z"),
        ("20260131120001", "2026-01-31T12:00:01Z"),
        ("2026-01-31T12:00:01Z", "2026-01-31T12:00:01Z"),
        ("2026-01-31 12:00", "2026-01-31T12:00:59Z"),
        ("2026-01-31T12:00:01+02:00", "2026-01-31T10:00:01Z"),
        ("2026-01-31T12:00:01.5Z", "2026-01-31T12:00:01Z"),
        ("20260131120001999", "2026-01-31T12:00:01Z"),
    ],
)
def test_a_time_means_its_end(text: str, last: str) -> None:
    assert iso_of(moment_of(text)) == last


@each_row(
    ("text", "last_us"),
    [
        ("2026-01-31T12:00:01.5Z", 599_999),
        ("2026-01-31T12:00:01,123+00:00", 123_999),
        ("2026-01-31T12:00:01.123456Z", 123_456),
        ("2026-01-31 12:00:01", 999_999),
        ("20260131120001123456", 123_456),
        ("202601311200015", 599_999),
    ],
)
def test_of_parts_of_a_second_the_last_microsecond_is_meant(text: str, last_us: int) -> None:
    assert moment_of(text) % 1_000_000 == last_us


def capture_at(at_us: int) -> StoredCapture:
    return StoredCapture(at_us, "a.warc.gz", at_us, 1, 200, "", "", 1)


def test_captures_of_one_second_are_told_apart_and_each_time_finds_its_own() -> None:
    second = 1_767_225_600_000_000
    captures = [capture_at(second + at) for at in (-1, 0, 42, 999_999, 1_000_000)]

    times = times_of(captures)

    assert times == [
        "2025-12-31T23:59:59Z",
        "2026-01-01T00:00:00.000000Z",
        "2026-01-01T00:00:00.000042Z",
        "2026-01-01T00:00:00.999999Z",
        "2026-01-01T00:00:01Z",
    ]
    assert [nearest_capture(captures, moment_of(at)) for at in times] == captures


@each_row("text", ["", "soon", "2026-13", "2026-02-30", "26", "99999999999999", "²"])
def test_a_time_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="2026-01-31"):
        moment_of(text)


def test_the_capture_at_or_before_a_moment_is_meant_and_else_the_first_after() -> None:
    captures = [StoredCapture(at_us, "f", 0, 0, 200, "", "", 0) for at_us in (10, 20, 30)]

    assert nearest_capture(captures, None).at_us == 30
    assert nearest_capture(captures, 25).at_us == 20
    assert nearest_capture(captures, 20).at_us == 20
    assert nearest_capture(captures, 5).at_us == 10


def test_times_are_told_with_their_distance() -> None:
    now_us = 1_767_225_600_000_000

    assert when(now_us, now_us).endswith("just now")
    assert when(now_us - 61_000_000, now_us).endswith("1 minute ago")
    assert when(now_us + 7_200_000_000, now_us).endswith("in 2 hours")


def test_the_nearest_of_many_is_found_by_its_ends() -> None:
    known = [f"http://a.example/{number:05}/page" for number in range(5_000)]

    assert nearest_of("http://a.example/04321/pge", known) == known[4321]
    assert nearest_of("http://a.example/" + "x" * 9_000, known) == known[0]
    assert nearest_of("http://a.example/", []) == ""
