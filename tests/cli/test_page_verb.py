"""`gossamer page --main`: the part of a page that it is about."""

from base64 import b64decode
from pathlib import Path

import pytest

from gossamer.cli.commands.page import shown
from gossamer.reader.collection_reader import CollectionReader
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import gossamer, typed

PROSE = "Bees live in hives and make honey from what they find in flowers near their home. " * 3


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    collection = tmp_path_factory.mktemp("page") / "collection"
    html = f"<nav><a href=/>Menu</a></nav><main><h1>Bees</h1><p>{PROSE}</p><p>{PROSE}</main>"
    with site_in_thread({"/": page(html)}) as site:
        crawl(collection, [site.url()])
        return collection, site.url()


def test_the_main_part_is_shown_as_text_or_markdown(stored: tuple[Path, str]) -> None:
    collection, url = stored

    with CollectionReader.open(collection) as reader:
        found = reader.page(url)

    assert b"Menu" in shown(found, "text")
    assert shown(found, "text", is_main=True).startswith(b"Bees")
    assert shown(found, "markdown", is_main=True).startswith(b"# Bees")


def test_the_source_has_no_main_part(stored: tuple[Path, str]) -> None:
    collection, url = stored

    ended = typed("page", "-c", collection, url, "--main", "--html")

    assert ended.code == 2
    assert "--main and --html exclude each other" in ended.err


def test_a_page_is_one_object_for_programs(stored: tuple[Path, str]) -> None:
    collection, url = stored

    ended = typed("page", "-c", collection, url, "--json")
    main = typed("page", "-c", collection, url, "--json", "--main", "--markdown").summary

    found = ended.summary
    assert (ended.code, ended.err) == (0, "")
    assert (found["schema"], found["url"], found["status"]) == (1, url, 200)
    assert found["type"].startswith("text/html")
    assert "Menu" in found["text"]
    assert ["content-type", found["type"]] in [[n.lower(), v] for n, v in found["headers"]]
    assert main["markdown"].startswith("# Bees")
    assert "text" not in main


def test_the_bytes_of_what_is_no_text_are_encoded_for_programs(collection: Path) -> None:
    image = page(b"\x89PNG\x00", headers={"content-type": "image/png"})
    with site_in_thread({"/": image}) as site:
        crawl(collection, [site.url()], fetch__types=("any",))
        found = typed("page", "-c", collection, site.url(), "--html", "--json").summary

    assert b64decode(found["body_base64"]) == b"\x89PNG\x00"


def test_a_page_that_is_not_known_is_an_object_with_an_error(stored: tuple[Path, str]) -> None:
    collection, url = stored

    ended = typed("page", "-c", collection, f"{url}nowhere", "--json")

    assert ended.code == 1
    assert f"{url}nowhere" in ended.summary["error"]


def test_a_time_before_the_first_capture_is_told(stored: tuple[Path, str]) -> None:
    collection, url = stored

    early = gossamer("page", "-c", collection, url, "--at", "2001-01-01")
    late = gossamer("page", "-c", collection, url, "--at", "now")

    assert early.code == late.code == 0
    assert "there is no capture of that time; this is the first one" in early.err
    assert "no capture" not in late.err
