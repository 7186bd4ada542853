"""Archives that are made, or dated, so that a reader comes to grief: each costs what it weighs."""

from __future__ import annotations

import asyncio
import os
import zipfile
from pathlib import Path

import pytest

from gossamer.archive.reader import iter_exchanges
from gossamer.archive.warc import payload_digest
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import UsageError
from gossamer.graph.arrow import pa
from gossamer.reader.collection_reader import CollectionReader
from gossamer.settings import Settings, with_values
from gossamer.transfer.exports import batches
from gossamer.transfer.import_archive import ImportCounts
from gossamer.transfer.imports import import_files
from gossamer.upkeep.forget import forget
from support.a_crawl import QUICK

URL = "https://example.org/"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
OURS = {
    "outcome": "fetched", "fetchTimeMs": "1.0", "status": "200", "lease": "1", "key": "00" * 16,
    "host": "example.org", "depth": "0", "maxBodyBytes": "100", "protocol": "http/1.1",
    "address": "192.0.2.1", "headBytes": str(len(HEAD)), "requestLength": "0",
}  # fmt: skip


def record(kind: str, number: int, block: bytes, **headers: str) -> bytes:
    named = {
        "WARC-Type": kind,
        "WARC-Target-URI": URL,
        "WARC-Date": "2020-02-02T02:02:02Z",
        "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-a000-{number:012d}>",
        **{name.replace("_", "-"): value for name, value in headers.items()},
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"WARC/1.0\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def bring(collection: Path, path: Path, **more: int) -> tuple[ImportCounts, list[str]]:
    told: list[str] = []
    values = QUICK | {name.replace("__", "."): value for name, value in more.items()}
    tally, quick = ImportCounts(told.append), with_values(Settings(), values)
    asyncio.run(
        import_files(
            CollectionPaths(collection),
            lambda stored: stored or quick,
            [path],
            SystemClock(),
            tally,
        )
    )
    return tally, told


def with_ours(**lines: str) -> bytes:
    """An answer, and the metadata that a release of this program might have put beside it."""
    block = "".join(f"{name}: {value}\r\n" for name, value in {**OURS, **lines}.items()).encode()
    name = "<urn:uuid:00000000-0000-4000-a000-000000000001>"
    answer = record("response", 1, HEAD + b"<title>Once</title>")
    return answer + record("metadata", 2, block, WARC_Concurrent_To=name)


def test_a_hundred_revisits_name_the_one_body_and_not_each_other(
    tmp_path: Path, collection: Path
) -> None:
    path, body = tmp_path / "a.warc", b"<title>Once</title>"
    named = {"WARC_Payload_Digest": payload_digest(body)}
    dates = [f"2020-03-01T01:{n // 60:02d}:{n % 60:02d}Z" for n in range(100)]
    again = (record("revisit", n, HEAD, WARC_Date=date, **named) for n, date in enumerate(dates, 2))
    path.write_bytes(record("response", 1, HEAD + body, **named) + b"".join(again))
    assert bring(collection, path)[0].captures == 101
    files = (collection / "archive").glob("*.warc.gz")
    found = [exchange for file in files for exchange in iter_exchanges(file)]
    assert {exchange.answer.body for exchange in found if not exchange.revisit_of} == {body}  # type: ignore[union-attr]
    assert len({exchange.body_at for exchange in found}) == 2, "none, and the one body"
    with CollectionReader.open(collection) as reader:
        assert reader.get(URL).title == "Once"


@pytest.mark.parametrize("named", ["7", "zz", "-2", "1" * 5000])
def test_metadata_that_names_a_record_which_is_not_there_is_left_out(
    named: str, tmp_path: Path, collection: Path
) -> None:
    (path := tmp_path / "a.warc").write_bytes(with_ours(captureAt=named))
    tally, told = bring(collection, path)
    assert tally.captures == 1
    assert "its metadata was left out" in told[0]


def test_metadata_of_an_answer_that_took_for_ever_is_left_out(
    tmp_path: Path, collection: Path
) -> None:
    (path := tmp_path / "a.warc").write_bytes(with_ours(fetchTimeMs="inf"))
    tally, told = bring(collection, path)
    assert tally.captures == 1
    assert "cannot be understood" in told[0]


def test_a_body_that_is_said_to_lie_in_the_file_itself_is_not_looked_for(
    tmp_path: Path, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ring = {"source": "00" * 16, "captureAt": "0", "bodyFile": "a.warc", "bodyAt": "0"}
    (path := tmp_path / "a.warc").write_bytes(with_ours(**ring))
    assert bring(collection, path)[0].captures == 1
    with CollectionReader.open(collection) as reader:
        assert reader.page(URL).title == "Once"


def test_answers_of_one_second_keep_their_order_however_many_they_are(
    tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(record("response", n, HEAD + b"%d" % n) for n in range(300)))
    assert bring(collection, path)[0].captures == 300
    with CollectionReader.open(collection) as reader:
        assert len(reader.captures(URL)) == 300
        assert reader.page(URL).body == b"299"
        rows = pa.Table.from_batches(batches(reader, "captures")).to_pylist()
        every_fiftieth = [reader.page(URL, row["fetched_at"]).body for row in rows[::50]]
        assert every_fiftieth == [b"0", b"50", b"100", b"150", b"200", b"250"]


def test_answers_that_are_dated_against_the_search_for_a_free_moment_are_all_kept(
    tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "a.warc"
    steps = [0, *(2**n for n in range(20))]
    dates = [f"2020-02-02T02:02:02.{step:06d}Z" for step in steps] + ["2020-02-02T02:02:03.048576Z"]
    dated = [record("response", n, HEAD + b"%d" % n, WARC_Date=d) for n, d in enumerate(dates)]
    path.write_bytes(b"".join(dated) + record("response", 99, HEAD + b"99"))
    assert bring(collection, path)[0].captures == len(dates) + 1
    with CollectionReader.open(collection) as reader:
        assert len(reader.captures(URL)) == len(dates) + 1


def test_a_pipe_is_refused_before_a_byte_of_it_is_lost(tmp_path: Path, collection: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    with pytest.raises(UsageError, match="save its content to a file"):
        bring(collection, pipe)
    assert not collection.exists()


def test_a_member_of_a_wacz_whose_packing_is_not_read_stops_no_other(
    tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/a.warc.gz", b"\x04\x22\x4d\x18 packed with lz4")
        archive.writestr("archive/b.warc", record("response", 1, HEAD + b"words"))
    tally, told = bring(collection, path)
    assert (tally.captures, tally.damaged) == (1, 1)
    assert "lz4" in told[0]


def test_types_that_somebody_made_up_are_counted_together(tmp_path: Path, collection: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(record(f"kind{n}", n, b"x") for n in range(5)))
    assert bring(collection, path)[0].by_type == {"other": 5}


def test_no_record_names_again_what_was_forgotten(tmp_path: Path, collection: Path) -> None:
    path = tmp_path / "a.warc"
    odd = "ftp://[example.org"  # no URL at all: forgetting must not stumble over it
    path.write_bytes(
        record("response", 1, HEAD + b"x") + record("resource", 2, b"y", WARC_Target_URI=odd)
    )
    bring(collection, path)
    forget(CollectionPaths(collection), ["example.org"], SystemClock(), lambda _text: None)
    uris = ("dns:example.org", "ftp://example.org/x", URL)
    again = (record("resource", n, b"z", WARC_Target_URI=uri) for n, uri in enumerate(uris, 3))
    path.write_bytes(b"".join(again))
    tally, _told = bring(collection, path)
    assert (tally.forgotten, tally.kept, tally.captures) == (3, 0, 0)


def test_of_a_body_that_no_fetch_would_have_brought_only_the_beginning_is_read(
    tmp_path: Path, collection: Path
) -> None:
    body = b"<title>Once</title><a href=/near>x</a>" + b"<p>" * 50_000 + b"<a href=/far>x</a>"
    (path := tmp_path / "a.warc").write_bytes(record("response", 1, HEAD + body))
    bring(collection, path, fetch__max_body_bytes=1 << 16, parse__max_decoded_bytes=1 << 16)
    with CollectionReader.open(collection) as reader:
        row = reader.get(URL)
        assert (row.title, row.out_links) == ("Once", 1)
        assert "65536 of them were read" in row.detail
    (file,) = (collection / "archive").glob("*.warc.gz")
    assert [one.body_bytes for one in iter_exchanges(file)] == [len(body)], "all of it is kept"


def test_a_revisit_of_a_second_with_many_answers_finds_the_one_of_its_payload(
    tmp_path: Path, collection: Path
) -> None:
    path = tmp_path / "a.warc"
    bodies = [b"<title>%d</title>" % n for n in range(40)]
    answers = [
        record("response", n, HEAD + body, WARC_Payload_Digest=payload_digest(body))
        for n, body in enumerate(bodies)
    ]
    again = record(
        "revisit", 99, HEAD, WARC_Date="2020-03-01T00:00:00Z",
        WARC_Payload_Digest=payload_digest(bodies[17]),
        WARC_Refers_To_Target_URI=URL, WARC_Refers_To_Date="2020-02-02T02:02:02Z",
    )  # fmt: skip
    path.write_bytes(b"".join(answers) + again)

    assert bring(collection, path)[0].captures == 41

    with CollectionReader.open(collection) as reader:
        assert reader.page(URL).title == "17"
