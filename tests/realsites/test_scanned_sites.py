"""On real sites, a page that is scanned is read as its tree is, and few need a tree."""

import random
from typing import Final

import pytest
from msgspec import structs

from gossamer.native.extensions import VARIABLE, load
from gossamer.parse.html import Parser
from gossamer.parse.scan import scanner_of
from gossamer.records import Page
from gossamer.settings import Parse
from support.sites import files_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(load("gossamer.native._page") is None, reason="not built: `make native`"),
]

SITES: Final = ("python", "postgresql", "sqlite", "apache", "handbook")
PAGES: Final = 150  # of each: a second for the trees


@pytest.mark.parametrize("name", SITES)
def test_scanned_pages_are_as_their_trees(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = files_of(name)
    files = random.Random(name).sample(files, min(PAGES, len(files)))
    scanner = scanner_of(Parse(), frozenset(), is_bare=False)
    scanned = Parser(Parse())
    monkeypatch.setenv(VARIABLE, "0")
    trees = Parser(Parse())
    assert scanner is not None
    declined = 0
    for file in files:
        body = file.read_bytes()
        assert read(scanned, body) == read(trees, body), file
        declined += scanner.read(body.decode("utf-8", "replace")) is None
    assert declined <= len(files) // 20


def read(parser: Parser, body: bytes) -> Page:
    page = parser.parse("http://site.example/a/page.html", "text/html", body)
    return structs.replace(page, lines=tuple(page.lines))
