"""The URLs of results in the answer of a search engine."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import SettingsError
from gossamer.node.starts.result_urls import EngineAnswer, result_urls
from gossamer.urls.canonical import NormalForm

URL = "https://engine.example/search?q=flute"
HTML = "text/html; charset=utf-8"
JSON = "application/json"
FORM = NormalForm()

RESULTS = """<nav><a href="https://partner.example/">Partner</a></nav>
<form action=/search></form>
<main><h2><a class=hit href="https://one.example/flute">One</a></h2>
<p><a href="https://two.example/">Two</a> <a href="/settings">Settings</a>
<a class=hit href="https://one.example/flute#part">One again</a></p></main>
<footer><a href="https://owner.example/">Owner</a></footer>"""


def found(body: str, kind: str = HTML, select: str = "") -> list[str]:
    return result_urls(EngineAnswer(URL, kind, body.encode()), select, FORM)


def test_links_to_other_sites_are_results_and_those_of_menus_are_not() -> None:
    assert found(RESULTS) == ["https://one.example/flute", "https://two.example/"]


def test_a_selector_says_which_links_are_results() -> None:
    assert found(RESULTS, select="a.hit") == ["https://one.example/flute"]
    assert found(RESULTS, select="h2") == ["https://one.example/flute"]  # links in the element
    assert found(RESULTS, select="nav a") == ["https://partner.example/"]


def test_an_invalid_selector_is_named() -> None:
    with pytest.raises(SettingsError, match=r"focus\.start_select"):
        found(RESULTS, select="a[[")


def test_a_result_behind_a_redirect_of_the_engine_is_the_page_it_leads_to() -> None:
    wrapped = '<a href="/url?sa=t&q=https%3A%2F%2Fone.example%2Fa%3Fb%3D1">One</a>'

    assert found(wrapped) == ["https://one.example/a?b=1"]


def test_the_search_of_a_site_gives_pages_of_that_site() -> None:
    own = '<a href="/flute">Flute</a><a href="/search?q=flute&page=2">more</a>'

    assert found(own) == ["https://engine.example/flute"]


def test_a_path_names_the_urls_in_json() -> None:
    answer = json.dumps(
        {
            "next": "https://engine.example/search?page=2",
            "web": {
                "results": [{"u": "https://one.example/"}, {"u": "https://two.example/"}, {"u": 3}]
            },
        }
    )

    both = ["https://one.example/", "https://two.example/"]
    assert found(answer, JSON, "web.results.u") == both
    assert found(answer, JSON, "web.nothing") == []


def test_without_a_path_the_urls_in_json_are_known_by_their_names() -> None:
    answer = [{"title": "One", "url": "https://one.example/", "icon": "https://x.example/i.png"}]

    assert found(json.dumps(answer), JSON) == ["https://one.example/"]


def test_entries_of_a_feed_are_results() -> None:
    feed = """<?xml version="1.0"?><rss version="2.0"><channel><title>flute</title>
<link>https://engine.example/search</link>
<item><title>One</title><link>https://one.example/flute</link></item></channel></rss>"""

    assert found(feed, "application/rss+xml") == ["https://one.example/flute"]


@given(st.binary(max_size=200), st.sampled_from([HTML, JSON, "", "application/rss+xml"]))
def test_any_answer_gives_urls_in_canonical_form(body: bytes, kind: str) -> None:
    for select in ("", "a"):
        for url in result_urls(EngineAnswer(URL, kind, body), select, FORM):
            assert FORM.find(url) == url
