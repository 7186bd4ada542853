"""Copies of a text over HTTP: the API, the form, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.search.copies.results import CopiesRequest
from gossamer.search.messages import SearchedCollection
from gossamer.search.searchers import Searchers
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from web.a_browser import Browser, served

SHARED = (
    "The old mill at the bend of the river was built in the year of the great flood, when the "
    "people of the valley decided that they would never again carry their grain over the pass."
)
HOSTILE = SHARED.replace("great", "<b onclick=run()>")


@pytest.fixture(scope="module")
def mills(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    home = tmp_path_factory.mktemp("copies") / "mills"
    text = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")
    pages = {
        "/": page(f"<title>Mills</title><p>{SHARED}</p><a href=/copy>c</a>"),
        "/copy": page(f"<title>&lt;b&gt;Copy</title><p>{text} And more.</p>"),
    }
    with site_in_thread(pages) as site:
        crawl(home, [site.url()])
        yield home, site.url()


@pytest.fixture
def browser(mills: tuple[Path, str]) -> Browser:
    return Browser(served(mills[0]))


def test_the_api_finds_copies_of_a_text_and_of_a_page(
    browser: Browser, mills: tuple[Path, str]
) -> None:
    url = mills[1]

    of_text = browser.ask("POST", "/api/copies", json={"text": SHARED}).json()
    of_form = browser.post("/api/copies", text=SHARED, limit="1").json()
    of_page = browser.get(f"/api/copies?url={url}").json()

    assert [one["url"] for one in of_text["pages"]] == [url, f"{url}copy"]
    assert of_text["pages"][0]["share"] == 1.0
    assert [one["url"] for one in of_form["pages"]] == [url]
    assert [one["url"] for one in of_page["pages"]] == [f"{url}copy"]
    assert of_page["pages"][0]["passages"][0]["exact"] is False


def test_a_wrong_request_is_told_what_is_wrong(browser: Browser, mills: tuple[Path, str]) -> None:
    few = browser.ask("POST", "/api/copies", json={"text": SHARED, "min_words": 2})
    none = browser.ask("POST", "/api/copies", json={"text": " "})
    unknown = browser.get(f"/api/copies?url={mills[1]}unknown")
    long = browser.ask("POST", "/api/copies", json={"text": "x" * 200_001})
    huge = browser.ask("POST", "/api/copies", json={"text": "x" * 3_000_000})

    assert (few.status_code, "min_words" in few.json()["error"]) == (400, True)
    assert (none.status_code, "either a text or a url" in none.json()["error"]) == (400, True)
    assert unknown.status_code == 404
    assert (long.status_code, "200,000" in long.json()["error"]) == (400, True)
    assert huge.status_code == 413


def test_only_texts_may_be_large(browser: Browser) -> None:
    assert browser.ask("POST", "/api/copies", json={"text": "x " * 90_000}).status_code == 200
    assert browser.post("/login", word="x" * 90_000).status_code == 413


def test_the_page_shows_passages_and_escapes_them(browser: Browser) -> None:
    empty = browser.get("/copies").text
    shown = browser.post("/copies", text=SHARED).text

    assert "<textarea" in empty
    assert "2 pages have parts of the text" in shown
    assert "&lt;b&gt;Copy" in shown
    assert "<mark>great</mark>" in shown
    assert "<mark>&lt;b onclick=run()&gt;</mark>" in shown
    assert "<b onclick" not in shown
    assert SHARED in shown


def test_a_page_of_the_collection_links_to_its_copies(
    browser: Browser, mills: tuple[Path, str]
) -> None:
    view = browser.get(f"/page?url={mills[1]}").text
    shown = browser.get(f"/copies?url={mills[1]}").text

    assert "/copies?url=" in view
    assert "1 page has parts of the text" in shown
    assert "/copies" in browser.get("/").text


def test_what_the_form_cannot_use_is_told_beside_it(browser: Browser) -> None:
    few = browser.post("/copies", text=SHARED, min_words="1")
    short = browser.post("/copies", text="two words")

    assert few.status_code == 400
    assert "min_words" in few.text
    assert SHARED in few.text
    assert "the text has 2 words" in short.text


def test_a_search_process_answers_too(mills: tuple[Path, str]) -> None:
    searchers = Searchers(1)
    try:
        found = searchers.copies(SearchedCollection(mills[0]), CopiesRequest(text=SHARED))
    finally:
        searchers.close()

    assert len(found) == 2
