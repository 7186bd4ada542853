"""No URL that a server writes, in whichever place, makes reading an answer raise."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.archive.cdxj import surt
from gossamer.native.extensions import VARIABLE
from gossamer.records import Fetched, Lease, Purpose, Stored
from gossamer.settings import Settings, with_values
from gossamer.upkeep.forget_names import Cover, form_of
from gossamer.upkeep.forget_texts import log_line
from gossamer.urls.canonical import NormalForm
from gossamer.urls.forgotten import Breadth, Forgotten, Named, host_in
from gossamer.urls.keys import Keys
from gossamer.workers.build_worker import build_processor
from gossamer.workers.process import PageProcessor, ProcessedPage
from support.rows import each_row

URL: Final = "http://example.org/d/page"
BAD: Final = (
    "http://h:x/", "http://a b/", "http://[::1/", "http://h:99999/", "http://h:-1/", "//[", "http:",
    "http://", "https:///", "http://%zz/", "http://a%00b/", "http://1.2.3.4.5/", "http://0x.0x.0/",
    "http://[v1.x]/", "http://xn--/", "http://xn--a-ecp.ru/", "http://\ud800/", "http://\u3002/",
    "http://user:@/", "http://@:80", "\\\\", "/\\[", "?\udfff", "#\x00", "http://" + "a" * 300,
    "http://h" + "/x" * 10_000, "data:,", "javascript:%", "dns:", "ftp://[", "file://[::", ":80",
    "http://a\tb\n:8\r0/", "http://\u00ad/", "http://a@b@c:d/", "\u0130://", "http://[::1]:",
)  # fmt: skip

_PIECES = ["http", "https", "ftp", ":", "//", "/", "\\", "[", "]", "::1", "@", "%", "%00", "%zz"]
_PIECES += ["a", "xn--", ".", "..", "99999", "x", " ", "\t", "?", "#", "ä", "\u3002", "\ud800", ""]
_PIECES += ["0x", "1.2.3.4.5", "&", ";", "'", '"', ",", "data:", "\x00", "-"]
HOSTILE: Final = st.sampled_from(BAD) | st.lists(st.sampled_from(_PIECES), max_size=10).map("".join)

PLACES: Final = (
    "<meta http-equiv=refresh content='0;url={}'>", "<meta http-equiv=refresh content='0;{}'>",
    "<meta http-equiv=refresh content=\"0; URL='{}'\">", "<base href='{}'><a href=x>x</a>",
    "<link rel=canonical href='{}'>", "<link rel=next href='{}'>", "<a href='{}'>x</a>",
    "<map><area href='{}' alt=x></map>", "<iframe src='{}'></iframe>", "<frameset><frame src='{}'>",
    "<img src='{}'>", "<img srcset='{} 1x, {}'>", "<video src='{}' poster='{}'></video>",
    "<object data='{}'></object>", "<applet codebase='{}' archive='{}'></applet>",
    "<embed src='{}'>", "<style>a {{ background: url({}) }}</style>", "<p style='x: url({})'>",
    "<svg><a xlink:href='{}'>x</a></svg>", "<input type=image src='{}'>",
)  # fmt: skip


@contextmanager
def form(name: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1" if name == "compiled" else "0")
        yield


def processor(values: Mapping[str, object], forgotten: Forgotten) -> PageProcessor:
    return build_processor(with_values(Settings(), dict(values)), Keys(b"s" * 16), forgotten)


def harvesters() -> Iterator[PageProcessor]:
    """In both forms, with media and without, with something forgotten and with nothing."""
    taken = Forgotten.of([Named(Breadth.HOST, "forgotten.example")], "2026-01-01")
    for name in ("compiled", "python"):
        with form(name):
            yield processor({}, Forgotten())
            yield processor({"fetch.types": ("any",), "urls.query": "clean"}, taken)


HARVESTERS: Final = tuple(harvesters())


def harvested(
    reader: PageProcessor, head: str, body: str, purpose: Purpose = Purpose.PAGE, status: int = 200
) -> ProcessedPage:
    raw = f"HTTP/1.1 {status} X\r\n{head}\r\n\r\n".encode("utf-8", "surrogatepass")
    answer = Fetched(
        url=URL,
        status=status,
        head=raw,
        body=body.encode("utf-8", "surrogatepass"),
        request=b"",
        address="127.0.0.1",
        protocol="http/1.1",
        at_us=1,
        took_s=0.1,
        cut="",
    )
    lease = Lease(1, URL, b"k" * 16, "example.org", "127.0.0.1", purpose)
    return reader.processed(lease, answer, Stored("f.warc.gz", 0, 0, 1, "sha1:x"))


def without_line_ends(text: str) -> str:
    return "".join(text.splitlines())


@example(urls=list(BAD), place=PLACES[0])
@given(
    urls=st.lists(HOSTILE, min_size=1, max_size=3), place=st.sampled_from(PLACES),
)  # fmt: skip
def test_no_url_in_a_page_makes_reading_raise(urls: list[str], place: str) -> None:
    body = "".join(place.format(*(html.escape(url),) * place.count("{}")) for url in urls)

    for reader in HARVESTERS:
        harvested(reader, "Content-Type: text/html; charset=utf-8", body)
        harvested(reader, "Content-Type: application/xhtml+xml", f"<html>{body}</html>")


@each_row("place", PLACES)
@each_row("number", range(len(HARVESTERS)))
def test_no_known_bad_url_makes_reading_raise(place: str, number: int) -> None:
    for url in BAD:
        filled = place.format(*(html.escape(url),) * place.count("{}"))
        harvested(HARVESTERS[number], "Content-Type: text/html", filled)


@example(url="http://h:x/")
@given(url=HOSTILE)
def test_no_url_in_a_header_makes_reading_raise(url: str) -> None:
    written = without_line_ends(url)
    for reader in HARVESTERS:
        link = f"Content-Type: text/html\r\nLink: <{written}>; rel=canonical, <{written}>; rel=next"
        harvested(reader, link, "<a href=x>x</a>")
        harvested(reader, f"Location: {written}", "", status=301)


@example(url="http://h:x/")
@given(url=HOSTILE)
def test_no_url_in_a_list_makes_reading_raise(url: str) -> None:
    written = html.escape(url)
    lists = {
        "application/xml": f"<urlset><url><loc>{written}</loc></url></urlset>",
        "text/xml": f"<sitemapindex><sitemap><loc>{written}</loc></sitemap></sitemapindex>",
        "application/rss+xml": f"<rss><channel><item><link>{written}</link></item></channel></rss>",
        "application/atom+xml": f"<feed><entry><link href='{written}'/></entry></feed>",
        "text/plain": f"{url}\nhttp://{url}\nwww.{url}",
        "text/css": f"a {{ background: url('{url}') }} @import '{url}';",
    }
    for reader in HARVESTERS:
        for mime, body in lists.items():
            harvested(reader, f"Content-Type: {mime}", body, Purpose.SITEMAP)
            harvested(reader, f"Content-Type: {mime}", body)
        rules = f"User-agent: *\nSitemap: {url}\nDisallow: {url}\n"
        harvested(reader, "Content-Type: text/plain", rules, Purpose.ROBOTS)


@example(url="dns:")
@given(url=HOSTILE)
def test_no_url_in_an_archive_makes_a_takedown_raise(url: str) -> None:
    """Archives of others hold URLs of any scheme, and rubbish."""
    named = (Named(Breadth.URL, URL), Named(Breadth.HOST, "example.org"))
    cover = Cover(
        named, Forgotten.of(list(named), "now"), form_of(Settings()), frozenset(), frozenset()
    )

    cover.covers_any(url)
    cover.names(url)
    host_in(url)
    surt(url)
    NormalForm("clean", ("sid",)).fault(url, URL)
    line = b'{"url": %s, "via": %s}\n'
    quoted = ascii(url).replace("'", '"').encode()
    log_line(cover)(line % (quoted, quoted))
