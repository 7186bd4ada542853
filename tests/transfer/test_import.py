"""What becomes of the files that a person imports: archives sound and broken, lists, sitemaps."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import signal
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from gossamer.archive.reader import iter_exchanges, read_records
from gossamer.archive.warc import payload_digest
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths, locked
from gossamer.errors import CollectionInUse, UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome, Purpose
from gossamer.settings import Settings, with_values
from gossamer.transfer.import_archive import ImportCounts
from gossamer.transfer.imports import import_files
from support.a_crawl import QUICK, crawl
from support.a_site import page, robots, site_in_thread
from support.killing import finish, gossamer, started, typed, until

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HTML = b"<title>%s</title><p>words of %s</p><a href='/next'>next</a>"


def record(kind: str, uri: str, block: bytes, number: int = 0, **headers: str) -> bytes:
    """A record as another program would write it, by hand."""
    named = {
        "WARC-Type": kind,
        "WARC-Target-URI": uri,
        "WARC-Date": "2020-02-02T02:02:02Z",
        "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-a000-{number:012d}>",
        **{name.replace("_", "-"): value for name, value in headers.items()},
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"WARC/1.0\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def response(uri: str, number: int = 0, body: bytes | None = None, **headers: str) -> bytes:
    body = HTML % (b"T%d" % number, b"page%d" % number) if body is None else body
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
    return record("response", uri, head + body, number, **headers)


def bring(collection: Path, *paths: Path, told: list[str] | None = None) -> ImportCounts:
    quick = with_values(Settings(), QUICK)
    tally = ImportCounts((told if told is not None else []).append)
    asyncio.run(
        import_files(
            CollectionPaths(collection), lambda stored: stored or quick, paths, SystemClock(), tally
        )
    )
    return tally


def outcomes(collection: Path) -> dict[str, str]:
    with CollectionReader.open(collection) as reader:
        return {row.url: row.outcome.value for row in reader.url_rows()}


def exchanges(collection: Path) -> int:
    files = sorted((collection / "archive").glob("*.warc.gz"))
    return sum(1 for path in files for _ in iter_exchanges(path))


THREE = [response(f"https://example.org/{n}", n) for n in range(3)]


def packed_ways() -> dict[str, bytes]:
    return {
        "plain": b"".join(THREE),
        "gzip by record": b"".join(map(gzip.compress, THREE)),
        "one gzip stream": gzip.compress(b"".join(THREE)),
        "zstd by record": b"".join(map(zstd.compress, THREE)),
    }


@pytest.mark.parametrize("way", packed_ways())
def test_an_archive_is_told_by_its_content_however_it_is_packed(
    way: str, tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "no-name-that-helps.txt"
    path.write_bytes(packed_ways()[way])
    tally = bring(collection, path)
    assert (tally.captures, tally.damaged) == (3, 0)
    assert outcomes(collection)["https://example.org/2"] == "fetched"
    assert typed("verify", "-c", collection).code == 0


def test_the_same_file_twice_adds_nothing(tmp_path: Path, collection: Path) -> None:
    path, again = tmp_path / "a.warc", tmp_path / "b.warc.gz"
    path.write_bytes(b"".join(THREE))
    again.write_bytes(gzip.compress(b"".join(THREE)))
    bring(collection, path)
    before = exchanges(collection)
    assert bring(collection, path, again).known == 6
    assert exchanges(collection) == before


def test_damage_is_told_with_its_byte_and_the_rest_goes_on(
    tmp_path: Path, collection: Path
) -> None:
    path, told = tmp_path / "a.warc", list[str]()
    path.write_bytes(THREE[0] + b"rubbish that is no record\r\n\r\n" + THREE[1] + THREE[2])
    assert bring(collection, path, told=told).captures == 3
    place = f"{path}, byte {len(THREE[0])}"
    assert told == [f"{place}: no record begins here, but b'rubbish that is no record\\r\\n'"]


def test_rubbish_inside_one_stream_of_gzip_costs_only_itself(
    tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(THREE[0] + b"rubbish\r\n\r\n" + THREE[1] + THREE[2]))
    tally = bring(collection, path)
    assert (tally.captures, tally.damaged) == (3, 1)


def test_a_block_that_is_not_the_one_of_its_digest_is_left_out(
    tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "a.warc"
    wrong = response("https://example.org/x", 9, WARC_Block_Digest=payload_digest(b"other"))
    path.write_bytes(THREE[0] + wrong + THREE[1])
    tally = bring(collection, path)
    assert (tally.captures, tally.damaged) == (2, 1)
    assert "https://example.org/x" not in outcomes(collection)


def test_an_odd_payload_digest_comes_along_and_verify_knows_of_it(
    tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "a.warc"
    odd = response("https://example.org/x", 9, WARC_Payload_Digest=payload_digest(b"other"))
    path.write_bytes(odd)
    assert bring(collection, path).captures == 1
    assert typed("verify", "-c", collection).code == 0


def test_two_answers_of_one_second_are_two_captures(tmp_path: Path, collection: Path) -> None:
    path = tmp_path / "a.warc"
    url = "https://example.org/"
    path.write_bytes(response(url, 1) + response(url, 2))
    assert bring(collection, path).captures == 2
    with CollectionReader.open(collection) as reader:
        assert len(reader.captures(url)) == 2
        assert reader.page(url).title == "T2"


def test_an_older_capture_does_not_displace_a_newer_one(tmp_path: Path, collection: Path) -> None:
    url, old, new = "https://example.org/", tmp_path / "old.warc", tmp_path / "new.warc"
    new.write_bytes(response(url, 2, WARC_Date="2024-01-01T00:00:00Z"))
    old.write_bytes(response(url, 1))
    bring(collection, new, old)
    with CollectionReader.open(collection) as reader:
        assert reader.get(url).title == "T2"
        assert [one.at_us // 10**6 for one in reader.captures(url)] == [1580608922, 1704067200]
    assert typed("verify", "-c", collection).code == 0


def test_a_revisit_shows_the_body_that_it_repeats(tmp_path: Path, collection: Path) -> None:
    url, path = "https://example.org/", tmp_path / "a.warc"
    body = HTML % (b"Once", b"one")
    named = {"WARC_Payload_Digest": payload_digest(body)}
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    later = "2021-01-01T00:00:00Z"
    first = response(url, 1, body, **named)
    again = record("revisit", url, head, 2, **{**named, "WARC_Date": later})
    path.write_bytes(first + again)
    assert bring(collection, path).captures == 2
    with CollectionReader.open(collection) as reader:
        assert reader.get(url).title == "Once"
        assert reader.page(url).text == reader.page(url, "2020").text
    assert typed("verify", "-c", collection).code == 0
    assert typed("rebuild", "all", "-c", collection).code == 0
    with CollectionReader.open(collection) as reader:
        assert reader.get(url).title == "Once"


def test_what_is_no_page_is_kept_and_no_more(tmp_path: Path, collection: Path) -> None:
    path = tmp_path / "a.warc"
    others = (
        record("warcinfo", "", b"software: theirs\r\n", 1)
        + record("response", "dns:example.org", b"20200202 example.org. 1 IN A 192.0.2.1\n", 2)
        + record("resource", "urn:text:https://example.org/", b"text", 3)
        + record("metadata", "https://example.org/", b"outcome-of: nothing\r\n", 4)
        + record("conversion", "https://example.org/", b"converted", 5)
    )
    path.write_bytes(others + record("resource", "https://example.org/f", b"plain", 6))
    tally = bring(collection, path)
    assert (tally.captures, tally.kept, tally.damaged) == (1, 5, 0)
    assert outcomes(collection) == {"https://example.org/f": "fetched"}
    stored = {one.preamble + one.content for file in (collection / "archive").glob("*.warc.gz")
              for one in read_records(file)}  # fmt: skip
    assert {one.preamble + one.content for one in read_records(path)} <= stored
    assert typed("verify", "-c", collection).code == 0


def test_a_url_that_is_none_is_named_and_its_record_kept(tmp_path: Path, collection: Path) -> None:
    path, told = tmp_path / "a.warc", list[str]()
    path.write_bytes(response("http://exa mple.org:99999/", 1) + THREE[0])
    tally = bring(collection, path, told=told)
    assert (tally.captures, tally.kept, tally.unreadable) == (1, 1, 1)
    assert told[0].startswith(f"{path}, byte 0: 'http://exa%20mple.org:99999/' is not a URL")


def test_an_imported_robots_txt_gives_no_permission(tmp_path: Path, collection: Path) -> None:
    with site_in_thread(
        {"/robots.txt": robots("User-agent: *\nAllow: /\n"), "/": page("home")}
    ) as site:
        first = tmp_path / "first"
        crawl(first, [site.url()])
        exported = tmp_path / "a.warc.gz"
        typed("export", "-c", first, "warc", "-o", exported)
        bring(collection, exported)
    with CollectionReader.open(collection) as reader:
        purposes = {
            one.lease.purpose for file in reader.paths.archive.glob("*.warc.gz")
            for one in iter_exchanges(file)
        }  # fmt: skip
        assert Purpose.ROBOTS not in purposes


def test_a_collection_that_was_exported_and_imported_is_the_same(
    tmp_path: Path, collection: Path
) -> None:
    pages = {"/": page("<title>One</title><a href=/b>b</a>"), "/b": page("<title>Two</title>")}
    with site_in_thread(pages) as site:
        first = tmp_path / "first"
        crawl(first, [site.url()])
    wacz = tmp_path / "all.wacz"
    assert typed("export", "-c", first, "wacz", "-o", wacz).code == 0
    bring(collection, wacz)
    seen = []
    for one in (first, collection):
        with CollectionReader.open(one) as reader:
            rows = {row.url: row for row in reader.url_rows()}
            seen.append(
                [(url, row.title, row.at_us, row.digest) for url, row in sorted(rows.items())]
            )
    assert seen[0] == seen[1] != []
    assert bring(first, wacz).captures == 0


def test_a_named_url_is_asked_though_it_is_out_of_scope_and_private_ones_are_not(
    tmp_path: Path, collection: Path
) -> None:
    with site_in_thread({"/": page("home"), "/other": page("other")}) as site:
        urls = tmp_path / "urls"
        urls.write_text(f"# wanted\n\n{site.url('/other')}\nftp://example.org/\nnonsense\n")
        told: list[str] = []
        tally = bring(collection, urls, told=told)
        assert (tally.urls, tally.new_urls, tally.unreadable) == (1, 1, 2)
        assert [one.split(":")[0] for one in told] == [f"{urls}, line 4", f"{urls}, line 5"]
        crawl(collection, [])
        assert site.asked == []  # nobody typed this host, and its address is private
        with CollectionReader.open(collection) as reader:
            assert reader.get(site.url("/other")).reason == "private"
        asked = tmp_path / "asked"
        bring(asked, urls)
        crawl(asked, [], fetch__allow_private=("127.0.0.0/8",))
        assert "/other" in site.asked
        assert bring(asked, urls).new_urls == 0


@pytest.mark.parametrize("name", ["plain", "packed"])
def test_the_urls_of_a_sitemap_are_queued(name: str, tmp_path: Path, collection: Path) -> None:
    xml = b"<urlset><url><loc>https://example.org/a?x=1&amp;y</loc></url></urlset>"
    path = tmp_path / "map"
    path.write_bytes(xml if name == "plain" else gzip.compress(xml))
    assert bring(collection, path).new_urls == 1
    assert outcomes(collection) == {"https://example.org/a?x=1&y": "queued"}
    assert typed("rebuild", "state", "-c", collection).code == 0
    assert outcomes(collection) == {"https://example.org/a?x=1&y": "queued"}


def test_the_sitemaps_of_an_index_are_asked_for_by_the_next_crawl(
    tmp_path: Path, collection: Path
) -> None:
    pages: dict[str, bytes] = {"/found": page("found")}
    with site_in_thread(pages) as site:
        listed = f"<urlset><url><loc>{site.url('/found')}</loc></url></urlset>"
        pages["/map.xml"] = page(listed, headers={"content-type": "text/xml"})
        path = tmp_path / "index.xml"
        path.write_text(
            f"<sitemapindex><sitemap><loc>{site.url('/map.xml')}</loc></sitemap></sitemapindex>"
        )
        bring(collection, path)
        crawl(collection, [], fetch__allow_private=("127.0.0.0/8",))
        assert {"/map.xml", "/found"} <= set(site.asked)


def test_a_first_seed_brings_links_of_imported_pages_into_scope(
    tmp_path: Path, collection: Path
) -> None:
    with site_in_thread({"/next": page("next")}) as site:
        path = tmp_path / "a.warc"
        path.write_bytes(response(site.url("/"), 1))
        bring(collection, path)
        assert outcomes(collection)[site.url("/next")] == "refused"
        crawl(collection, [site.url("/")])
        assert outcomes(collection) == {site.url("/"): "fetched", site.url("/next"): "fetched"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\x00\x01", "is not supported; use WARC"),
        (b"\x04\x22\x4d\x18...", "lz4"),
    ],
)
def test_a_file_of_another_kind_is_refused_and_nothing_made(
    content: bytes, said: str, tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said):
        bring(collection, path)
    assert not collection.exists()


def test_a_file_that_is_not_there_is_named() -> None:
    ended = typed("import", "nowhere.warc")
    assert (ended.code, ended.err) == (
        2,
        "gossamer: cannot read nowhere.warc: No such file or directory\n",
    )


def test_nothing_is_imported_while_somebody_else_writes(tmp_path: Path, collection: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(THREE))
    home = CollectionPaths(collection)
    home.make()
    with locked(home), pytest.raises(CollectionInUse, match="is in use by process"):
        bring(collection, path)


def test_members_of_a_wacz_never_leave_it(tmp_path: Path, collection: Path) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil.warc", THREE[0])
        archive.writestr("/abs.warc.gz", gzip.compress(THREE[1]))
        archive.writestr("archive/x.warc", THREE[2], compress_type=zipfile.ZIP_DEFLATED)
        archive.writestr("archive/bomb.warc", b"0" * 70_000_000, zipfile.ZIP_DEFLATED)
    told: list[str] = []
    tally = bring(collection, path, told=told)
    assert (tally.captures, tally.damaged) == (3, 1)
    assert "a hundred times" in told[0]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.wacz", "collection"]


def test_a_zip_that_is_cut_off_is_said_to_be(tmp_path: Path, collection: Path) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/x.warc", b"".join(THREE))
    path.write_bytes(path.read_bytes()[:-30])
    ended = typed("import", "-c", collection, path)
    assert ended.code == 1
    assert "the ZIP is cut off" in ended.err


def test_counts_are_one_object_for_programs(tmp_path: Path, collection: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(THREE))
    told = json.loads(typed("import", "--json", "-c", collection, path).out)
    assert (told["schema"], told["files"], told["records"], told["captures"]) == (1, 1, 3, 3)
    assert told["by_type"] == {"response": 3}


@pytest.mark.slow
def test_an_import_that_is_killed_and_made_again_comes_to_the_same(
    tmp_path: Path, collection: Path
) -> None:
    path, calm = tmp_path / "a.warc.gz", tmp_path / "calm"
    many = [response(f"https://example.org/{n}", n) for n in range(400)]
    path.write_bytes(b"".join(map(gzip.compress, many)))
    bring(calm, path)
    for seed in range(3):
        with started("import", "-c", collection, path) as running:
            deadline_s = random.Random(seed).uniform(0.4, 2.0)
            with suppress(subprocess.TimeoutExpired):
                running.wait(deadline_s)
            running.send_signal(signal.SIGKILL)
            running.wait()
    assert gossamer("import", "-c", collection, path).code == 0
    assert exchanges(collection) == exchanges(calm) == 400
    assert outcomes(collection) == outcomes(calm)
    assert gossamer("verify", "-c", collection).code == 0


def test_an_outcome_of_another_collection_comes_along(tmp_path: Path, collection: Path) -> None:
    with site_in_thread({"/": page("<a href=/gone>x</a>")}) as site:
        first = tmp_path / "first"
        crawl(first, [site.url()])
    exported = tmp_path / "a.warc.gz"
    typed("export", "-c", first, "warc", "-o", exported)
    bring(collection, exported)
    with CollectionReader.open(collection) as reader:
        row = reader.get(site.url("/gone"))
        assert (row.outcome, row.status) == (Outcome.FETCHED, 404)


@pytest.mark.slow
def test_an_import_that_is_interrupted_says_that_it_can_go_on(
    tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "a.warc.gz"
    many = [response(f"https://example.org/{n}", n) for n in range(1500)]
    path.write_bytes(b"".join(map(gzip.compress, many)))
    with started("import", "-c", collection, path) as running:
        until(lambda: any((collection / "archive").glob("*.warc.gz")), running)
        running.send_signal(signal.SIGINT)
        ended = finish(running)
    assert (ended.code, ended.err) == (
        11,
        "Stopped. Imported records are kept. Run the same command to resume.\n",
    )
    assert typed("import", "-c", collection, path).code == 0
    assert exchanges(collection) == 1500


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_wrong_length_costs_one_page_of_an_import(
    collection: Path, tmp_path: Path, is_packed: bool
) -> None:
    made = [response(f"http://a.example/{n}", n) for n in range(1, 5)]
    made[1] = made[1].replace(b"\r\nContent-Length: ", b"\r\nContent-Length: 1", 1)
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(map(gzip.compress, made) if is_packed else made))
    told: list[str] = []

    tally = bring(collection, path, told=told)

    assert [
        url for url, outcome in sorted(outcomes(collection).items()) if outcome == "fetched"
    ] == [f"http://a.example/{n}" for n in (1, 3, 4)]
    assert tally.damaged == 1
    assert len(told) == 1


def test_a_file_whose_lines_end_in_two_carriage_returns_is_imported(
    collection: Path, tmp_path: Path
) -> None:
    head, _, block = response("http://a.example/1", 1).partition(b"\r\n\r\n")
    path = tmp_path / "a.warc"
    path.write_bytes(head.replace(b"\r\n", b"\r\r\n") + b"\r\r\n\r\r\n" + block)

    tally = bring(collection, path)

    assert (tally.records, tally.damaged) == (1, 0)
    with CollectionReader.open(collection) as reader:
        assert reader.page("http://a.example/1").title == "T1"
    assert exchanges(collection) == 1
