"""Archives that GNU wget and warcio made, in and out again; our WACZ in a reader of others."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from warcio.archiveiterator import ArchiveIterator

from gossamer.archive.reader import read_records
from gossamer.archive.record import Record
from gossamer.reader.collection_reader import CollectionReader
from support.a_site import (
    Site,
    answer,
    chunked,
    gzipped,
    page,
    redirect,
    site_in_thread,
)
from support.killing import gossamer, typed
from support.need import need_program
from support.pywb import need_pywb, replaying

PICTURE = bytes(range(256)) * 20
PAGES = {
    "/": page(
        "<title>Entrance</title><a href=/long>long</a> <a href=/packed>packed</a> "
        "<a href=/moved>moved</a> <a href=/gone>gone</a> <img src=/picture.png>"
    ),
    "/long": chunked("<title>In pieces</title>" + "<p>word</p>" * 500, 300),
    "/packed": gzipped("<title>Packed</title><p>small</p>"),
    "/moved": redirect("/long"),
    "/picture.png": answer(PICTURE, headers={"content-type": "image/png"}),
}
MadeBy = Callable[[Site, Path], Path]
WITH_WARCIO = """
import sys
from warcio.capture_http import capture_http
import urllib.request
with capture_http(sys.argv[1]):
    for url in sys.argv[2:]:
        try:
            urllib.request.urlopen(url).read()
        except OSError:
            pass
"""


@pytest.fixture
def site() -> Iterator[Site]:
    with site_in_thread(PAGES) as site:
        yield site


def by_wget(site: Site, folder: Path) -> Path:
    """The site as wget archives it, its own log and arguments included."""
    wget = str(need_program("wget"))
    command = [wget, "-q", "-r", "-p", "--warc-file=theirs", site.url()]
    subprocess.run(command, cwd=folder, check=False)  # it says 8 for the page that is gone
    return folder / "theirs.warc.gz"


def by_warcio(site: Site, folder: Path) -> Path:
    """The site as warcio sees it passing by: the response first, then the request."""
    made = folder / "seen.warc.gz"
    urls = [site.url(path) for path in (*PAGES, "/gone")]
    subprocess.run([sys.executable, "-c", WITH_WARCIO, str(made), *urls], check=True)
    return made


def whole(record: Record) -> tuple[bytes, bytes]:
    """All there is of a record: its headers and its block."""
    return record.preamble, record.content


@pytest.mark.parametrize("made_by", [by_wget, by_warcio])
def test_every_record_of_others_comes_out_as_it_went_in(
    site: Site, tmp_path: Path, collection: Path, made_by: MadeBy
) -> None:
    theirs = made_by(site, tmp_path)
    assert typed("import", "-c", collection, theirs).code == 0
    assert typed("verify", "-c", collection).code == 0
    ours = tmp_path / "ours.warc.gz"
    assert typed("export", "-c", collection, "warc", "-o", ours).code == 0
    before, after = list(read_records(theirs)), set(map(whole, read_records(ours)))
    assert [one for one in before if whole(one) not in after] == []
    assert {"request", "response"} <= {one.type for one in before}
    with ours.open("rb") as file:  # and the others' own reader finds each of them
        found = {
            (one.rec_type, one.rec_headers.get_header("WARC-Record-ID"))
            for one in ArchiveIterator(file)  # type: ignore[no-untyped-call]
        }
    assert {(one.type, one.header("WARC-Record-ID")) for one in before} <= found


@pytest.mark.parametrize("made_by", [by_wget, by_warcio])
def test_pages_of_others_are_read_as_if_they_had_been_fetched(
    site: Site, tmp_path: Path, collection: Path, made_by: MadeBy
) -> None:
    typed("import", "-c", collection, made_by(site, tmp_path))
    with CollectionReader.open(collection) as reader:
        assert reader.page(site.url("/long")).text.count("word") == 500
        assert "small" in reader.page(site.url("/packed")).text
    assert "In pieces" in typed("search", "-c", collection, "pieces").out
    linked = typed("backlinks", "-c", collection, site.url("/long")).out
    assert site.url("/") in linked


@pytest.mark.slow
def test_pywb_shows_each_page_of_our_wacz_as_it_was_fetched(
    site: Site, tmp_path: Path, collection: Path
) -> None:
    programs = need_pywb()
    typed("import", "-c", collection, by_warcio(site, tmp_path))
    crawled = tmp_path / "crawled"
    gossamer("crawl", "-c", crawled, site.url(), "--delay", "0", "--type", "any")
    collections = tmp_path / "shelf"
    collections.mkdir()
    for name, source in (("imported", collection), ("crawled", crawled)):
        wacz = tmp_path / f"{name}.wacz"
        assert typed("export", "-c", source, "wacz", "-o", wacz).code == 0
        subprocess.run([programs / "wb-manager", "init", name], cwd=collections, check=True)
        add = [str(programs / "wb-manager"), "add", "--unpack-wacz", name, str(wacz)]
        subprocess.run(add, cwd=collections, check=True)
        with_our_index(wacz, collections / "collections" / f"{name}-by-our-index")
    with replaying(collections, programs) as root, httpx.Client(timeout=30) as client:
        for name in ("imported", "crawled", "imported-by-our-index", "crawled-by-our-index"):
            for path in ("/", "/long", "/packed", "/picture.png"):
                shown = client.get(f"{root}/{name}/2030id_/{site.url(path)}")
                fetched = client.get(site.url(path))
                assert (shown.status_code, shown.content) == (200, fetched.content), (name, path)


def with_our_index(wacz: Path, collection: Path) -> None:
    """A collection of pywb that is read by the index that stands in the WACZ."""
    (collection / "archive").mkdir(parents=True)
    (collection / "indexes").mkdir()
    with zipfile.ZipFile(wacz) as archive:
        for name in archive.namelist():
            if name.startswith("archive/"):
                (collection / name).write_bytes(archive.read(name))
        lines = gzip.decompress(archive.read("indexes/index.cdx.gz"))
    (collection / "indexes" / "index.cdxj").write_bytes(lines)
