"""A worker compares a page that changed with its previous version in the archive."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from gossamer.parse.html import Parser
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Fetched, Lease, Page, PageChange, Previous, Stored
from gossamer.settings import Settings, with_values
from gossamer.urls.keys import Keys
from gossamer.workers import previous_versions
from gossamer.workers.build_worker import build_processor
from gossamer.workers.process import ProcessedPage
from support.a_crawl import crawl
from support.a_site import answer, page, site_in_thread

KEYS = Keys(b"salt" * 4)
OLD = "<title>x</title><p>The shop is open on Monday.</p><a href=/a>a</a>"
NEW = "<title>y</title><p>The shop is closed on Monday.</p><a href=/a>a</a> <a href=/b>b</a>"


class Archived:
    """A collection with one version of a page and of a picture."""

    def __init__(self, path: Path) -> None:
        png = answer(b"\x89PNG\r\n\x1a\n" + b"old" * 99, headers={"content-type": "image/png"})
        with site_in_thread({"/": page(OLD + "<img src=/p>"), "/p": png}) as site:
            crawl(path, [site.url()], fetch__types=("html", "image"))
            self.url = site.url()
        self.archive = path / "archive"
        with CollectionReader.open(path) as reader:
            self.captures = {url: reader.captures(url)[-1] for url in (self.url, f"{self.url}p")}

    def previous(self, url: str = "") -> Previous:
        one = self.captures[url or self.url]
        return Previous(one.at_us, one.digest, one.status, file=one.file, offset=one.offset)

    def process(
        self, body: str | bytes, previous: Previous | None, url: str = "", **facts: object
    ) -> ProcessedPage:
        url = url or self.url
        values = {key: facts.pop(key) for key in list(facts) if "." in key}
        settings = with_values(Settings(), values)
        lease = Lease(1, url, KEYS.of(url), "127.0.0.1", "127.0.0.1", previous=previous)
        kind = b"text/html" if isinstance(body, str) else b"image/png"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n\r\n"
        sent = body.encode() if isinstance(body, str) else body
        fetched = Fetched(url, 200, head, sent, b"", "", "http/1.1", 99, 0.1)
        fetched = structs.replace(fetched, **facts)
        processor = build_processor(settings, KEYS, archive=self.archive)
        return processor.processed(lease, fetched, Stored("a", 0, 0, 1, "sha1:new"))


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Archived:
    return Archived(tmp_path_factory.mktemp("versions") / "one")


def test_a_changed_page_says_what_changed(archived: Archived) -> None:
    change = archived.process(NEW + "<img src=/p>", archived.previous()).report.change

    assert change is not None
    assert (change.words_added, change.words_removed) == (2, 1)  # "closed", and "b" of the link
    assert (change.links_added, change.links_removed) == (1, 0)
    assert (change.title_before, change.status_before) == ("x", 200)
    assert change.template


def test_a_page_is_not_compared_at_its_first_visit(archived: Archived) -> None:
    assert archived.process(NEW, None).report.change is None


def test_a_page_without_text_for_the_index_is_compared_all_the_same(archived: Archived) -> None:
    bare = {"node.graph": False, "node.index": False}
    change = archived.process(NEW, archived.previous(), "", **bare).report.change

    assert change is not None
    assert (change.words_added, change.words_removed) == (2, 1)


def test_a_picture_that_changed_counts(archived: Archived) -> None:
    url = f"{archived.url}p"
    change = archived.process(b"\x89PNG\r\n\x1a\nnew", archived.previous(url), url).report.change

    assert change is not None
    assert (change.is_cut, change.spots) == (True, ())


@pytest.mark.parametrize("fault", ["no such file", "in the middle", "damaged"])
def test_a_version_that_cannot_be_read_costs_only_the_details(
    archived: Archived, fault: str, tmp_path: Path
) -> None:
    previous = archived.previous()
    if fault == "no such file":
        previous = structs.replace(previous, file="gone.warc.gz")
    elif fault == "in the middle":
        previous = structs.replace(previous, offset=previous.offset + 7)
    else:
        (archived.archive / "zeros.warc.gz").write_bytes(bytes(10_000))
        previous = structs.replace(previous, file="zeros.warc.gz", offset=0)
    processed = archived.process(NEW, previous)

    assert processed.report.status == 200
    assert processed.report.change is None


def test_a_version_that_crashes_the_parser_costs_only_the_details(
    archived: Archived, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crashing(Parser):
        def parse(self, *_args: object, **_more: object) -> Page:
            raise RecursionError

    monkeypatch.setattr(previous_versions, "Parser", Crashing)
    processed = archived.process(NEW, archived.previous())

    assert (processed.report.title, processed.report.change) == ("y", None)


def test_an_error_page_is_not_compared_word_by_word(archived: Archived) -> None:
    change = archived.process("<p>not found", archived.previous(), status=404).report.change

    assert change == PageChange(status_before=200)
