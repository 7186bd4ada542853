"""What is no page: sounds, pictures, films, feeds, texts, plug-ins, from the link to the table."""

import json
from pathlib import Path
from typing import Any

import pytest

from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome
from gossamer.transfer.exports import export
from support.a_crawl import crawl
from support.a_site import Pages, answer, page, site_in_thread

WAV = b"RIFF\x24\0\0\0WAVEfmt " + bytes(30)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(30)
MP4 = b"\0\0\0\x20ftypisom" + bytes(30)
PDF_LIKE = b"%PDF-1.4\n%%EOF"
FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "Bees",
    "items": [{"id": "1", "url": "/entry", "title": "A swarm", "content_text": "honey"}],
}


def file(body: bytes, kind: str) -> bytes:
    return answer(body, headers={"content-type": kind} if kind else {})


PAGES: Pages = {
    "/": page(
        "<title>Home</title><audio src=/a.wav></audio><a href=/b.wav>b</a><a href=/c.bin>c</a>"
        "<a href=/song.mp3>s</a><img src=/i.png alt=Bee><video src=/v.mp4></video>"
        "<embed src=/e.wav><a href=/lie.html>l</a><a href=/data.bin>d</a><a href=/plain.txt>t</a>"
        "<a href=/feed.json>f</a><a href=/list.xml>x</a><a href=/rss.html>r</a>"
        "<object data=/film.swf type=application/x-shockwave-flash></object>"
    ),
    "/a.wav": file(WAV, "audio/wav"),
    "/b.wav": file(WAV, "audio/x-wav"),
    "/c.bin": file(WAV, "application/octet-stream"),
    "/e.wav": file(WAV, "audio/wave"),
    "/song.mp3": file(b"ID3\3" + bytes(30), "audio/mpeg"),
    "/i.png": file(PNG, "image/png"),
    "/v.mp4": file(MP4, "video/mp4"),
    "/lie.html": file(PNG, "text/html"),
    "/data.bin": file(b"just some bytes", "application/octet-stream"),
    "/plain.txt": file(b"plain words of bees", "text/plain"),
    "/feed.json": file(json.dumps(FEED).encode(), "application/feed+json"),
    "/list.xml": file(b"<?xml version='1.0'?><hive><bee>Maja</bee></hive>", "text/xml"),
    "/rss.html": file(
        b"<?xml version='1.0'?><rss><channel><title>News</title><item><title>One</title>"
        b"<link>/one</link></item></channel></rss>",
        "text/html",
    ),
    "/film.swf": file(b"CWS\x09" + bytes(30), "application/x-shockwave-flash"),
    "/entry": page("<title>Entry</title>"),
    "/one": page("<title>One</title>"),
}


def outcomes(collection: Path) -> dict[str, tuple[str, str]]:
    """Path -> outcome or reason, and type."""
    with CollectionReader.open(collection) as reader:
        return {
            "/" + row.url.split("/", 3)[3]: (
                row.outcome.value if row.outcome is Outcome.FETCHED else row.reason,
                row.type,
            )
            for row in reader.url_rows()
        }


@pytest.mark.parametrize(
    ("wanted", "fetched", "unasked"),
    [
        ("audio/wav", {"/a.wav", "/b.wav", "/c.bin", "/e.wav"}, {"/i.png", "/v.mp4"}),
        ("audio", {"/a.wav", "/b.wav", "/c.bin", "/e.wav", "/song.mp3"}, {"/i.png", "/v.mp4"}),
        ("image", {"/i.png"}, {"/a.wav", "/v.mp4"}),
        ("video", {"/v.mp4"}, {"/a.wav", "/i.png"}),
        ("application/x-shockwave-flash", {"/film.swf"}, {"/a.wav", "/i.png"}),
    ],
)
def test_files_of_the_wanted_type_come_whatever_the_server_calls_them(
    wanted: str, fetched: set[str], unasked: set[str], collection: Path
) -> None:
    with site_in_thread(PAGES) as site:
        summary = crawl(collection, [site.url()], fetch__types=(wanted,), limits__max_matches=99)

    found = outcomes(collection)
    files = {path for path, (outcome, _) in found.items() if outcome == "fetched"}
    assert files - {"/", "/lie.html", "/rss.html", "/one"} == fetched
    assert found["/data.bin"][0] == "type"
    assert unasked.isdisjoint(found), "what only a page shows is not asked for"
    assert summary.fetched == len(files)


def test_a_file_that_nobody_named_has_the_type_of_its_first_bytes(collection: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(collection, [site.url()], fetch__types=("audio",), limits__max_matches=5)

    found = outcomes(collection)
    assert found["/c.bin"] == ("fetched", "audio/wav")


def test_plugin_content_is_named_and_not_taken(collection: Path, tmp_path: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(collection, [site.url()])
        with CollectionReader.open(collection) as reader:
            export(reader, "links", tmp_path / "links.jsonl")
            refused = reader.get(site.url("/film.swf"))

    lines = (tmp_path / "links.jsonl").read_text().splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    (row,) = [row for row in rows if row["target"].endswith("film.swf")]
    assert (row["rel"], row["place"]) == ("object", "body")
    assert row["anchor"] == "application/x-shockwave-flash"
    assert refused.reason == "type"
    assert "application/x-shockwave-flash" in refused.detail


def test_a_title_that_is_half_a_character_stops_no_crawl(collection: Path) -> None:
    pages = {
        "/": page("<a href=/feed.json>f</a>"),
        "/feed.json": file(json.dumps({**FEED, "title": "Bees \ud800"}).encode(), "text/plain"),
        "/entry": PAGES["/entry"],
    }
    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()], fetch__types=("html", "text"))
        with CollectionReader.open(collection) as reader:
            assert reader.get(site.url("/feed.json")).title == "Bees \ufffd"

    assert summary.fetched == 3


def test_texts_feeds_and_xml_are_read_and_a_picture_called_html_is_not(collection: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(collection, [site.url()], fetch__types=("html", "text"))
        with CollectionReader.open(collection) as reader:
            assert "plain words" in reader.page(site.url("/plain.txt")).text
            assert reader.page(site.url("/feed.json")).title == "Bees"
            assert "Maja" in reader.page(site.url("/list.xml")).text
            assert reader.page(site.url("/rss.html")).title == "News"
            assert reader.page(site.url("/lie.html")).kind == "other"
            assert reader.page(site.url("/lie.html")).text == ""
            for followed in ("/entry", "/one"):
                assert reader.get(site.url(followed)).status == 200
