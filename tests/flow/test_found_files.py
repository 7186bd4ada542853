"""Looking for files: what is listed, where it is linked, under which words, and what is taken."""

import json
from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import SettingsError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.found_files import FoundFile, found_files, newest_files
from gossamer.records import Outcome
from gossamer.transfer.exports import export
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_site import Pages, answer, page, site_in_thread
from support.killing import typed

OGG = b"OggS\0" + bytes(50_000)
WAV = b"RIFF\x24\0\0\0WAVEfmt " + bytes(40_000)


def file(body: bytes, kind: str) -> bytes:
    return answer(body, headers={"content-type": kind})


PAGES: Pages = {
    "/": page(
        "<title>Home</title><a href=/sea.ogg>Song of the sea</a><a href=/more>more</a>"
        "<a href=/blob>A blob</a><a href=/big.zip>zip</a>"
    ),
    "/more": page(
        "<title>More</title><a href=/sea.ogg>The sea</a><a href=/sea.ogg>Song of the sea</a>"
        "<audio src=/bell.wav></audio><a href=/paper.pdf>A paper</a>"
    ),
    "/sea.ogg": file(OGG, "audio/ogg"),
    "/bell.wav": file(WAV, "audio/wav"),
    "/blob": file(WAV, "application/octet-stream"),
    "/big.zip": file(bytes(1000), "application/zip"),
    "/paper.pdf": file(b"%PDF-1.4 " + bytes(5_000), "application/pdf"),
}


def files_in(collection: Path, *types: str) -> dict[str, FoundFile]:
    with CollectionReader.open(collection) as reader:
        return {"/" + one.url.split("/", 3)[3]: one for one in found_files(reader, types)}


def test_files_are_listed_with_their_words_and_linking_pages(tmp_path: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(tmp_path / "c", [site.url()], fetch__types=("audio",))

        found = files_in(tmp_path / "c")
        assert set(found) == {"/sea.ogg", "/bell.wav", "/blob"}
        sea = found["/sea.ogg"]
        assert (sea.type, sea.bytes, sea.is_taken) == ("audio/ogg", len(OGG), True)
        assert sea.words == ("Song of the sea", "The sea")
        assert set(sea.pages) == {site.url(), site.url("/more")}
        assert sea.pages_total == 2
        assert found["/blob"].type == "audio/wav"


def test_listed_files_are_not_taken_and_tell_type_and_size(tmp_path: Path) -> None:
    with site_in_thread(PAGES) as site:
        summary = crawl(
            tmp_path / "c", [site.url()], fetch__types=("audio",), fetch__list_only=True
        )

        found = files_in(tmp_path / "c")
        assert {name: one.type for name, one in found.items()} == {
            "/sea.ogg": "audio/ogg",
            "/bell.wav": "audio/wav",
            "/blob": "audio/wav",
        }
        assert {one.is_taken for one in found.values()} == {False}
        assert found["/sea.ogg"].bytes == len(OGG)
        assert found["/sea.ogg"].words == ("Song of the sea", "The sea")
        assert summary.bytes < 2_000, "only the two pages were taken"
        assert summary.by_reason == {"listed": 3, "type": 2}
        with CollectionReader.open(tmp_path / "c") as reader:
            row = reader.get(site.url("/sea.ogg"))
            assert (row.outcome, row.status) == (Outcome.REFUSED, 200)


def test_a_listed_file_may_be_larger_than_the_limit_of_bodies(tmp_path: Path) -> None:
    with site_in_thread(PAGES) as site:
        settings = {"fetch__types": ("audio/ogg",), "fetch__max_body_bytes": 1_000}
        crawl(tmp_path / "c", [site.url()], fetch__list_only=True, **settings)

        assert {one.bytes for one in files_in(tmp_path / "c").values()} == {len(OGG)}


def test_listed_files_are_matches_and_refused_ones_are_not(tmp_path: Path) -> None:
    with site_in_thread(PAGES) as site:
        settings = {"fetch__types": ("audio",), "fetch__list_only": True}
        summary = crawl(tmp_path / "c", [site.url()], limits__max_matches=2, **settings)
        again = crawl(tmp_path / "c", [site.url()], limits__max_matches=3, **settings)
        other = crawl(tmp_path / "d", [site.url()], limits__max_matches=3)

        assert summary.stopped == "max-matches"
        assert again.stopped == "max-matches"
        assert len(files_in(tmp_path / "c")) == 3
        assert other.stopped == "done", "HTML is wanted, and there are two pages of it"


def test_files_are_chosen_by_name_and_by_exact_type(tmp_path: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(tmp_path / "c", [site.url()], fetch__types=("any",))

        assert set(files_in(tmp_path / "c", "audio")) == {"/sea.ogg", "/bell.wav", "/blob"}
        assert set(files_in(tmp_path / "c", "audio/ogg")) == {"/sea.ogg"}
        assert set(files_in(tmp_path / "c", "pdf", "audio/ogg")) == {"/sea.ogg", "/paper.pdf"}
        with pytest.raises(SettingsError, match="tune"):
            files_in(tmp_path / "c", "tune")
        with CollectionReader.open(tmp_path / "c") as reader:
            newest, total = newest_files(reader, ("audio",), 1)
            assert total == 3
            assert len(newest) == 1


def test_the_command_and_the_export_list_the_same_files(tmp_path: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(tmp_path / "c", [site.url()], fetch__types=("audio",), fetch__list_only=True)

        ended = typed("files", "-c", tmp_path / "c", "--type", "audio/ogg", "--json")
        told = json.loads(ended.out)
        assert told["schema"] == 1
        assert told["words"] == ["Song of the sea", "The sea"]
        assert not told["is_taken"]
        shown = typed("files", "-c", tmp_path / "c").out
        assert "audio/ogg, 50.0 kB, not taken" in shown
        assert "words: Song of the sea | The sea" in shown
        with CollectionReader.open(tmp_path / "c") as reader:
            export(reader, "files", tmp_path / "files.jsonl")
        rows = [json.loads(line) for line in (tmp_path / "files.jsonl").read_text().splitlines()]
        by_url = {row["url"]: row for row in rows}
        assert by_url[site.url("/sea.ogg")]["words"] == "Song of the sea | The sea"
        assert by_url[site.url("/sea.ogg")]["pages"] == 2
        assert by_url[site.url("/sea.ogg")]["taken"] is False


def test_a_rebuilt_state_lists_the_same_files(tmp_path: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(tmp_path / "c", [site.url()], fetch__types=("audio",), fetch__list_only=True)
    before = files_in(tmp_path / "c")

    rebuild(CollectionPaths(tmp_path / "c"), "all", SystemClock(), lambda _text: None)

    assert files_in(tmp_path / "c") == before
    assert list(verify(tmp_path / "c")) == []
