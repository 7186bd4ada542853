"""`gossamer page --main`: the part of a page that it is about."""

from pathlib import Path

import pytest

from gossamer.cli.page import shown
from gossamer.crawl.study import Study
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import typed

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

    with Study.open(collection) as study:
        found = study.page(url)

    assert b"Menu" in shown(found, "text")
    assert shown(found, "text", is_main=True).startswith(b"Bees")
    assert shown(found, "markdown", is_main=True).startswith(b"# Bees")


def test_the_source_has_no_main_part(stored: tuple[Path, str]) -> None:
    collection, url = stored

    ended = typed("page", "-c", collection, url, "--main", "--html")

    assert ended.code == 2
    assert "--main and --html exclude each other" in ended.err
