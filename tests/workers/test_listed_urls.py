"""The dates that sitemaps and feeds give for pages are in the report."""

from __future__ import annotations

import pytest

from gossamer.records import Fetched, Lease, Purpose, Report, Stored
from gossamer.settings import Settings
from gossamer.urls.keys import Keys
from gossamer.workers.build_worker import build_processor

KEYS = Keys(b"s" * 16)
ROOT = "https://example.org"
DAY_US = 1_775_001_600_000_000  # 2026-04-01


def report_of(path: str, mime: str, body: str, purpose: Purpose = Purpose.PAGE) -> Report:
    url = f"{ROOT}{path}"
    lease = Lease(1, url, KEYS.of(url), "example.org", "192.0.2.1", purpose, via=f"{ROOT}/x")
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n\r\n".encode()
    answer = Fetched(url, 200, head, body.encode(), b"", "192.0.2.1", "http/1.1", 1, 0.1)
    return build_processor(Settings(), KEYS).processed(lease, answer, Stored("a", 0, 0, 1)).report


def listed(report: Report) -> dict[bytes, int]:
    return dict(report.listed)


SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.org/a</loc><lastmod>2026-04-01</lastmod></url>
<url><loc>https://example.org/a#part</loc><lastmod>2026-04-01T00:00:02Z</lastmod></url>
<url><loc>https://example.org/b</loc></url>
<url><loc>ftp://example.org/c</loc><lastmod>2026-04-01</lastmod></url>
</urlset>"""


def test_a_sitemap_says_when_its_pages_were_changed_and_which_it_lists() -> None:
    report = report_of("/sitemap.xml", "application/xml", SITEMAP, Purpose.SITEMAP)

    assert listed(report) == {
        KEYS.of(f"{ROOT}/a"): DAY_US + 2_000_000,  # the later date of the two
        KEYS.of(f"{ROOT}/b"): 0,
    }


RSS = """<rss><channel><title>News</title>
<item><link>/one</link><pubDate>Wed, 01 Apr 2026 00:00:00 GMT</pubDate></item>
<item><link>/two</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
<entry><link href="/one"/><published>2025-01-01T00:00:00Z</published>
<updated>2026-04-01T00:00:00Z</updated></entry></feed>"""
JSON = """{"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": [
{"id": "1", "url": "https://example.org/one", "date_modified": "2026-04-01T00:00:00Z"},
{"id": "2", "url": "https://example.org/two"}]}"""


@pytest.mark.parametrize(
    ("mime", "body"),
    [("application/rss+xml", RSS), ("application/atom+xml", ATOM), ("application/feed+json", JSON)],
)
def test_a_feed_says_when_its_entries_were_changed(mime: str, body: str) -> None:
    assert listed(report_of("/feed", mime, body)) == {KEYS.of(f"{ROOT}/one"): DAY_US}


def test_a_page_that_is_no_list_says_nothing_of_others() -> None:
    assert report_of("/", "text/html", "<a href=/one>1</a>").listed == ()
