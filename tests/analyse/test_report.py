"""A report on a small site that has one of everything."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.analyse.report import LinkSource, SiteReport, make_report
from gossamer.analyse.report_page import report_page
from gossamer.analyse.report_questions import QUESTIONS
from gossamer.errors import NotKnown, UsageError
from gossamer.reader.collection_reader import CollectionReader
from support.a_crawl import crawl_until
from support.a_site import Pages, Site, answer, page, redirect, reset, robots, site_in_thread

HEAD = "<meta name=description content=d>"
LONG = "A title that goes on and on until nobody can see all of it at once, or wants to"
PAGES: Pages = {
    "/robots.txt": robots("User-agent: *\nDisallow: /private\nSitemap: /map.xml\n"),
    "/": page(
        f"<html lang=en><title>Home</title>{HEAD}<a href=/gone>Our &lt;b&gt; history</a>"
        "<a href=/reset>r</a> <a href=/one>1</a> <a href=/round>o</a> <a href=/copy>c</a>"
        "<a href=/copy2>c</a> <a href=/bare>b</a> <a href=/hidden>h</a> <a href=/print>p</a>"
        "<a href=/private>p</a> <a href=http://other.example/>o</a> <a href=/twin>t</a>"
    ),
    "/map.xml": answer(
        b"<urlset><url><loc>/lonely</loc></url><url><loc>/twin</loc></url></urlset>",
        headers={"content-type": "text/xml"},
    ),
    "/lonely": page(f"<title>Lonely</title>{HEAD}"),
    "/gone": page("<p>no such page", "404 Not Found"),
    "/reset": reset(),
    "/one": redirect("/two"),
    "/two": redirect("/twin"),
    "/round": redirect("/about"),
    "/about": redirect("/round"),
    "/copy": page(f"<title>Copy</title>{HEAD}<a href=/gone>gone, too</a>"),
    "/copy2": page(f"<title>Copy</title>{HEAD}<a href=/gone>gone, too</a>"),
    "/bare": page("<p>" + "x" * 1_100_000),
    "/hidden": page(f"<title>{LONG}</title>{HEAD}<meta name=robots content=noindex>"),
    "/print": page(f"<title>Home</title>{HEAD}<link rel=canonical href=/>"),
    "/twin": page(f"<title>Twin</title>{HEAD}"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    folder = tmp_path_factory.mktemp("report") / "bees"
    with site_in_thread(PAGES) as site:
        crawl_until(
            folder,
            [site.url()],
            lambda: set(PAGES) <= set(site.asked),
            politeness__per_host=1,
        )
        yield site, folder


@pytest.fixture(scope="module")
def report(crawled: tuple[Site, Path]) -> SiteReport:
    with CollectionReader.open(crawled[1]) as reader:
        return make_report(reader)


def first_column(report: SiteReport, name: str, site: Site) -> list[str]:
    (finding,) = [one for one in report.findings if one.question.name == name]
    assert finding.total >= len(finding.rows)
    return [str(row[0]).removeprefix(site.url("").rstrip("/")) for row in finding.rows]


@pytest.mark.parametrize(
    ("name", "urls"),
    [
        ("dead", ["/gone"]),
        ("loops", ["/about"]),
        ("chains", ["/one"]),
        ("duplicates", ["/copy2"]),
        ("no_title", ["/bare"]),
        ("long_title", ["/hidden"]),
        ("same_title", ["Home"]),
        ("no_description", ["/bare"]),
        ("noindex", ["/hidden"]),
        ("canonical_elsewhere", ["/print"]),
        ("mixed", []),
        ("big", ["/bare"]),
        ("orphans", ["/lonely"]),
    ],
)
def test_everything_to_mend_is_found(
    name: str, urls: list[str], report: SiteReport, crawled: tuple[Site, Path]
) -> None:
    assert first_column(report, name, crawled[0]) == urls
    assert report.figures[name] == len(urls)


def test_a_dead_link_is_told_with_its_pages_and_words(
    report: SiteReport, crawled: tuple[Site, Path]
) -> None:
    site = crawled[0]
    (row,) = report.findings[0].rows

    sources = (
        LinkSource(site.url(), "Our <b> history"),
        LinkSource(site.url("/copy"), "gone, too"),
        LinkSource(site.url("/copy2"), "gone, too"),
    )
    assert row == (site.url("/gone"), "404", 3, sources)


def test_the_sums_are_those_of_the_state(report: SiteReport, crawled: tuple[Site, Path]) -> None:
    with CollectionReader.open(crawled[1]) as reader:
        rows = list(reader.url_rows())

    assert report.sums["known"] == len(rows)
    assert report.sums["pages"] == dict(report.histograms["statuses"])["200"]
    assert {"robots", "scope"} <= dict(report.histograms["refused"]).keys()
    assert sum(count for _, count in report.histograms["outcomes"]) == len(rows)


def test_a_site_is_a_host_or_the_beginning_of_urls(crawled: tuple[Site, Path]) -> None:
    site, folder = crawled
    with CollectionReader.open(folder) as reader:
        assert make_report(reader, site.url("/copy"), is_quick=True).sums["pages"] == 2
        of_host = make_report(reader, "127.0.0.1", is_quick=True)
        assert of_host.sums["known"] < make_report(reader, is_quick=True).sums["known"]
        with pytest.raises(NotKnown, match="export hosts"):
            make_report(reader, "nobody.example")
        with pytest.raises(UsageError, match="is not a site"):
            make_report(reader, "http://[")


def test_a_quick_report_says_nothing_of_what_it_did_not_read(crawled: tuple[Site, Path]) -> None:
    with CollectionReader.open(crawled[1]) as reader:
        quick = make_report(reader, is_quick=True)

    assert "no_description" not in quick.figures
    assert "were not checked" in report_page(quick)


def test_the_page_is_one_file_that_asks_nobody_for_anything(report: SiteReport) -> None:
    html = report_page(report)

    assert not re.search(r"<(script|img|iframe|object|embed|link)\b|@import|url\(", html)
    assert "default-src 'none'" in html
    assert "prefers-color-scheme: dark" in html


def test_what_comes_from_the_web_is_escaped_on_the_page(report: SiteReport) -> None:
    html = report_page(report)

    assert "Our &lt;b&gt; history" in html
    assert "Our <b> history" not in html


def test_every_question_has_a_heading_and_advice() -> None:
    assert len({question.name for question in QUESTIONS}) == len(QUESTIONS)
    for question in QUESTIONS:
        assert question.advice.endswith("."), question.name
        assert question.columns
