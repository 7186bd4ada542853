"""The archive reader against WARC and ARC files of other writers, sound and damaged.

`expected_records.json` tells what warcio read in each, and how many records FastWARC counted.
"""

from __future__ import annotations

import functools
import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gossamer.archive.chunks import is_chunked, unchunked
from gossamer.archive.reader import read_records
from gossamer.archive.record import Record
from gossamer.archive.verify import check_file, digest_faults
from gossamer.errors import CorruptFile, UsageError
from support.rows import each_row
from support.shared import suite

# Damaged, and read to the end all the same: records
RECOVERED = {
    "warcio/example-bad-non-chunked.warc.gz": 6,
    "warcio/example-bad.warc.gz.bad": 6,
    "warcio/example-wrong-chunks.warc.gz": 2,
    "webarchive-commons/IAH-20080430204825-00000-blackbook-truncated.arc": 9,
}
# Damaged, and refused at a byte: (records till then, the last not whole; the byte)
REFUSED = {
    "chatnoir-resiliparse/clipped.warc.gz": (1, 0),
    "warcio/example-trunc.warc": (3, 2560),
    "warcio/example-space-in-url.arc": (2, 151),
}


@dataclass(frozen=True)
class Expected:
    """What warcio said of one record."""

    type: str
    uri: str | None
    offset: int
    length: int
    status: str | None
    payload_bytes: int
    payload_sha1: str
    digest_ok: bool | None


@functools.cache
def expectations() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((suite("warc") / "expected_records.json").read_text())
    return found


def intact() -> Iterator[tuple[str, list[Expected]]]:
    for name, entry in expectations().items():
        if name not in REFUSED and name not in RECOVERED:
            yield name, [Expected(**record) for record in entry["warcio"]["records"]]


def body_of(record: Record) -> bytes:
    """The payload without its codings, as warcio gives it; undecodable ones as they are."""
    body = unchunked(record.payload) if is_chunked(record.head) else record.payload
    if b"content-encoding: gzip" in record.head.lower() and record.type == "response":
        try:
            return zlib.decompress(body, 31)
        except zlib.error:
            return body
    return body


def seen(record: Record) -> tuple[object, ...]:
    body = body_of(record)
    sha1 = hashlib.sha1(body).hexdigest()
    span = (record.offset, record.length)
    return (record.type, record.uri, *span, record.status, len(body), sha1)


def wanted(record: Expected) -> tuple[object, ...]:
    status = int(record.status) if record.status and record.type != "request" else None
    span = (record.offset, record.length)
    what = (record.payload_bytes, record.payload_sha1)
    return (record.type, record.uri or "", *span, status, *what)


def test_intact_files_are_read_record_by_record_as_others_read_them() -> None:
    for name, records in intact():
        found = [seen(record) for record in read_records(suite("warc") / name)]

        assert found == [wanted(record) for record in records], name


def test_every_file_is_expected_intact_recovered_or_refused() -> None:
    assert RECOVERED.keys() | REFUSED.keys() <= expectations().keys()
    assert len(list(intact())) >= 25


def test_digests_are_judged_as_others_judge_them() -> None:
    for name, records in intact():
        path = suite("warc") / name
        for found, expected in zip(read_records(path), records, strict=True):
            if expected.digest_ok is not None:
                has_fault = bool(list(digest_faults(path, found)))
                assert has_fault == (not expected.digest_ok), (name, found.offset)


@each_row("name", RECOVERED)
def test_odd_files_are_recovered_whole(name: str) -> None:
    records = list(read_records(suite("warc") / name))

    assert len(records) == RECOVERED[name]
    assert not any(record.is_cut for record in records)


@pytest.mark.parametrize("name", REFUSED)
def test_damaged_files_are_refused_at_the_byte_after_all_sound_records(name: str) -> None:
    path = suite("warc") / name
    count, offset = REFUSED[name]
    expected = [Expected(**record) for record in expectations()[name]["warcio"]["records"]]
    found: list[Record] = []

    with pytest.raises(CorruptFile) as caught:
        found.extend(read_records(path))  # what came before the damage stays in it

    assert caught.value.path == path
    assert caught.value.offset == offset
    assert [record.is_whole for record in found] == [True] * (count - 1) + [False]
    assert [seen(record) for record in found[:-1]] == [wanted(e) for e in expected[: count - 1]]
    assert body_of(found[-1])


def test_checking_a_damaged_file_goes_on_behind_the_damage() -> None:
    path = suite("warc") / "warcio/example-trunc.warc"

    faults = list(check_file(path))

    assert [fault.offset for fault in faults] == [2560]


@pytest.mark.parametrize("name", ["block-sized-records", "warcfile"])
def test_lz4_files_are_refused_with_a_sentence(name: str) -> None:
    path = suite("warc") / "chatnoir-resiliparse" / f"{name}.warc.lz4"

    with pytest.raises(UsageError, match="is compressed with lz4; decompress it"):
        list(read_records(path))


@each_row("name", ["abcd.gz", "hi.gz", "hi-2.gz", "double-single-inflate-error.gz"])
def test_gzip_files_of_something_else_are_no_archives(name: str) -> None:
    path: Path = suite("warc") / "webarchive-commons" / name

    with pytest.raises(CorruptFile, match="byte"):
        list(read_records(path))


def test_an_empty_gzip_member_holds_no_record() -> None:
    assert list(read_records(suite("warc") / "webarchive-commons" / "empty.gz")) == []
