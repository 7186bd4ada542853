"""Rows of state and index, written by the code before `base/packing.py`: they still read.

The bytes were made with msgpack and with the C form of the rows. Never edit them: a row that does
not read any more is a collection that does not open any more.
"""

from __future__ import annotations

from typing import Final

from gossamer.frontier.counts import Counts
from gossamer.frontier.rows import (
    CaptureRow,
    HostRow,
    QueueEntry,
    SitemapRow,
    Standing,
    UrlRow,
    url_in,
)
from gossamer.index.entry import Kept, TextPosition
from gossamer.politeness.access import Access
from gossamer.politeness.robots import Robots, RobotsRule
from gossamer.records import Previous
from support.rows import each_row

AT_US: Final = 1_767_225_600_000_042
KEY, PLACE, VIA = b"k" * 16, b"p" * 12, b"v" * 16
URL: Final = "http://a.example/x?y=1"

URL_ROWS: Final = {
    "queued": (
        bytes.fromhex(
            "00000394b6687474703a2f2f612e6578616d706c652f783f793d31c40c707070707070707070707070c4"
            "1076767676767676767676767676767676cf000647484620402a"
        ),
        UrlRow(Standing.QUEUED, 3, URL, PLACE, VIA, AT_US),
    ),
    "refused": (
        bytes.fromhex(
            "0300039ab6687474703a2f2f612e6578616d706c652f783f793d31c400c4107676767676767676767676"
            "7676767676cf000647484620402a0000a573636f7065ac6f7574206f662073636f706500cf0006474846"
            "20402a"
        ),
        UrlRow(
            Standing.REFUSED,
            3,
            URL,
            b"",
            VIA,
            AT_US,
            reason="scope",
            detail="out of scope",
            at_us=AT_US,
        ),
    ),
    "fetched": (
        bytes.fromhex(
            "010003dc0016b6687474703a2f2f612e6578616d706c652f783f793d31c400c410767676767676767676"
            "76767676767676cf000647484620402a0000a0a000cf000647484620402bccc8a9746578742f68746d6c"
            "cd9c40d925736861313a4141414141414141414141414141414141414141414141414141414141414141"
            "a7e282ac2075726fa26465bd4d6f6e2c203132204a616e20323032362030303a30303a303020474d54b1"
            "6e6f696e646578206e6f736e6970706574a0cd012cc2cb3f8930be0ded288d"
        ),
        UrlRow(
            Standing.FETCHED,
            3,
            URL,
            b"",
            VIA,
            AT_US,
            at_us=AT_US + 1,
            status=200,
            type="text/html",
            size_bytes=40000,
            digest="sha1:" + "A" * 32,
            title="\u20ac uro",
            language="de",
            modified_at="Mon, 12 Jan 2026 00:00:00 GMT",
            robots="noindex nosnippet",
            out_links=300,
            took_s=0.0123,
        ),
    ),
    "failed": (
        bytes.fromhex(
            "0200039ab6687474703a2f2f612e6578616d706c652f783f793d31c400c4107676767676767676767676"
            "7676767676cf000647484620402a0000a3646e73ac6e6f207375636820686f737400cf00064748462040"
            "2b"
        ),
        UrlRow(
            Standing.FAILED,
            3,
            URL,
            b"",
            VIA,
            AT_US,
            reason="dns",
            detail="no such host",
            at_us=AT_US + 1,
        ),
    ),
    "waiting": (
        bytes.fromhex(
            "0000039ab6687474703a2f2f612e6578616d706c652f783f793d31c400c4107676767676767676767676"
            "7676767676cf000647484620402a0002a774696d656f7574a433302073cf000647484620402fcf000647"
            "484620402b"
        ),
        UrlRow(
            Standing.QUEUED,
            3,
            URL,
            b"",
            VIA,
            AT_US,
            tries=2,
            reason="timeout",
            detail="30 s",
            due_us=AT_US + 5,
            at_us=AT_US + 1,
        ),
    ),
    "redirected": (
        bytes.fromhex(
            "010000dc0016b6687474703a2f2f612e6578616d706c652f783f793d31c400c400000000a0a000cf0006"
            "47484620402acd012da0ce00011170a0a0a0a0a0b1687474703a2f2f622e6578616d706c652f01c3cb3f"
            "e0000000000000"
        ),
        UrlRow(
            Standing.FETCHED,
            0,
            URL,
            at_us=AT_US,
            status=301,
            size_bytes=70000,
            redirect="http://b.example/",
            out_links=1,
            is_cut=True,
            took_s=0.5,
        ),
    ),
}
OTHER_ROWS: Final = {
    "entry": (
        bytes.fromhex(
            "96c4106b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6bb6687474703a2f2f612e6578616d706c652f783f793d31"
            "030000c41076767676767676767676767676767676"
        ),
        QueueEntry(KEY, URL, 3, 0, 0, VIA),
    ),
    "entry_short": (
        bytes.fromhex(
            "92c4106b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6bb6687474703a2f2f612e6578616d706c652f783f793d31"
        ),
        QueueEntry(KEY, URL),
    ),
    "entry_retry": (
        bytes.fromhex(
            "94c4106b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6bb6687474703a2f2f612e6578616d706c652f783f793d31"
            "0201"
        ),
        QueueEntry(KEY, URL, 2, 1),
    ),
    "capture": (
        bytes.fromhex(
            "97a9612e776172632e677a075cccc8a9746578742f68746d6cd925736861313a41414141414141414141"
            "41414141414141414141414141414141414141414141cd9c40"
        ),
        CaptureRow("a.warc.gz", 7, 92, 200, "text/html", "sha1:" + "A" * 32, 40000),
    ),
    "capture_empty": (
        bytes.fromhex("94a9612e776172632e677a075ccccc"),
        CaptureRow("a.warc.gz", 7, 92, 204),
    ),
    "host": (
        bytes.fromhex(
            "9ea9612e6578616d706c650901050102ce0001e24000cf000647484620402a0100aa6974206973206275"
            "7379cb3ff800000000000001"
        ),
        HostRow("a.example", 9, 1, 5, 1, 2, 123456, 0, AT_US, 1, 0, "it is busy", 1.5, 1),
    ),
    "host_new": (
        bytes.fromhex("93a9612e6578616d706c650101"),
        HostRow("a.example", 1, 1),
    ),
    "counts": (
        bytes.fromhex(
            "8fa56b6e6f776e03a671756575656402a76665746368656401a972656469726563747300a66661696c65"
            "6400a77265667573656400a9756e6368616e67656400aa6475706c69636174657300aa73697a655f6279"
            "746573ce00011170a56c696e6b7300a764726f7070656400a7696e646578656400a962795f726561736f"
            "6e81a6726f626f747301a962795f73746174757381a332303001a862795f646570746881a13101"
        ),
        Counts(
            known=3,
            queued=2,
            fetched=1,
            size_bytes=70000,
            by_reason={"robots": 1},
            by_status={"200": 1},
            by_depth={"1": 1},
        ),
    ),
    "access": (
        bytes.fromhex(
            "940195cf000647484620402acf0006475c63f7a02ac2c20092a0cb4000000000000000939293c2a22f78"
            "0293c3a42f782f7903cb400000000000000091b6687474703a2f2f612e6578616d706c652f732e786d6c"
        ),
        Access(
            Robots(
                (RobotsRule(False, "/x", 2), RobotsRule(True, "/x/y", 3)),
                2.0,
                ("http://a.example/s.xml",),
            ),
            AT_US,
            AT_US + 86_400_000_000,
            crawl_delay_s=2.0,
        ),
    ),
    "access_failed": (
        bytes.fromhex(
            "940195cf000647484620402acf00064748546e5c2ac3c20392d931726f626f74732e7478742063616e6e"
            "6f7420626520686164202874696d656f7574292c2061736b656420332074696d6573c09390c090"
        ),
        Access(
            Robots(),
            AT_US,
            AT_US + 240_000_000,
            is_denied_all=True,
            tries=3,
            detail="robots.txt cannot be had (timeout), asked 3 times",
        ),
    ),
    "sitemap": (
        bytes.fromhex(
            "97b6687474703a2f2f612e6578616d706c652f732e786d6ca0000100c397cf000647484620402aa77368"
            "61313a4142ccc8a3223122a3576564a9612e776172632e677a07"
        ),
        SitemapRow(
            "http://a.example/s.xml",
            "",
            0,
            1,
            0,
            True,
            Previous(AT_US, "sha1:AB", 200, '"1"', "Wed", "a.warc.gz", 7),
        ),
    ),
    "index entry": (
        bytes.fromhex(
            "9ac4106b6b6b6b6b6b6b6b6b6b6b6b6b6b6b6bb6687474703a2f2f612e6578616d706c652f783f793d31"
            "a7e282ac2075726f92a36f6e65a374776fa26465a9746578742f68746d6ccf000647484620402a91a577"
            "6f726473c3920509"
        ),
        Kept(
            KEY,
            URL,
            "\u20ac uro",
            ("one", "two"),
            "de",
            "text/html",
            AT_US,
            ("words",),
            True,
            TextPosition(5, 9),
        ),
    ),
}
SITEMAP_WITHOUT_VERSION: Final = bytes.fromhex(
    "96b6687474703a2f2f612e6578616d706c652f732e786d6cb1687474703a2f2f612e6578616d706c652f010200c3"
)
COUNTS_WITHOUT_DEPTHS: Final = bytes.fromhex(
    "8da56b6e6f776e03a671756575656402a76665746368656401a972656469726563747300a66661696c65"
    "6400a77265667573656400a9756e6368616e67656400aa6475706c69636174657300aa73697a655f6279"
    "746573ce00011170a56c696e6b7300a764726f7070656400a962795f726561736f6e81a6726f626f7473"
    "01a962795f73746174757381a332303001"
)


@each_row("name", URL_ROWS)
def test_a_url_row_of_the_code_before_reads_and_is_written_the_same(name: str) -> None:
    packed, row = URL_ROWS[name]

    assert UrlRow.decode(packed) == row
    assert url_in(packed) == URL
    assert row.encode() == packed


@each_row("name", OTHER_ROWS)
def test_a_row_of_the_code_before_reads_and_is_written_the_same(name: str) -> None:
    packed, row = OTHER_ROWS[name]

    assert type(row).decode(packed) == row  # type: ignore[attr-defined]
    assert row.encode() == packed  # type: ignore[attr-defined]


def test_sums_without_depths_say_that_they_are_not_known() -> None:
    counts = Counts.decode(COUNTS_WITHOUT_DEPTHS)

    assert (counts.known, counts.indexed, counts.by_depth) == (3, 0, None)


def test_a_sitemap_of_the_code_before_has_no_version_to_compare_with() -> None:
    row = SitemapRow.decode(SITEMAP_WITHOUT_VERSION)

    assert row == SitemapRow("http://a.example/s.xml", "http://a.example/", 1, 2, 0, True)
    assert row.previous is None
