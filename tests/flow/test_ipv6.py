"""Sites at IPv6 addresses: by literal, by name, and when only one of two addresses answers."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from flow.outcomes import crawl, fates, outcomes
from support.a_site import http_1_0, page, redirect, site_in_thread

HOME = {"/": page("<a href=/b>b</a>"), "/b": page("x")}


@pytest.fixture(autouse=True)
def needs_ipv6() -> None:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")


def test_a_site_is_crawled_by_its_address(collection: Path) -> None:
    with site_in_thread(HOME, host="::1") as site:
        crawl(collection, [site.url()])

    assert site.asked == ["/robots.txt", "/", "/b"]
    assert set(outcomes(collection)) == {site.url("/"), site.url("/b")}
    assert {asked.headers["host"] for asked in site.log} == {f"[::1]:{site.port}"}


def test_every_spelling_of_an_address_is_one(collection: Path) -> None:
    with site_in_thread(HOME, host="::1") as site:
        long = f"http://[0:0:0:0:0:0:0:1]:{site.port}/"
        crawl(collection, [long, site.url()])

    assert site.asked.count("/") == 1


@pytest.mark.parametrize("host", ["::1", "127.0.0.1"])
def test_a_name_with_two_addresses_is_asked_at_the_one_that_answers(
    host: str, collection: Path
) -> None:
    with site_in_thread(HOME, host=host) as site:
        crawl(collection, [f"http://localhost:{site.port}/"])

    assert fates(collection) == {"/": "fetched 200", "/b": "fetched 200"}


@pytest.mark.parametrize(
    "address",
    [
        "::1",
        "fd00::1",
        "fe80::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2001:0:7f00:1::",
        "::",
    ],
)
def test_no_link_or_redirect_leads_to_an_inner_address(address: str, collection: Path) -> None:
    with site_in_thread({"*": page("inner")}, host="::1") as inner:
        target = f"http://[{address}]:{inner.port}/"
        pages = {
            "/": page(f'<a href="{target}a">x</a><a href=/m>m</a>'),
            "/m": redirect(f"{target}b"),
        }
        with site_in_thread(pages) as site:
            crawl(collection, [site.url()], scope__kind="any")

    assert inner.connections == 0
    found = {row.reason for row in outcomes(collection).values() if row.outcome == "refused"}
    assert found == {"private"}


def test_an_http_1_0_site_is_crawled_whole(collection: Path) -> None:
    pages = {"/": http_1_0("<a href=/b>b</a>"), "/b": http_1_0("x"), "/robots.txt": http_1_0("")}
    with site_in_thread(pages, host="::1") as site:
        crawl(collection, [site.url()])

    assert set(fates(collection).values()) == {"fetched 200"}
    assert site.connections == 3  # it closes after each answer
