"""Where a Location leads, however it is written: to a URL or nowhere, and never round for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.outcomes import crawl, crawl_hurried, outcomes
from support.a_site import Pages, page, redirect, site_in_thread


def raw_redirect(location: bytes) -> bytes:
    return b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: " + location + b"\r\n\r\n"


@pytest.mark.parametrize(
    ("location", "asked"),
    [
        (b"b", "/a/b"),
        (b"../b?c#d", "/b?c"),
        (b"?c", "/a/?c"),
        (b"/b c", "/b%20c"),
        ("/größe".encode(), "/gr%C3%B6%C3%9Fe"),
        ("/größe".encode("latin-1"), "/gr%F6%DFe"),
        (b"\\b", "/b"),
        (b"/b\tc", "/bc"),
        (b"  /b  ", "/b"),
        (b"http:/b", "/b"),
        (b"/%zz", "/%zz"),
        (b"/" + b"b" * 1500, "/" + "b" * 1500),
    ],
)
def test_a_location_is_read_as_browsers_read_it(
    location: bytes, asked: str, collection: Path
) -> None:
    pages: Pages = {"/a/": raw_redirect(location), "*": page("x")}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url("/a/")])

    assert site.asked == ["/robots.txt", "/a/", asked]


@pytest.mark.parametrize(
    "location",
    [b"", b"#top", b"mailto:a@b.example", b"javascript:alert(1)", b"http://", b"http://a b/",
     b"http://[::1/", b"http://h:99999/", b"ftp://127.0.0.1/", b"\xff\xfe://x"],
)  # fmt: skip
def test_a_location_that_leads_nowhere_leaves_the_answer(location: bytes, collection: Path) -> None:
    with site_in_thread({"/": raw_redirect(location)}) as site:
        summary = crawl(collection, [site.url()])

    row = outcomes(collection)[site.url()]
    assert (row.outcome, row.status) == ("fetched", 302)
    assert summary.stopped == "done"
    assert site.asked.count("/") == 1


def test_300_hops_are_not_followed(collection: Path) -> None:
    pages: Pages = {f"/{n}": redirect(f"/{n + 1}") for n in range(300)}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url("/0")])

    assert site.asked == ["/robots.txt", *(f"/{n}" for n in range(11))]


def test_a_loop_that_grows_ends(collection: Path) -> None:
    with site_in_thread({"*": raw_redirect(b"?a=1&b=2"), "/": raw_redirect(b"./x/")}) as site:
        site.pages = {"/robots.txt": page("", "404 Gone"), "*": raw_redirect(b"./x/")}
        summary = crawl(collection, [site.url()])

    assert len(site.asked) <= 12
    assert summary.stopped == "done"


def test_two_locations_that_differ_are_a_fault(collection: Path) -> None:
    both = b"HTTP/1.1 302 Found\r\nlocation: /a\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n"

    with site_in_thread({"/": both}) as site:
        crawl_hurried(collection, [site.url()])

    assert set(site.asked) == {"/robots.txt", "/"}
