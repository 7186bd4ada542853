"""The scanner in C reads a page as a tree of it is read, or declines it."""

from dataclasses import replace

import pytest
from hypothesis import given
from msgspec import structs

from gossamer.native.extensions import VARIABLE, load
from gossamer.parse.html import Parser
from gossamer.parse.scan import scanner_of
from gossamer.records import Link, Page
from gossamer.settings import Parse
from parse.soup import SOUP
from support.rows import each_row

URL = "http://example.org/d/page"


pytestmark = pytest.mark.skipif(
    load("gossamer.native._page") is None, reason="the scanner is not built: `make native`"
)


def parser(form: str, settings: Parse = Parse(), *, is_bare: bool = False) -> Parser:  # noqa: B008
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1" if form == "scanned" else "0")
        return Parser(settings, is_bare=is_bare)


def read(parser: Parser, page: str | bytes) -> Page:
    body = page.encode() if isinstance(page, str) else page
    made = parser.parse(URL, "text/html; charset=utf-8", body)
    return structs.replace(made, lines=tuple(made.lines))


SCANNED, TREES = parser("scanned"), parser("trees")
BARE_SCANNED, BARE_TREES = parser("scanned", is_bare=True), parser("trees", is_bare=True)


def is_declined(page: str) -> bool:
    scanner = scanner_of(Parse(), frozenset(), is_bare=False)
    assert scanner is not None
    return scanner.read(page) is None


@given(SOUP)
def test_a_page_is_read_as_its_tree_is(page: str) -> None:
    assert read(SCANNED, page) == read(TREES, page)


@given(SOUP)
def test_so_is_a_bare_page(page: str) -> None:
    assert read(BARE_SCANNED, page) == read(BARE_TREES, page)


READ = {
    "a paragraph ends where a block begins": "<p>a<div>b</div>c",
    "items end one another": "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>",
    "cells and rows may be left open": "<table><tr><td>a<td>b<tr><th>c</table>d",
    "a caption is text": "<table><caption>a</caption><tr><td>b</table>",
    "a form may begin in a table": "<table><form><tr><td>a<input></td></tr></form></table>b",
    "an empty paragraph between rows": "<table><tr><td>a<tr><p><br>\n<br /></P><td>b</table>c",
    "a table in a table, not in a cell of it": "<table><tr><td>a</td><table><tr><td>b</table>c",
    "options are lines": "<select><optgroup label=x><option>a<option>b</optgroup></select>c",
    "white space in pre stays": "<pre>\n a\n\n  b\r\nc</pre>d",
    "an image in a link gives it words": "<a href=x>see <img alt='a &amp; b'>this</a>",
    "an image in a heading, in a link": "<h1>a <a href=x><img alt=b></a> c</h1>",
    "a link around blocks": "<a href=x><div>a</div><div>b</div></a>",
    "a link after a link that nobody closed": "<a href=x>a<a href=y>b</a>",
    "a script may hold tags": "a<script>if (a<b) '<a href=x>'</script>b",
    "a script may hold a comment": "a<script><!-- x --></script><a href=x>b</a>",
    "a style in the body": "a<style>a > b {}</style>b",
    "what noscript holds is read": "a<noscript><a href=x>b</a></noscript>c",
    "an image in a noscript of the head begins the body":
        "<head><noscript><img src=x></noscript><title>t</title></head><a href=y>a</a>",
    "references with and without semicolons": "&amp;&ampx;&notit;&notin;&#x41;&#128;&#0;&#xD800;",
    "a reference in an address": "<a href='?a&copy=1&lt;b&amp;c'>x</a>",
    "a comment may end oddly": "a<!-->b<!--->c<!-- d --!>e<!-- f -- g -->h",
    "an icon": "<a href=x><svg viewBox='0 0 1 1'><title>go</title><path d=M0/></svg></a>",
    "landmarks, and roles": "<nav><a href=1>a</a></nav><div role='x Main'><a href=2>b</a></div>",
    "a base, a canonical address, robots":
        "<base href=/b/><link rel='canonical foo' href=c title=d><meta name=Robots content=none>",
    "an area and a frame": "<map><area href=x alt=y></map><iframe src=z name=n><b></iframe>",
    "the first canonical address that is one":
        "<link rel=canonical href=' \u3000'><link rel=canonical href='a&amp;b\u3000'>"
        "<link rel='canonical next' href=c title=' d \n&amp; &nbsp;e'><link rel=next href=' '>",
    "the first description, and generator, that say something":
        "<meta name=description content=' '><meta name=Description content='a &lt;\n b'>"
        "<meta name=description content=c><meta name=' generator' content='x\u3000 y'>"
        "<meta name=generator content=z http-equiv=content-language><meta name=description>",
    "a language in the place of a header, of a description":
        "<meta name=description content=fr http-equiv=content-language>"
        "<meta name=robots content=none http-equiv=content-language>",
    "headings without words are none": "<h1> </h1><h2>a</h2><h3><br></h3><h4>b</h4><h5></h5>",
    "nothing": "",
    "a page that ends in a tag": "a<b href='",
    "a page that ends in a comment": "a<!-- b",
    "a page that ends in a script": "a<script>b",
    "an end tag of nothing": "a</p>b</div>c</a></td></li></h1>d</br>e",
    "headings in one another, with blocks between them": "<h1><div>" * 9 + "a<img alt=b>c",
    "a formatting element that ends around blocks, in a link":
        "<a href=x><b><i><div>a</b><table><td></i>b<li>c<li>d</table></i><p>e<p>f</div></a>g",
    "blocks of a link go on without the formatting around them":
        "<ul><li><a href=x><b><div><p>a</b><h2>b</h2><p>c</div></a><li>d</ul>e",
    "items end through blocks, not through lists": "<li><div><p>a<li>b<dd><address>c<dt>d<ul><dd>e",
    "a paragraph outside a button goes on": "<p>a<button><div>b</p>c<p>d</button>e</p>f",
    "the end of another heading": "<h1>a<div>b</h2>c<table><td>d</h1>e</table></h3>f",
    "a button in a button": "<button>a<button>b</button>c",
    "words with white space of all kinds": "<a href=x>a\u00a0\u2003 b\u3000c\x0bd\u0085e</a>",
    "a long anchor": "<a href=x>" + "é" * 5000 + "</a>",
}  # fmt: skip


@each_row("page", READ.values())
def test_pages_that_need_no_tree(page: str) -> None:
    assert not is_declined(page)
    assert read(SCANNED, page) == read(TREES, page)
    assert read(BARE_SCANNED, page) == read(BARE_TREES, page)


@each_row(
    "piece", [" ", "  ", "\n", " \u00a0", "\u00a0 ", "\x0b", " é", "&nbsp; ", "&", "<b\x0bc>"]
)
def test_the_scanner_that_sees_sixteen_bytes_at_once_sees_each_of_them(piece: str) -> None:
    for before in range(34):
        for behind in (0, 1, 17):
            text = f"{'a' * before}{piece}{'b' * behind}"
            attributes = f'{"n" * before}="{piece}" {"m" * behind}'
            page = f"{text}<a {attributes} href='{text}'>{text}</a><{'t' * before}t>{text}"
            assert read(SCANNED, page) == read(TREES, page)


DECLINED = {
    "text between the rows of a table": "<table>a<tr><td>b</table>",
    "a link that the end of a block cuts in two": "<p><a href=x>a</p>b</a>",
    "a link in which another stands": "<a href=x><table><tr><td><a href=y>a</a></table></a>",
    "a legend": "<fieldset><legend><b>a</b> c</legend>b</fieldset>",
    "a template": "<template><a href=x>a</a></template>",
    "HTML in a picture": "<svg><p>a</svg>",
    "a formula": "<math><mi>x</mi></math>",
    "a refresh": "<meta http-equiv=refresh content='0; url=x'>",
    "a NUL": "a\0b",
    "elements in one another by the thousand": "<div>" * 2000,
    "an element with hundreds of attributes": "<p " + " ".join(f"a{n}" for n in range(300)) + ">",
    "a script in a comment in a script": "<script><!-- <script> </script> --></script>",
    "headings in one another, all of the same white space": "<h1><div>" * 9 + "\x1c" * 1000,
    "white space as a reference, which begins no body": "\n&#10; <link rel=next href=x>a",
    "nor does a newline as one begin a pre": "<pre>&#10;a</pre>",
}


@each_row("page", DECLINED.values())
def test_pages_that_get_a_tree(page: str) -> None:
    assert is_declined(page)
    assert read(SCANNED, page) == read(TREES, page)


def test_behind_the_last_link_that_is_taken_the_canonical_address_is_read() -> None:
    page = "<a href=x>a</a><a href=y>b</a><link rel=canonical href=c><link rel=next href=d>"
    few = Parse(max_links=2)

    made = read(parser("scanned", few), page)

    assert (made.canonical, len(made.links)) == ("c", 2)
    assert made == read(parser("trees", few), page)


@each_row(
    "page",
    [
        "<a href=x>" * 50_000,
        "<p>" * 200_000,
        "&" * 1_000_000,
        "&notanyname" * 100_000,
        "<" * 500_000,
        "<!--" + "-" * 1_000_000,
        "<script>" + "</scrip" * 100_000,
        "<script>" + "<!--" * 200_000,
        "<h1><img alt=x>" * 50_000,
        "<a href=x>" + "<img alt=abc>" * 50_000,
        "<ul>" + "<li><p>a" * 100_000,
        "<table>" + "<tr><td>" * 100_000,
        "<i>" * 100_000 + "</i>" * 100_000,
        "<a href=x>" + "<i>" * 300 + "</b>" * 100_000,
        "<div>" * 490 + "<li></li>" * 1_000_000,
        "<a href=x><table><tr><td>" + "<i>" * 480 + "</b>" * 2_000_000,
        "<h1><div>" * 64 + "\x1c" * 5_000_000,
        "<p><button>" + "<div>" * 480 + "</p>" * 2_000_000,
    ],
)
def test_hostile_pages_take_time_by_their_size(page: str) -> None:
    scanner = scanner_of(Parse(), frozenset(), is_bare=False)
    assert scanner is not None
    scanner.read(page)  # each takes under a second; a quadratic step would take minutes


@pytest.mark.parametrize("tag", ["<area href>", "<meta name=robots>", "<iframe src=></iframe>"])
def test_what_is_looked_at_beside_anchors_is_bounded(tag: str) -> None:
    native, few = load("gossamer.native._page"), 10
    assert scanner_of(Parse(), frozenset(), is_bare=False) is not None  # it sets up the module
    assert native is not None

    *_, metas, others, _links, _headings, _text, _ = native.scan(tag * 3000, False, few, 100)

    assert len(metas) + len(others) == 1000 + 4 * few


def test_a_link_is_equal_to_its_like_and_has_its_hash() -> None:
    links = read(SCANNED, "<a href=x>a</a><a href=y>b</a>").links

    alike = [Link(*link) for link in links]

    assert [*map(hash, links)] == [*map(hash, alike)]  # Python 3.14 keeps it in the tuple
    assert {*links} == {*alike}


def test_links_have_their_lines() -> None:
    page = "<p>\n<a href='http://['>a</a>\r\n\r\n<link rel=next href=x>\r<a href='http://]'>é</a>"

    assert list(read(SCANNED, page).lines) == [2, 4, 5]


def test_the_lines_of_many_links_are_had_by_one_pass() -> None:
    page = read(SCANNED, "<a href='http://['>x</a>\n" * 20_000 + "y" * 4_000_000)

    assert list(page.lines) == list(range(1, 20_001))  # one by one that would be 40 GB to look at
    assert list(page.lines[::-1])[:2] == [20_000, 19_999]


def test_there_are_no_more_links_than_wanted() -> None:
    few = replace(Parse(), max_links=3)
    page = "<link rel=next href=n>" + "".join(f"<a href={n}>" for n in range(9))

    links = read(parser("scanned", few), page).links

    assert [link.href for link in links] == ["n", "0", "1"]


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    page = b"<title>a\xff</title><a href='b\xe9'>\xe2\x82</a>"

    assert read(SCANNED, page) == read(TREES, page)
    assert read(SCANNED, page).title == "a\ufffd"
