"""A refresh is read as browsers read it, and its URL is what the page wrote."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.html import Parser
from gossamer.parse.refresh import refresh_target
from gossamer.records import LinkKind
from gossamer.settings import Parse
from support.rows import each_row

READ = {
    "0;url=next.html": "next.html",
    "5": "",
    "5;": "",
    "0; URL = 'a b' rest": "a b",
    '0,url="q?ä=1"rest': "q?ä=1",
    "0 url=x": "x",
    "0;x": "x",
    "0;'q'": "q",
    "0;u": "u",
    "0;ur=x": "ur=x",
    "0;url x": "url x",
    "0;url='": "",
    "0;url=;x": ";x",
    ".5;url=y": "y",
    "1.5.2;url=z": "z",
    " \t0\n; url\n=\n x": "x",
    "0;url=http://h:x/": "http://h:x/",
    "0;url=http://[::1/": "http://[::1/",
    "; url=x": None,
    "": None,
    "abc": None,
    "-1;url=x": None,
    "0:url=x": None,
    "٣;url=x": None,
}


@each_row(("content", "target"), READ.items())
def test_a_refresh_is_read_as_the_standard_says(content: str, target: str | None) -> None:
    assert refresh_target(content) == target


@given(st.text("0123.;, \t'\"urlURL=/x:[\ud800"))
def test_any_text_of_a_refresh_can_be_read(content: str) -> None:
    refresh_target(content)


def links_of(html: str) -> list[str]:
    page = Parser(Parse()).parse("http://example.org/", "text/html", html.encode())
    return [link.href for link in page.links if link.kind is LinkKind.REFRESH]


def test_a_refresh_with_a_bad_url_is_noted_and_the_next_one_counts() -> None:
    metas = "".join(
        f"<meta http-equiv=refresh content='0;url={url}'>" for url in ("http://h:x/", "a", "b")
    )

    assert links_of(metas) == ["http://h:x/", "a"]


def test_a_refresh_without_time_does_not_hide_the_next_one() -> None:
    assert links_of(
        "<meta http-equiv=refresh content=x><meta http-equiv=refresh content='1;url=b'>"
    ) == ["b"]


def test_a_refresh_for_browsers_without_scripts_is_not_followed() -> None:
    assert links_of("<noscript><meta http-equiv=refresh content='0;url=a'></noscript><p>text") == []


def test_of_many_bad_refreshes_few_are_noted() -> None:
    assert len(links_of("<meta http-equiv=refresh content='0;url=http://h:x/'>" * 5000)) == 16
