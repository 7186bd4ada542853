"""The HTML that pages are compared by is the one that was fetched, however it is stored."""

from pathlib import Path

from gossamer.frontier.rows import Standing, UrlRow, time_key
from gossamer.frontier.store import StateTable
from gossamer.node.duplicates.comparing import HtmlReader
from gossamer.reader.collection_reader import CollectionReader
from support.a_crawl import crawl
from support.a_site import gzipped, page, site_in_thread

HTML = "<title>T</title>" + "<p>Many words, and some more.</p>" * 50


def test_plain_and_compressed_pages_are_read(tmp_path: Path) -> None:
    pages = {"/": page("<a href=/a>a</a>"), "/a": gzipped(HTML)}
    with site_in_thread(pages) as site:
        crawl(tmp_path / "c", [site.url()])
    with CollectionReader.open(tmp_path / "c") as reader:
        html = HtmlReader(reader.store, reader.paths.archive, 2**20)
        read = {}
        for key, packed_row in reader.scan(StateTable.URL):
            row = UrlRow.decode(packed_row)
            if row.standing == Standing.FETCHED and row.status == 200:
                name = time_key(row.body_us or row.at_us) + key
                read[row.url] = (html.read(name), reader.page(row.url).body)

    assert [one == other for one, other in read.values()] == [True, True]
    assert HTML.encode() in [one for one, _ in read.values()]
    assert html.read(time_key(1) + bytes(16)) is None
