"""Exchanges as bytes, judged by our reader and by other people's."""

import io
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from warcio.archiveiterator import ArchiveIterator

from archive.archive_samples import (
    ANY_ANSWER,
    ANY_FETCHED,
    ANY_LEASE,
    AT_US,
    a_failure,
    a_lease,
    a_page,
    a_refusal,
    write_archive,
)
from gossamer.archive.reader import iter_exchanges, read_exchange, read_info, read_records
from gossamer.archive.warc import (
    RevisitOf,
    date_us,
    exchange_bytes,
    payload_digest,
    warc_date,
    warcinfo_bytes,
)
from gossamer.records import Answer, Fetched, Lease

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the package warns of its own older classes
    from fastwarc.warc import ArchiveIterator as FastWarc

ORIGIN = RevisitOf("https://docs.example.org/old", AT_US - 10**9, payload_digest(b"<h1>Hello</h1>"))
PROPERTY = settings(
    max_examples=2 * settings().max_examples, suppress_health_check=list(HealthCheck)
)


@PROPERTY
@given(lease=ANY_LEASE, answer=ANY_ANSWER)
def test_what_is_stored_is_read_back_to_the_byte(
    tmp_path: Path, lease: Lease, answer: Answer
) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(exchange_bytes(lease, answer).data)

    (exchange,) = iter_exchanges(path)

    assert exchange.lease == lease
    assert exchange.answer == answer
    assert read_exchange(path, exchange.stored.response) == exchange


@PROPERTY
@given(lease=ANY_LEASE, answer=ANY_FETCHED)
def test_warcio_finds_head_and_body_where_we_put_them(lease: Lease, answer: Fetched) -> None:
    stored = exchange_bytes(lease, answer)

    records = ArchiveIterator(io.BytesIO(stored.data), check_digests="raise")  # type: ignore[no-untyped-call]
    for record in records:
        payload = record.raw_stream.read()
        if record.rec_type == "response":
            assert payload == answer.body


@PROPERTY
@given(lease=ANY_LEASE, answer=ANY_ANSWER)
def test_fastwarc_reads_every_record_with_right_digests(lease: Lease, answer: Answer) -> None:
    stored = exchange_bytes(lease, answer)

    records = list(FastWarc(io.BytesIO(stored.data), parse_http=False))

    expected = 1 if not isinstance(answer, Fetched) else 3 if answer.request else 2
    assert len(records) == expected
    for record in FastWarc(io.BytesIO(stored.data), parse_http=False):
        assert record.verify_block_digest()


def test_our_files_pass_warcio_check(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    write_archive(path, a_page(), a_failure(), a_refusal(), a_page(body=b"x" * 100_000))

    found = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.returncode == 0, found.stdout
    assert found.stdout.count("digest pass") == 1 + 3 + 1 + 1 + 3


def test_an_exchange_is_request_response_and_metadata_that_name_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    write_archive(path, a_page())

    info, request, response, metadata = read_records(path)

    assert [r.type for r in (info, request, response, metadata)] == [
        "warcinfo",
        "request",
        "response",
        "metadata",
    ]
    assert request.header("WARC-Concurrent-To") == response.header("WARC-Record-ID")
    assert metadata.header("WARC-Concurrent-To") == response.header("WARC-Record-ID")
    assert response.header("WARC-Date") == "2026-01-01T00:00:00.123456Z"
    assert response.header("WARC-IP-Address") == "192.0.2.7"
    assert response.header("WARC-Protocol") == "http/1.1"


def test_a_cut_body_is_marked_truncated(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    page = a_page()
    cut = Fetched(
        **{name: getattr(page, name) for name in page.__struct_fields__} | {"cut": "length"}
    )
    write_archive(path, cut)

    records = {record.type: record for record in read_records(path)}

    assert records["response"].header("WARC-Truncated") == "length"


@pytest.mark.parametrize(
    ("status", "profile"),
    [(200, "revisit/identical-payload-digest"), (304, "revisit/server-not-modified")],
)
def test_a_repeated_body_is_stored_as_a_revisit(tmp_path: Path, status: int, profile: str) -> None:
    path = tmp_path / "a.warc.gz"
    page = a_page(status=status, body=b"<h1>Hello</h1>" if status == 200 else b"")
    path.write_bytes(exchange_bytes(a_lease(), page, revisit_of=ORIGIN).data)

    (exchange,) = iter_exchanges(path)
    _, revisit, _ = read_records(path)

    assert revisit.header("WARC-Profile").endswith(profile)
    assert revisit.header("WARC-Refers-To-Target-URI") == ORIGIN.url
    assert date_us(revisit.header("WARC-Refers-To-Date")) == ORIGIN.at_us
    assert revisit.payload == b""
    assert isinstance(exchange.answer, Fetched)
    assert exchange.answer.head == page.head
    assert exchange.revisit_of == ORIGIN
    assert exchange.body_bytes == len(page.body)
    assert exchange.stored.digest == payload_digest(page.body)


def test_the_first_record_tells_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    told = {"robots": "obey", "fetch.contact": "me@example.org\r\nWARC-Type: x", "bad: name": "1"}
    path.write_bytes(warcinfo_bytes(path.name, AT_US, told))

    info = read_info(path)

    assert info["software"].startswith("gossamer/")
    assert info["robots"] == "obey"
    assert info["fetch.contact"] == told["fetch.contact"]
    assert info["bad--name"] == "1"


def test_dates_keep_their_microseconds() -> None:
    assert date_us(warc_date(AT_US)) == AT_US
    assert date_us("2017-03-06T04:02:06Z") == 1_488_772_926_000_000
