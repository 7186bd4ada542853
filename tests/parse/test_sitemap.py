"""Sitemaps that are cut, wrong or hostile; those that others test are in `suites/`."""

from __future__ import annotations

import pytest

from gossamer.parse.documents.dates import utc_of
from gossamer.parse.documents.sitemap import MAX_URLS, Sitemap, Unreadable, read_sitemap
from support.rows import each_row

URL = "https://a.example/sitemap.xml"


def urls_of(source: str | bytes, charset: str = "") -> list[str]:
    body = source.encode() if isinstance(source, str) else source
    read = read_sitemap(URL, body, charset)
    return [one.url for one in read.urls] if isinstance(read, Sitemap) else []


def urlset(*locs: str) -> str:
    return "<urlset>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>"


def test_what_stands_before_a_cut_is_kept_but_no_half_url() -> None:
    source = urlset("https://a.example/one", "https://a.example/two")
    at = source.index("two")

    assert urls_of(source[: at + 1]) == ["https://a.example/one"]
    assert urls_of(source[: at + 5]) == ["https://a.example/one", "https://a.example/two"]


def test_bare_ampersands_and_names_of_html_are_forgiven() -> None:
    source = urlset("https://a.example/?a=1&b=2", "https://a.example/caf&eacute;")

    assert urls_of(source) == ["https://a.example/?a=1&b=2", "https://a.example/café"]


def test_prefixes_that_nobody_declared_are_forgiven() -> None:
    source = "<urlset><url><image:loc>x.png</image:loc><loc>https://a.example/</loc></url></urlset>"

    assert urls_of(source) == ["https://a.example/"]


def test_a_forgotten_end_of_an_entry_loses_nothing() -> None:
    source = "<urlset><url><loc>https://a.example/1</loc><url><loc>https://a.example/2</loc></url>"

    assert urls_of(source) == ["https://a.example/1", "https://a.example/2"]


@pytest.mark.parametrize("charset", ["utf-16", "utf-8-sig", "iso-8859-1"])
def test_charsets_are_told(charset: str) -> None:
    declared = "" if charset == "utf-16" else f'<?xml version="1.0" encoding="{charset[:10]}"?>'
    source = (declared + urlset("https://a.example/ü")).encode(charset)

    assert urls_of(source.replace(b"utf-8-sig", b"utf-8")) == ["https://a.example/ü"]


def test_a_list_of_lines_may_hold_other_lines() -> None:
    source = "# mine\n\nhttps://a.example/1\r\n  www.b.example/2  \nftp://c.example/\nhalf a line\n"

    assert urls_of(source) == ["https://a.example/1", "http://www.b.example/2"]


@each_row(
    "source", ["", "   ", "<html><body>Not found</body></html>", "<", "words", "\0\0\0", "<a><b>"]
)
def test_what_is_no_sitemap_says_so(source: str) -> None:
    assert isinstance(read_sitemap(URL, source.encode()), Unreadable)


def test_a_bomb_of_entities_is_refused_before_it_goes_off() -> None:
    rows = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    source = f'<!DOCTYPE urlset [<!ENTITY e0 "x">{rows}]>' + urlset("https://a.example/&e12;")

    assert isinstance(read_sitemap(URL, source.encode()), Unreadable)


def test_a_long_entity_named_often_stands_for_nothing() -> None:
    doctype = f'<!DOCTYPE urlset [<!ENTITY e "{"x" * 100_000}">]>'

    assert urls_of(doctype + urlset("https://a.example/" + "&e;" * 1000)) == ["https://a.example/"]


def test_no_more_urls_are_taken_than_a_sitemap_may_have() -> None:
    source = urlset(*(f"https://a.example/{n}" for n in range(MAX_URLS + 10)))

    read = read_sitemap(URL, source.encode())

    assert isinstance(read, Sitemap)
    assert len(read.urls) == MAX_URLS
    assert "more than 50000" in read.fault


@each_row("piece", ["<a>", "<url>", "<![CDATA[", "&", "<loc/>", "<!--", "]]>"])
def test_a_hostile_sitemap_takes_linear_time(piece: str) -> None:
    urls_of("<urlset><url>" + piece * 200_000)


@each_row(
    ("written", "moment"),
    [
        ("2004", "2004-01-01T00:00:00Z"),
        ("2004-10", "2004-10-01T00:00:00Z"),
        ("2004-10-01T18:23:17+02:00", "2004-10-01T16:23:17Z"),
        ("2004-10-01T18:23Z", "2004-10-01T18:23:00Z"),
        ("Thu, 05 Jan 2017 12:34:50 GMT", "2017-01-05T12:34:50Z"),
        ("05 Jan 17 13:34:55", ""),
        ("0001-01-01T00:00:00+14:00", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates_are_moments_in_utc(written: str, moment: str) -> None:
    assert utc_of(written) == moment
