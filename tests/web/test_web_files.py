"""Found files on the web page and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.a_crawl import crawl
from support.a_site import answer, page, site_in_thread
from web.a_browser import Browser, Served, served

SONG = answer(b"OggS\0" + bytes(100), headers={"content-type": "audio/ogg"})
PAGES = {
    "/": page("<title>Home</title><a href=/sea.ogg>Song &lt;of&gt; the sea</a><img src=/a.png>"),
    "/sea.ogg": SONG,
    "/a.png": answer(b"\x89PNG\r\n\x1a\n", headers={"content-type": "image/png"}),
}


@pytest.fixture
def found(tmp_path: Path) -> Iterator[Served]:
    with site_in_thread(PAGES) as site:
        crawl(tmp_path / "c", [site.url()], fetch__types=("audio", "image"), fetch__list_only=True)
    made = served(tmp_path / "c")
    yield made
    made.context.collections.close()


def test_files_come_with_words_and_linking_pages(found: Served) -> None:
    all_files = Browser(found).get("/api/files").json()
    songs = Browser(found).get("/api/files", type="audio").json()

    assert all_files["total"] == 2
    assert songs["total"] == 1
    song = songs["files"][0]
    assert (song["type"], song["words"]) == ("audio/ogg", ["Song <of> the sea"])
    assert len(song["pages"]) == 1


def test_the_page_shows_them_as_text_and_its_part_is_the_list_alone(found: Served) -> None:
    whole = Browser(found).get("/files", type="audio").text
    part = Browser(found).get("/files", type="audio", part="1").text

    assert "Song &lt;of&gt; the sea" in whole
    assert "not taken" in whole
    assert "<html" not in part
    assert "sea.ogg" in part


def test_an_unknown_type_is_refused_with_a_sentence(found: Served) -> None:
    answered = Browser(found).get("/api/files", type="tunes")

    assert answered.status_code == 400
    assert "tunes" in answered.text
