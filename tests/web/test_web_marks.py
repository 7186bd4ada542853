"""Marks on the web page: a stored page is relevant to the topic, or it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.collection.directory import CollectionPaths
from gossamer.node.snapshot import crawl_figures
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from web.a_browser import Browser, Served, served

TEXT = page("<title>Flute</title><p>Flutes and horns are wind instruments.</p>")


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[tuple[Served, str]]:
    with site_in_thread({"/flute": TEXT}) as site:
        url = site.url("/flute")
        crawl(tmp_path / "c", [url])
    made = served(tmp_path / "c")
    yield made, url
    made.context.collections.close()


def test_a_page_is_marked_with_a_button(shown: tuple[Served, str], tmp_path: Path) -> None:
    made, url = shown
    browser = Browser(made)
    csrf = browser.log_in()

    answer = browser.post("/marks", csrf=csrf, url=url, relevant="1")
    figures = crawl_figures(CollectionPaths(tmp_path / "c"))["focus"]

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/page?url=")
    assert figures["examples"] == 1
    assert "not relevant</button>" in browser.get("/page", url=url).text


def test_a_mark_needs_the_token_of_the_page(shown: tuple[Served, str]) -> None:
    made, url = shown
    browser = Browser(made)
    browser.log_in()

    assert browser.post("/marks", csrf="wrong", url=url, relevant="1").status_code == 403
    assert Browser(made).post("/marks", url=url, relevant="1").status_code in (303, 401, 403)
    assert browser.get("/api/status").json()["focus"] is None


def test_a_page_that_is_not_stored_cannot_be_marked(shown: tuple[Served, str]) -> None:
    made, url = shown
    browser = Browser(made)
    csrf = browser.log_in()

    answer = browser.post("/marks", csrf=csrf, url=url + "x", relevant="0")

    assert answer.status_code >= 400
