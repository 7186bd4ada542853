"""An answer that repeats the stored version of a page: 304, or the same body again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from gossamer.archive.reader import iter_exchanges
from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import SystemClock
from gossamer.records import Failed, Fetched, Lease, Previous, Reason
from gossamer.settings import Archive
from gossamer.workers.repeated import RepeatedVersions, repeated_in

URL = "http://a.example/page"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n"
BODY = b"<title>Tides</title>" + b"the sea rises and falls " * 100
LEASE = Lease(7, URL, b"k" * 16, "a.example", "192.0.2.1")


def fetched(
    body: bytes = BODY, head: bytes = HEAD, at_us: int = 5_000_000, **more: object
) -> Fetched:
    status = int(head.split()[1])
    answer = Fetched(URL, status, head, body, b"", "192.0.2.1", "http/1.1", at_us, 0.1)
    return structs.replace(answer, **more)


@pytest.fixture
def writer(tmp_path: Path) -> WarcWriter:
    return WarcWriter.open(tmp_path, "w", Archive(), {}, SystemClock())


@pytest.fixture
def lease(writer: WarcWriter) -> Lease:
    """The lease of a second visit."""
    stored = writer.append(LEASE, fetched())
    previous = Previous(5_000_000, stored.digest, 200, '"a"', "", stored.file, stored.response)
    return structs.replace(LEASE, previous=previous)


def judge(writer: WarcWriter, lease: Lease, answer: Fetched, *, asked: bool = True) -> object:
    return RepeatedVersions(writer.folder).judge(lease, answer, has_conditions=asked)


def test_the_same_body_is_not_stored_again(writer: WarcWriter, lease: Lease) -> None:
    answer, origin = RepeatedVersions(writer.folder).judge(
        lease, fetched(at_us=6_000_000), has_conditions=False
    )
    assert origin is not None
    stored = writer.append(lease, answer, origin)

    assert stored.end - stored.start < 2_000
    first, second = iter_exchanges(writer.path)
    assert repeated_in(first) is None
    repeated = repeated_in(second)
    assert repeated is not None
    assert (repeated.digest, repeated.received_bytes) == (first.stored.digest, len(BODY))
    assert second.lease.previous is not None
    assert second.lease.previous.at_us == 5_000_000


def test_a_304_to_a_conditional_request_repeats_the_stored_version(
    writer: WarcWriter, lease: Lease
) -> None:
    head = b'HTTP/1.1 304 Not Modified\r\netag: "b"\r\n\r\n'
    answer, origin = RepeatedVersions(writer.folder).judge(
        lease, fetched(b"", head, 6_000_000), has_conditions=True
    )

    assert origin is not None
    assert lease.previous is not None
    assert (origin.at_us, origin.digest) == (5_000_000, lease.previous.digest)
    stored = writer.append(lease, answer, origin)
    assert stored.end - stored.start < 2_000


@pytest.mark.parametrize(
    "answer",
    [
        fetched(BODY + b"!"),
        fetched(cut="length"),
        fetched(head=HEAD.replace(b"200 OK", b"404 Not Found")),
        fetched(head=HEAD.replace(b"text/html", b"text/plain")),
        fetched(head=HEAD[:-2] + b"x-robots-tag: noindex\r\n\r\n"),
        fetched(head=HEAD[:-2] + b"location: /other\r\n\r\n"),
    ],
    ids=["body", "cut", "status", "type", "robots", "location"],
)
def test_what_differs_is_stored_whole(writer: WarcWriter, lease: Lease, answer: Fetched) -> None:
    assert judge(writer, lease, answer) == (answer, None)


@pytest.mark.parametrize("is_asked", [True, False], ids=["no body", "no condition"])
def test_a_304_that_is_of_no_use_is_a_failure(
    writer: WarcWriter, lease: Lease, is_asked: bool
) -> None:
    if is_asked:
        assert lease.previous is not None
        lease = structs.replace(lease, previous=structs.replace(lease.previous, file="gone"))
    head = b"HTTP/1.1 304 Not Modified\r\n\r\n"

    answer, origin = RepeatedVersions(writer.folder).judge(
        lease, fetched(b"", head), has_conditions=is_asked
    )

    assert origin is None
    assert isinstance(answer, Failed)
    assert (answer.reason, answer.status) == (Reason.PROTOCOL, 304)


def test_a_304_that_forbids_the_index_now_does_not_count(writer: WarcWriter, lease: Lease) -> None:
    head = b"HTTP/1.1 304 Not Modified\r\nx-robots-tag: noindex\r\n\r\n"

    _, origin = RepeatedVersions(writer.folder).judge(
        lease, fetched(b"", head), has_conditions=True
    )

    assert origin is None
