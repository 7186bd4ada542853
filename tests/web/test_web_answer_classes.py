"""Outcome and status apart on every page: a dead page never looks like a good one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gossamer.analyse.report import make_report
from gossamer.analyse.report_page import report_page
from gossamer.reader.collection_reader import CollectionReader
from support.a_crawl import crawl_until
from support.a_site import Pages, answer, page, redirect, reset, robots, site_in_thread
from web.a_browser import Browser, Served, served
from web.conftest import Garden

BADGE = re.compile(r'<span class="badge ([^"]*)">([^<]*)</span>')


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Garden:
    """A site with an answer of every class."""
    names = ("good", "gone", "broken", "moved", "odd", "reset", "private")
    links = "".join(f"<a href=/{name}>{name}</a>" for name in names)
    pages: Pages = {
        "/robots.txt": robots("User-agent: *\nDisallow: /private"),
        "/": page(f"<title>Home</title>{links}"),
        "/good": page("<title>Good</title>"),
        "/gone": page("<title>Gone</title>", status="404 Not Found"),
        "/broken": page("<title>Broken</title>", status="501 Not Implemented"),
        "/moved": redirect("/good"),
        "/odd": answer(b"x", status="999 Request denied"),
        "/reset": reset(),
    }
    home = tmp_path_factory.mktemp("mixed") / "mixed"
    with site_in_thread(pages) as site:
        root = site.url()
        asked = {"/", *(f"/{name}" for name in names if name != "private")}
        crawl_until(home, [root], lambda: asked <= set(site.asked))
    return Garden(home, root)


@pytest.fixture
def mixed_server(mixed: Garden) -> Iterator[Served]:
    made = served(mixed.path)
    yield made
    made.context.collections.close()


def badges(markup: str) -> list[tuple[str, str]]:
    return [(found[1], found[2]) for found in BADGE.finditer(markup)]


def test_a_page_view_tells_outcome_and_status(mixed_server: Served, mixed: Garden) -> None:
    markup = Browser(mixed_server).get("/page", url=mixed.url("/gone")).text

    assert '<span class="outcome">fetched</span>' in markup
    assert badges(markup)[0] == ("c4xx", "404 Not Found")
    assert "c2xx" not in markup


def test_the_links_of_a_page_have_the_colour_of_their_class(
    mixed_server: Served, mixed: Garden
) -> None:
    markup = Browser(mixed_server).get("/page", url=mixed.url("/"), view="out").text
    rows = {
        found[1]: found[2]
        for found in re.finditer(r"<bdi>[^<]*/(\w+)</bdi></a></td>.*?<td>(.*?)</td></tr>", markup)
    }

    assert badges(rows["good"]) == [("c2xx", "200 OK")]
    assert badges(rows["gone"]) == [("c4xx", "404 Not Found")]
    assert badges(rows["broken"]) == [("c5xx", "501 Not Implemented")]
    assert badges(rows["moved"]) == [("c3xx", "302 Found")]
    assert badges(rows["odd"]) == [("cother", "999")]
    assert badges(rows["private"]) == [("crefused", "refused: robots")]
    assert badges(rows["reset"])[0][0] in ("cfailed", "cqueued")


def test_versions_and_top_pages_show_the_status(mixed_server: Served, mixed: Garden) -> None:
    browser = Browser(mixed_server)
    versions = browser.get("/page", url=mixed.url("/broken"), view="versions").text
    top = browser.get("/top", by="backlinks").text

    assert ("c5xx", "501 Not Implemented") in badges(versions.partition("<tbody>")[2])
    assert ("c4xx", "404 Not Found") in badges(top)
    assert ("c2xx", "200 OK") not in badges(top)  # what is as it should be needs no badge


def test_the_list_of_crawls_counts_dead_pages(mixed_server: Served) -> None:
    markup = Browser(mixed_server).get("/crawls").text

    assert ("c4xx", "2") in badges(markup)


def test_the_api_tells_outcome_and_status(mixed_server: Served, mixed: Garden) -> None:
    browser = Browser(mixed_server)
    found = browser.get("/api/page", url=mixed.url("/gone")).json()
    links = browser.get("/api/links", url=mixed.url("/")).json()["links"]
    top = browser.get("/api/top", by="backlinks").json()["pages"]

    assert (found["outcome"], found["status"]) == ("fetched", 404)
    assert found["story"][0].endswith("is fetched, 404 Not Found.")
    gone = next(link for link in links if link["target"] == mixed.url("/gone"))
    assert (gone["outcome"], gone["status"]) == ("fetched", 404)
    assert next(one for one in top if one["url"] == mixed.url("/gone"))["status"] == 404


def test_the_bars_of_a_report_have_the_colour_of_their_class(mixed: Garden) -> None:
    with CollectionReader.open(mixed.path) as reader:
        html = report_page(make_report(reader))

    assert re.search(r'<span>404 Not Found</span><i class="c4xx"', html)
    assert re.search(r'<span>200 OK</span><i class="c2xx"', html)
    assert re.search(r'<span>robots</span><i class="crefused"', html)
