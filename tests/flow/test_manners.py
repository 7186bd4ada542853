"""Are hosts spared as promised? The server's own log is the witness.

A gap is measured by the server, from the end of an answer to the beginning of the next request, so
it can only be longer than the rest that the crawler kept.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flow.outcomes import crawl, fates, outcomes
from gossamer.version import __version__
from support.a_crawl import crawl_until
from support.a_site import (
    Pages,
    Request,
    page,
    redirect,
    robots,
    site_in_thread,
    too_many,
)

LOOPBACK = ("127.0.0.0/8",)
SLACK_S = 0.001  # a loop's timer may be early by its resolution


def links(*targets: str) -> bytes:
    return page("".join(f'<a href="{target}">x</a>' for target in targets))


def test_a_host_rests_after_every_answer_and_is_asked_one_at_a_time(collection: Path) -> None:
    with site_in_thread({"/": links("/a", "/b", "/c"), "*": page("x")}) as site:
        crawl(
            collection,
            [site.url()],
            politeness__host_delay_s=0.2,
            politeness__address_delay_s=0.0,
            politeness__per_host=8,
        )

    assert site.asked == ["/robots.txt", "/", "/a", "/b", "/c"]
    assert min(site.gaps_s()) >= 0.2 - SLACK_S
    assert site.most_at_once() == 1


def test_an_error_and_a_missing_page_are_rested_after_too(collection: Path) -> None:
    pages: Pages = {"/": links("/gone", "/broken", "/b"), "/broken": b"", "/b": page("b")}

    with site_in_thread(pages) as site:
        crawl(
            collection,
            [site.url()],
            politeness__host_delay_s=0.15,
            politeness__address_delay_s=0.0,
            limits__max_pages=3,
        )

    assert len(site.asked) == 5
    assert min(site.gaps_s()) >= 0.15 - SLACK_S


def test_hosts_at_one_address_share_its_rest(collection: Path) -> None:
    names = [f"h{number}.localhost" for number in range(4)]

    with site_in_thread({"/": page("home"), "/robots.txt": robots("")}) as site:
        crawl(
            collection,
            [site.url(host=name) for name in names],
            politeness__host_delay_s=0.1,
            politeness__address_delay_s=0.2,
        )

    assert len(site.log) == 8
    assert min(site.gaps_s()) >= 0.2 - SLACK_S
    assert site.most_at_once() == 1


def test_without_a_delay_neither_hosts_nor_addresses_rest(collection: Path) -> None:
    async def with_another(_: Request) -> bytes:
        while site.most_at_once() < 2:  # noqa: ASYNC110  # each is the other's
            await asyncio.sleep(0.005)
        return page("x")

    names = [f"h{number}.localhost" for number in range(4)]
    with site_in_thread({"/": with_another}) as site:
        crawl(collection, [site.url(host=name) for name in names])

    assert site.most_at_once() > 1


def test_a_slow_host_rests_ten_times_as_long_as_it_took(collection: Path) -> None:
    async def slow(_: Request) -> bytes:
        await asyncio.sleep(0.12)
        return page("x")

    pages: Pages = {
        "/robots.txt": robots(""),
        "/": links("/slow", "/b"),
        "/slow": slow,
        "/b": page("b"),
    }
    with site_in_thread(pages) as site:
        crawl(
            collection,
            [site.url()],
            politeness__host_delay_s=0.05,
            politeness__address_delay_s=0.0,
        )

    assert site.asked[-2:] == ["/slow", "/b"]
    assert site.gaps_s()[-1] >= 1.2 - SLACK_S


def test_robots_txt_comes_first_at_every_origin(collection: Path) -> None:
    names = [f"h{number}.localhost" for number in range(3)]

    with site_in_thread({"*": page("x")}) as first, site_in_thread({"*": page("x")}) as second:
        ports = (first.port, second.port)
        far = [f"http://{name}:{port}/b" for name in names for port in ports]
        first.pages = {"/": links("/a", *far), "*": page("x")}
        crawl(
            collection,
            [first.url()],
            scope__kind="any",
            fetch__allow_private=LOOPBACK,
            politeness__per_host=1,
        )

    for site in (first, second):
        for name in ("127.0.0.1", *names):
            asked = site.asked_of(name)
            if asked:
                assert asked[0] == "/robots.txt"
                assert asked.count("/robots.txt") == 1
    assert [second.asked_of(name) for name in names] == [["/robots.txt", "/b"]] * 3


def test_what_robots_txt_disallows_is_never_asked(collection: Path) -> None:
    rules = robots("User-agent: *\nDisallow: /\n\nUser-agent: gossamer\nDisallow: /private\n")
    pages: Pages = {"/robots.txt": rules, "/": links("/private/a", "/open"), "*": page("x")}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()])

    assert site.asked == ["/robots.txt", "/", "/open"]
    assert fates(collection)["/private/a"] == "refused robots"
    assert "line 5" in outcomes(collection)[site.url("/private/a")].detail


def test_crawl_delay_holds_without_a_delay(collection: Path) -> None:
    pages: Pages = {
        "/robots.txt": robots("User-agent: *\nCrawl-delay: 0.3"),
        "/": links("/a", "/b"),
    }

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()], politeness__per_host=8)

    assert len(site.log) == 4
    assert min(site.gaps_s()) >= 0.3 - SLACK_S
    assert site.most_at_once() == 1


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_a_host_that_is_busy_is_left_alone_as_long_as_it_says(
    status: str, collection: Path
) -> None:
    busy = page("later", status, {"retry-after": "1"})
    pages: Pages = {"/": links("/busy", "/a", "/b"), "/busy": [busy, page("x")], "*": page("x")}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()], politeness__per_host=1, limits__max_pages=3)

    at = site.asked.index("/busy")
    assert site.gaps_s()[at] >= 1.0 - SLACK_S
    assert fates(collection)["/a"] == "fetched 200"


def test_a_busy_robots_txt_is_not_asked_again_before_its_time(collection: Path) -> None:
    with site_in_thread({"/robots.txt": too_many("1"), "/": page("x")}) as site:
        crawl(
            collection,
            [site.url()],
            politeness__robots_error_keep_s=1.5,
            politeness__robots_tries=2,
        )

    assert site.asked == ["/robots.txt", "/robots.txt"]
    assert min(site.gaps_s()) >= 1.0 - SLACK_S
    assert fates(collection) == {"/": "refused robots"}


@pytest.mark.parametrize("status", ["500 Oops", "502 Bad Gateway", "599 What"])
def test_a_robots_txt_that_fails_closes_the_host(status: str, collection: Path) -> None:
    with site_in_thread({"/robots.txt": page("", status), "/": page("x")}) as site:
        crawl(collection, [site.url()], politeness__robots_tries=1)

    assert site.asked == ["/robots.txt"]
    assert fates(collection) == {"/": "refused robots"}


def test_a_robots_txt_that_fails_is_waited_for(collection: Path) -> None:
    with site_in_thread({"/robots.txt": page("", "500 Oops"), "/": page("x")}) as site:
        summary = crawl_until(collection, [site.url()], lambda: site.was_asked(1, ago_s=0.3))

    assert site.asked == ["/robots.txt"]
    assert fates(collection) == {"/": "queued"}
    assert summary.queued == 1


def test_a_robots_txt_that_comes_back_opens_the_host(collection: Path) -> None:
    broken, good = page("", "500 Oops"), robots("User-agent: *\nDisallow: /no")
    pages: Pages = {"/robots.txt": [broken, good], "/": links("/no", "/yes"), "/yes": page("x")}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()], politeness__robots_error_keep_s=1.0)

    assert site.asked == ["/robots.txt", "/robots.txt", "/", "/yes"]


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "410 Gone", "401 Who"])
def test_a_host_without_robots_txt_is_open(status: str, collection: Path) -> None:
    with site_in_thread({"/robots.txt": page("", status), "/": page("x")}) as site:
        crawl(collection, [site.url()])

    assert site.asked == ["/robots.txt", "/"]


def test_a_robots_txt_is_followed_to_where_it_moved(collection: Path) -> None:
    with site_in_thread({"/rules": robots("User-agent: *\nDisallow: /no")}) as other:
        pages: Pages = {
            "/robots.txt": redirect("/moved", "301 Moved"),
            "/moved": redirect(other.url("/rules", host="rules.localhost")),
            "/": links("/no", "/yes"),
            "*": page("x"),
        }
        with site_in_thread(pages) as site:
            crawl(collection, [site.url()], fetch__allow_private=LOOPBACK)

    assert site.asked == ["/robots.txt", "/moved", "/", "/yes"]
    assert other.asked == ["/rules"]


def test_a_robots_txt_that_redirects_for_ever_is_left_after_five_hops(collection: Path) -> None:
    with site_in_thread({"/robots.txt": redirect("/robots.txt"), "/": page("x")}) as site:
        crawl(collection, [site.url()])

    assert site.asked == ["/robots.txt"] * 6 + ["/"]


@pytest.mark.parametrize("target", ["http://10.0.0.1/robots.txt", "http://169.254.169.254/r"])
def test_a_robots_txt_leads_to_no_private_address(target: str, collection: Path) -> None:
    with site_in_thread({"/robots.txt": redirect(target), "/": page("x")}) as site:
        crawl(collection, [site.url()], politeness__robots_tries=1)

    assert site.asked == ["/robots.txt"]
    assert fates(collection) == {"/": "refused robots"}


def test_pages_that_ask_not_to_be_followed_are_not(collection: Path) -> None:
    tagged = page("<a href=/one>x</a>", headers={"x-robots-tag": "nofollow"})
    named = page("<a href=/two>x</a>", headers={"x-robots-tag": "gossamer: none"})
    others = page("<a href=/three>x</a>", headers={"x-robots-tag": "otherbot: nofollow"})
    meta = page('<meta name=robots content="index, NoFollow"><a href=/four>x</a>')
    pages: Pages = {
        "/": links("/a", "/b", "/c", "/d"),
        "/a": tagged,
        "/b": named,
        "/c": others,
        "/d": meta,
    }

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()])

    found = fates(collection)
    assert [found[path] for path in ("/one", "/two", "/four")] == ["refused nofollow"] * 3
    assert found["/three"] == "fetched 404"
    assert "/one" not in site.asked


def test_a_link_that_one_page_does_not_want_followed_is_followed_from_another(
    collection: Path,
) -> None:
    closed = page("<meta name=robots content=nofollow><a href=/x>x</a><a href=/y>y</a>")
    pages: Pages = {
        "/": links("/closed", "/open"),
        "/closed": closed,
        "/open": links("/x"),
        "/x": page(""),
    }

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()], politeness__per_host=1)

    assert fates(collection)["/x"] == "fetched 200"
    assert fates(collection)["/y"] == "refused nofollow"
    assert site.asked.count("/x") == 1


def test_marked_links_are_followed_unless_the_setting_says_no(collection: Path) -> None:
    pages: Pages = {"/": page('<a rel="nofollow ugc" href=/ad>x</a>'), "/ad": page("x")}

    with site_in_thread(pages) as site:
        crawl(collection / "follow", [site.url()])
        crawl(collection / "obey", [site.url()], politeness__rel_nofollow="obey")

    assert fates(collection / "follow")["/ad"] == "fetched 200"
    assert fates(collection / "obey")["/ad"] == "refused nofollow"


def test_only_ones_own_hosts_are_spared_robots_txt(collection: Path) -> None:
    closed = {"/robots.txt": robots("User-agent: *\nDisallow: /"), "/": page("x")}

    with site_in_thread(closed) as site:
        crawl(
            collection,
            [site.url(host="mine.localhost"), site.url(host="theirs.localhost")],
            politeness__own_hosts=("mine.localhost",),
        )

    assert site.asked_of("mine.localhost") == ["/"]
    assert site.asked_of("theirs.localhost") == ["/robots.txt"]


def test_a_request_says_who_asks(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection / "a", [site.url()])
        crawl(collection / "b", [site.url()], fetch__contact="me@example.org")

    agents = [asked.headers["user-agent"] for asked in site.log]
    assert agents[:2] == [f"gossamer/{__version__}"] * 2
    assert agents[2:] == [f"gossamer/{__version__} (+me@example.org)"] * 2
