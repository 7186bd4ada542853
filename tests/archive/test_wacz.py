"""What a WACZ file holds, byte by byte, and that others can check it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile

from gossamer.archive.cdxj import cdxj_line
from gossamer.archive.wacz import ListedPage, WaczWriter

NOW = "2026-01-31T12:00:00Z"
PAGE = ListedPage("https://example.org/", NOW, "Ümlaut")


def a_wacz(lines: list[str]) -> zipfile.ZipFile:
    file = io.BytesIO()
    wacz = WaczWriter(file, NOW)
    wacz.add_archive("a.warc.gz", [b"one", b"two"])
    wacz.add_index(lines)
    wacz.add_pages([PAGE])
    wacz.close("A title", PAGE)
    return zipfile.ZipFile(file)


def some_lines(count: int) -> list[str]:
    made = (
        cdxj_line((f"https://example.org/{n}", n, 200), "text/html", "sha1:A", (n, 1), "a.warc.gz")
        for n in range(count)
    )
    return sorted(made)


def test_archives_are_stored_as_they_are() -> None:
    with a_wacz([]) as wacz:
        info = wacz.getinfo("archive/a.warc.gz")
        assert (info.compress_type, wacz.read(info)) == (zipfile.ZIP_STORED, b"onetwo")


def test_every_member_has_its_digest_and_the_list_has_its_own() -> None:
    with a_wacz(some_lines(3)) as wacz:
        package = json.loads(wacz.read("datapackage.json"))
        assert (package["wacz_version"], package["mainPageUrl"]) == ("1.1.1", PAGE.url)
        for one in package["resources"]:
            data = wacz.read(one["path"])
            assert one["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
            assert one["bytes"] == len(data)
        named = {one["path"] for one in package["resources"]}
        assert set(wacz.namelist()) - named == {"datapackage.json", "datapackage-digest.json"}
        digest = json.loads(wacz.read("datapackage-digest.json"))
        whole = hashlib.sha256(wacz.read("datapackage.json")).hexdigest()
        assert digest == {"path": "datapackage.json", "hash": f"sha256:{whole}"}


def test_each_block_of_the_index_is_found_by_its_first_line() -> None:
    lines = some_lines(7_000)
    with a_wacz(lines) as wacz:
        packed = wacz.read("indexes/index.cdx.gz")
        meta, *blocks = wacz.read("indexes/index.idx").decode().splitlines()
    assert json.loads(meta.removeprefix("!meta 0 "))["format"] == "cdxj-gzip-1.0"
    found: list[str] = []
    for block in blocks:
        surt, moment, told = block.split(" ", 2)
        entry = json.loads(told)
        piece = packed[entry["offset"] : entry["offset"] + entry["length"]]
        some = gzip.decompress(piece).decode().splitlines()
        assert some[0].startswith(f"{surt} {moment} ")
        found += some
    assert (len(blocks), found) == (3, lines)


def test_pages_have_a_line_that_says_what_they_are() -> None:
    with a_wacz([]) as wacz:
        first, page = map(json.loads, wacz.read("pages/pages.jsonl").splitlines())
    assert first["format"] == "json-pages-1.0"
    assert (page["url"], page["ts"], page["title"]) == (PAGE.url, NOW, "Ümlaut")
