"""Where redirects and links may lead, and where they may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.outcomes import crawl, fates, outcomes
from gossamer.archive.reader import iter_exchanges
from gossamer.records import Fetched
from support.a_site import Pages, page, redirect, site_in_thread

LOOPBACK = ("127.0.0.0/8",)


def links(*targets: str) -> bytes:
    return page("".join(f'<a href="{target}">x</a>' for target in targets))


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
)
def test_a_redirect_is_followed_and_is_no_page(status: str, collection: Path) -> None:
    pages: Pages = {"/": links("/old"), "/old": redirect("new", status), "/new": page("x")}

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()])

    assert site.asked == ["/robots.txt", "/", "/old", "/new"]
    assert (summary.fetched, summary.redirects) == (2, 1)
    found = outcomes(collection)
    assert found[site.url("/old")].redirect == site.url("/new")
    assert found[site.url("/new")].depth == 1  # a redirect is no link


def test_a_loop_of_redirects_ends_where_it_began(collection: Path) -> None:
    pages: Pages = {
        "/": links("/a", "/self"),
        "/a": redirect("/b"),
        "/b": redirect("/a"),
        "/self": redirect("/self"),
    }

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()])

    assert sorted(site.asked) == ["/", "/a", "/b", "/robots.txt", "/self"]
    assert summary.stopped == "done"


def test_a_chain_is_followed_ten_hops_and_no_more(collection: Path) -> None:
    pages: Pages = {"/": links("/0")} | {f"/{n}": redirect(f"/{n + 1}") for n in range(30)}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()])

    assert site.asked[2:] == [f"/{n}" for n in range(11)]
    assert fates(collection)["/11"] == "refused redirects"


def test_a_page_behind_too_long_a_chain_is_taken_where_a_link_leads_to_it(collection: Path) -> None:
    chain: Pages = {f"/{n}": redirect(f"/{n + 1}") for n in range(3)}
    pages: Pages = {"/": links("/0", "/near"), "/near": links("/3"), "/3": page("x"), **chain}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()], fetch__max_redirects=2, politeness__per_host=1)

    assert fates(collection)["/3"] == "fetched 200"


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/", "data:text/html,x", "http://[bad/", "//"]
)
def test_a_redirect_out_of_the_web_is_kept_and_not_followed(target: str, collection: Path) -> None:
    with site_in_thread({"/": redirect(target)}) as site:
        crawl(collection, [site.url()])

    row = outcomes(collection)[site.url()]
    assert (row.outcome, row.status) == ("fetched", 302)
    assert "redirect to" in row.detail
    assert len(outcomes(collection)) == 1


def test_a_redirect_to_another_host_is_out_of_scope(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as other:
        far = other.url("/", host="other.localhost")
        with site_in_thread({"/": links("/away"), "/away": redirect(far)}) as site:
            crawl(collection, [site.url()], fetch__allow_private=LOOPBACK)

    assert other.log == []
    assert outcomes(collection)[far].reason == "scope"


PRIVATE = [
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://192.0.0.192/",
    "http://[::ffff:10.0.0.1]/",
    "http://[fe80::1]/",
    "http://0x7f.1/",
    "http://localhost/",
    "http://inner.localhost/",
]


@pytest.mark.parametrize("way", ["link", "redirect", "seed that moved"])
def test_private_addresses_are_never_asked(way: str, collection: Path) -> None:
    with site_in_thread({"/": page("x")}, host="127.0.0.2") as inner:
        targets = [*PRIVATE, inner.url()]
        moved: Pages = {f"/{n}": redirect(url) for n, url in enumerate(targets)}
        home = links(*targets) if way == "link" else links(*moved)
        seeds = list(moved) if way == "seed that moved" else ["/"]
        with site_in_thread({"/": home, **moved}) as site:
            crawl(
                collection,
                [site.url(seed, host="start.localhost") for seed in seeds],
                scope__kind="any",
            )

    assert inner.log == []
    refused = {
        url: (row.outcome.value, row.reason)
        for url, row in outcomes(collection).items()
        if "start.localhost" not in url
    }
    assert len(refused) == len(targets)
    assert set(refused.values()) == {("refused", "private")}


def test_allowed_networks_are_asked_where_links_lead(collection: Path) -> None:
    with (
        site_in_thread({"/": page("x")}, host="127.0.0.2") as inner,
        site_in_thread({"/": links(inner.url())}) as site,
    ):
        allowed = ("127.0.0.2/32",)
        crawl(collection, [site.url()], scope__kind="any", fetch__allow_private=allowed)

    assert inner.asked == ["/robots.txt", "/"]


@pytest.mark.parametrize("port", [25, 22, 6667])
def test_ports_of_other_protocols_are_never_asked(port: int, collection: Path) -> None:
    far = f"http://127.0.0.1:{port}/"

    with site_in_thread({"/": links(far, "/r"), "/r": redirect(far)}) as site:
        crawl(collection, [site.url()], scope__kind="any", fetch__allow_private=LOOPBACK)

    assert outcomes(collection)[far].reason == "port"


def test_user_and_password_are_neither_sent_nor_kept(collection: Path) -> None:
    with site_in_thread() as site:
        host = f"127.0.0.1:{site.port}"
        site.pages = {"/": links(f"http://me:secret@{host}/a"), "*": page("x")}
        crawl(collection, [f"http://you:hidden@{host}/"])

    assert all("authorization" not in asked.headers for asked in site.log)
    assert set(outcomes(collection)) == {site.url("/"), site.url("/a")}
    log = (collection / "log" / "crawl.jsonl").read_text()
    assert "secret" not in log
    assert "hidden" not in log


def test_credentials_go_nowhere_but_to_typed_hosts(collection: Path) -> None:
    given = ("Authorization: Basic c2VjcmV0", "X-Study: 1")

    with site_in_thread({"/": page("x"), "*": page("x")}) as other:
        far = other.url("/", host="other.localhost")
        with site_in_thread({"/": links("/away", far), "/away": redirect(far)}) as site:
            crawl(
                collection,
                [site.url()],
                scope__kind="any",
                fetch__allow_private=LOOPBACK,
                fetch__headers=given,
            )

    assert {asked.headers.get("authorization") for asked in site.log} == {"Basic c2VjcmV0"}
    assert {asked.headers.get("authorization") for asked in other.log} == {None}
    assert {asked.headers.get("x-study") for asked in [*site.log, *other.log]} == {"1"}
    for file in (collection / "archive").glob("*.warc.gz"):
        for exchange in iter_exchanges(file):
            assert isinstance(exchange.answer, Fetched)
            assert b"c2VjcmV0" not in exchange.answer.request
