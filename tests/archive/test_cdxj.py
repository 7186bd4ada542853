"""The index beside a WARC file."""

import json
from pathlib import Path

import pytest

from archive.archive_samples import a_failure, a_page, write_archive
from gossamer.archive.cdxj import cdxj_path, mime_of, surt, write_cdxj
from gossamer.archive.reader import read_answer_at
from gossamer.errors import CorruptFile
from support.rows import each_row


@each_row(
    ("url", "key"),
    [
        ("http://example.com/", "com,example)/"),
        ("https://www.Example.com:443/A/b/?q=2&a=1#top", "com,example)/a/b?a=1&q=2"),
        ("http://www2.example.co.uk:8080", "uk,co,example:8080)/"),
        ("http://127.0.0.1/x", "1,0,0,127)/x"),
        ("http://[2001:db8::1]/", "2001:db8::1)/"),
        ("http://example.com./", "com,example)/"),
        ("dns:example.com", "dns:example.com"),
        ("http://example.com:bad/", "http://example.com:bad/"),
        ("http://[broken/", "http://[broken/"),
    ],
)
def test_hosts_are_turned_round_so_that_domains_stand_together(url: str, key: str) -> None:
    assert surt(url) == key


def test_each_line_leads_to_its_record(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    urls = ["https://b.example/", "https://a.example/x", "https://a.example/%20"]
    write_archive(path, *(a_page(url) for url in urls), a_failure("https://c.example/"))

    lines = write_cdxj(path).read_text().splitlines()

    assert lines == sorted(lines)
    assert len(lines) == 3
    for line in lines:
        key, timestamp, entry = line.split(" ", 2)
        found = json.loads(entry)
        record = read_answer_at(path, int(found["offset"]))
        assert timestamp == "20260101000000"
        assert key == surt(found["url"])
        assert (record.uri, record.length) == (found["url"], int(found["length"]))
        assert (found["status"], found["mime"], found["filename"]) == (
            "200",
            "text/html",
            "a.warc.gz",
        )
        assert record.header("WARC-Payload-Digest") == found["digest"]


def test_a_damaged_file_gets_no_index(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    write_archive(path, a_page())
    path.write_bytes(path.read_bytes()[:-3])

    with pytest.raises(CorruptFile):
        write_cdxj(path)

    assert not cdxj_path(path).exists()
    assert list(tmp_path.iterdir()) == [path]


def test_a_type_is_what_the_head_says_or_unknown() -> None:
    assert mime_of(b"HTTP/1.1 200 OK\r\ncontent-type:Text/HTML;charset=x\r\n\r\n") == "text/html"
    assert mime_of(b"HTTP/1.1 200 OK\r\nContent-Type: nonsense\r\n\r\n") == "unk"


@each_row(
    "url",
    [
        "http://www.Example.org/A/b/",
        "https://a.b.c/",
        "http://a.example:8080/x",
        "http://a.example/x?b&a",
        "http://127.0.0.1/x",
        "http://a.example./x",
    ],
)
def test_plain_urls_take_a_short_way_to_the_same_place(url: str) -> None:
    long_way = url + "#fragment"  # what has a fragment is not plain

    assert surt(url) == surt(long_way)
