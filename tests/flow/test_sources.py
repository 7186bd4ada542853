"""Where URLs come from beside links: sitemaps, feeds, headers, directories above; and what of."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from flow.outcomes import crawl, fates, outcomes
from gossamer import api
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.schedule import sitemap_fetches
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_pdf import a_pdf
from support.a_site import Pages, page, redirect, robots, site_in_thread


def answer(body: str | bytes, kind: str = "application/xml", status: str = "200 OK") -> bytes:
    data = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n\r\n"
    return head.encode() + data


def urlset(*paths: str) -> str:
    return "<urlset>" + "".join(f"<url><loc>{path}</loc></url>" for path in paths) + "</urlset>"


def index(*paths: str) -> str:
    rows = "".join(f"<sitemap><loc>{path}</loc></sitemap>" for path in paths)
    return f"<sitemapindex>{rows}</sitemapindex>"


def test_pages_that_only_a_sitemap_names_are_fetched(collection: Path) -> None:
    pages: Pages = {
        "/robots.txt": robots("Sitemap: /map.xml"),
        "/map.xml": answer(urlset("/a", "/b", "https://elsewhere.example/")),
        "/": page("no links"),
        "*": page("x"),
    }

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()])

    assert sorted(site.asked) == ["/", "/a", "/b", "/map.xml", "/robots.txt"]
    assert (summary.fetched, summary.stopped) == (3, "done")
    assert "/map.xml" not in fates(collection)
    depths = {row.depth for url, row in outcomes(collection).items() if url.endswith(("/a", "/b"))}
    assert depths == {1}
    assert {row.reason for row in outcomes(collection).values() if row.reason} == {"scope"}


def test_indexes_are_followed_packed_ones_too_and_circles_end(collection: Path) -> None:
    pages: Pages = {
        "/robots.txt": robots("Sitemap: /index.xml"),
        "/index.xml": answer(index("/packed.xml.gz", "/index.xml", "/second.xml")),
        "/second.xml": answer(index("/index.xml", "/list.txt", "/moved")),
        "/packed.xml.gz": answer(gzip.compress(urlset("/a").encode()), "application/gzip"),
        "/list.txt": lambda asked: answer(f"http://{asked.headers['host']}/b\n", "text/plain"),
        "/moved": redirect("/feed.rss"),
        "/feed.rss": answer("<rss><channel><item><link>/c</link></item>"),
        "*": page("x"),
    }

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()])

    assert {path for path, what in fates(collection).items() if what == "fetched 200"} == {
        "/", "/a", "/b", "/c",
    }  # fmt: skip
    assert len(site.asked) == len(set(site.asked))


@pytest.mark.parametrize(
    ("choice", "line", "asked"),
    [
        ("robots", "", False),
        ("robots", "Sitemap: /sitemap.xml", True),
        ("always", "", True),
        ("never", "Sitemap: /sitemap.xml", False),
        ("always", "User-agent: *\nDisallow: /sitemap.xml", False),
        ("always", "Sitemap: /other.xml", False),
    ],
)
def test_sitemaps_are_asked_for_as_the_operator_says(
    choice: str, line: str, asked: bool, collection: Path
) -> None:
    with site_in_thread({"/robots.txt": robots(line), "/": page("x")}) as site:
        crawl(collection, [site.url()], urls__sitemaps=choice)

    assert ("/sitemap.xml" in site.asked) == asked


def test_sitemaps_count_against_no_limit_and_take_turns_with_pages(collection: Path) -> None:
    maps = [f"/map{n}.xml" for n in range(20)]
    pages: Pages = {
        "/robots.txt": robots("\n".join(f"Sitemap: {path}" for path in maps)),
        "/": page("".join(f"<a href=/{n}>x</a>" for n in range(50))),
        **{path: answer(urlset(f"/from{path}")) for path in maps},
        "*": page("x"),
    }

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()], limits__max_pages=5, politeness__per_host=1)

    assert (summary.fetched, summary.stopped) == (5, "max-pages")
    assert sum(path in maps for path in site.asked) <= 6


def test_where_no_link_is_followed_no_sitemap_is_asked_for(collection: Path) -> None:
    with site_in_thread({"/robots.txt": robots("Sitemap: /m"), "*": page("x")}) as site:
        crawl(collection, [site.url()], scope__depth=0)

    assert site.asked == ["/robots.txt", "/"]


def test_a_sitemap_is_asked_once_in_the_life_of_a_collection_and_not_lost(collection: Path) -> None:
    pages: Pages = {
        "/robots.txt": robots("Sitemap: /one.xml\nSitemap: /two.xml"),
        "/one.xml": answer(urlset("/a")),
        "/two.xml": answer(urlset("/b")),
        "/": page("<a href=/c>c</a>"),
        "*": page("x"),
    }

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()], limits__max_pages=1, politeness__per_host=1)
        crawl(collection, [site.url()], politeness__per_host=1)
        crawl(collection, [site.url()])

    assert sorted(site.asked) == sorted(
        ["/robots.txt", "/", "/one.xml", "/two.xml", "/a", "/b", "/c"]
    )


def test_sitemaps_beyond_what_may_wait_are_let_go(
    collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: Pages = {
        "/robots.txt": robots("Sitemap: /index.xml"),
        "/index.xml": answer(index(*(f"/{number}.xml" for number in range(10)))),
        "/": page("no links"),
        "*": answer(urlset("/")),
    }
    monkeypatch.setattr(sitemap_fetches, "_WAITING", 3)

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()])

    assert sorted(site.asked)[1:] == ["/0.xml", "/1.xml", "/2.xml", "/index.xml", "/robots.txt"]
    assert (summary.fetched, summary.stopped) == (1, "done")


def test_a_sitemap_that_cannot_be_had_ends_nothing(collection: Path) -> None:
    pages: Pages = {
        "/robots.txt": robots("Sitemap: /gone\nSitemap: /broken\nSitemap: http://127.0.0.9:8099/x"),
        "/gone": page("gone", "404 Not Found"),
        "/broken": b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nshort",
        "/": page("x"),
    }

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()])

    assert (summary.fetched, summary.stopped) == (1, "done")
    assert site.asked.count("/broken") == 3
    lines = map(json.loads, (collection / "log" / "crawl.jsonl").read_text().splitlines())
    told = {line["url"]: line["reason"] for line in lines if "reason" in line}
    assert told["http://127.0.0.9:8099/x"] == "private"


def test_a_sitemap_sends_a_crawl_of_one_host_to_few_strangers(collection: Path) -> None:
    pages: Pages = {"/robots.txt": robots("Sitemap: /index.xml"), "/": page("x")}

    with site_in_thread(pages) as site:
        site.pages = {
            **pages,
            "/index.xml": answer(index(*(site.url("/m", f"s{n}.localhost") for n in range(80)))),
            "/m": answer(urlset("/")),
        }
        summary = crawl(collection, [site.url()], fetch__allow_private=("127.0.0.0/8", "::1/128"))

    assert summary.stopped == "done"
    assert 1 < len({asked.host for asked in site.log}) <= 51


def test_strangers_that_a_sitemap_led_to_name_nobody_else(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        named = site.url("/m", "third.localhost")
        site.pages = {
            "/robots.txt": robots(f"Sitemap: {site.url('/index.xml', 'cdn.localhost')}"),
            "/": page("x"),
            "/from-there": page("x"),
        }
        site.hosts = {
            "cdn.localhost": {
                "/robots.txt": robots(f"Sitemap: {named}\nSitemap: /not-ours"),
                "/index.xml": answer(index(named, "/own")),
                "/own": answer(urlset(site.url("/from-there"))),
            }
        }
        crawl(collection, [site.url()], fetch__allow_private=("127.0.0.0/8", "::1/128"))

    assert site.asked_of("cdn.localhost") == ["/robots.txt", "/index.xml", "/own"]
    assert site.asked_of("third.localhost") == []
    assert "/from-there" in site.asked


def test_links_of_headers_are_followed(collection: Path) -> None:
    first = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nlink: </next>; rel=next\r\n"
    with site_in_thread({"/": first + b"content-length: 0\r\n\r\n", "*": page("x")}) as site:
        crawl(collection, [site.url()])

    assert site.asked == ["/robots.txt", "/", "/next"]


def test_the_directories_above_a_page_are_asked_for_where_wanted(collection: Path) -> None:
    with site_in_thread({"*": page("x"), "/robots.txt": robots("")}) as site:
        crawl(collection, [site.url("/a/b/c.html?d=/e/")], urls__ascend=True)

    assert sorted(site.asked) == ["/", "/a/", "/a/b/", "/a/b/c.html?d=/e/", "/robots.txt"]


def test_pdf_alone_are_found_by_way_of_pages_and_read(collection: Path) -> None:
    pages: Pages = {
        "/": page("<a href=/paper>a paper</a><a href=/b>b</a><img src=/i.png>"),
        "/b": page("<a href=/other>other</a>"),
        "/paper": answer(a_pdf([("Zebra crossing", "/from-paper")], "Paper"), "application/pdf"),
        "/other": answer(a_pdf([("Other", "")]), "application/pdf"),
        "/i.png": answer(b"png", "image/png"),
        "*": page("x"),
    }

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()], fetch__types=("pdf",))

    assert "/i.png" not in site.asked
    assert "/from-paper" in site.asked
    row = outcomes(collection)[site.url("/paper")]
    assert (row.title, row.type) == ("Paper", "application/pdf")
    with api.open(collection) as reader:
        assert [hit.url for hit in reader.search("zebra type:pdf")] == [site.url("/paper")]
    assert list(verify(collection)) == []


def test_a_crawl_stops_after_so_many_matches_of_the_wanted_type(collection: Path) -> None:
    links = "".join(f"<a href=/{n}>x</a><a href=/{n}.wav>x</a>" for n in range(30))
    pages: Pages = {
        "/": page(links),
        **{f"/{n}.wav": answer(b"RIFF", "audio/wav") for n in range(30)},
        "*": page("x"),
    }

    with site_in_thread(pages) as site:
        settings = {"fetch__types": ("audio/wav",), "limits__max_matches": 7}
        summary = crawl(collection, [site.url()], fetch__connections=16, **settings)
        again = crawl(collection, [site.url()], **{**settings, "limits__max_matches": 9})

    assert (summary.stopped, again.stopped) == ("max-matches", "max-matches")
    assert sum(path.endswith(".wav") for path in site.asked) == 9
    kinds = [row.type for row in outcomes(collection).values() if row.outcome == "fetched"]
    assert kinds.count("audio/wav") == 9


def test_worker_processes_read_sitemaps_too(collection: Path) -> None:
    pages: Pages = {
        "/robots.txt": robots("Sitemap: /index.xml"),
        "/index.xml": answer(index("/map.xml")),
        "/map.xml": answer(urlset(*(f"/{n}" for n in range(20)))),
        "*": page("x"),
    }

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()], node__workers=2)

    assert (summary.fetched, summary.stopped) == (21, "done")
    assert list(verify(collection)) == []


def test_a_state_that_is_made_again_knows_what_sitemaps_named(collection: Path) -> None:
    pages: Pages = {
        "/robots.txt": robots("Sitemap: /map.xml"),
        "/map.xml": answer(urlset("/a", "/b")),
        "*": page("x"),
    }
    with site_in_thread(pages) as site:
        crawl(collection, [site.url()])
        before = fates(collection)

        rebuild(CollectionPaths(collection), "all", SystemClock(), lambda _: None)

        assert fates(collection) == before
        crawl(collection, [site.url()])

    assert sorted(set(site.asked)) == ["/", "/a", "/b", "/map.xml", "/robots.txt"]


def test_what_a_killed_crawl_had_archived_of_sitemaps_is_read_again(collection: Path) -> None:
    pages: Pages = {
        "/robots.txt": robots("Sitemap: /index.xml"),
        "/index.xml": answer(index("/map.xml")),
        "/map.xml": answer(urlset("/a", "/b")),
        "*": page("x"),
    }
    with site_in_thread(pages) as site:
        crawl(collection, [site.url()], scope__depth=0)
        shutil.copytree(collection / "state", collection / "before")
        crawl(collection, [site.url()])
        for part in ("state", "graph", "index"):  # as if nothing had been committed since
            shutil.rmtree(collection / part)
        (collection / "before").rename(collection / "state")
        crawl(collection, [site.url()])

    assert sorted(site.asked) == ["/", "/a", "/b", "/index.xml", "/map.xml", "/robots.txt"]
    assert set(fates(collection).values()) == {"fetched 200"}
