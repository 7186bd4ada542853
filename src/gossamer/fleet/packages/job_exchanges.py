"""The exchanges of a job's collection that count, in the order in which they ended.

A request that failed and was repeated counts no more. What an answer means does not depend on the
file of the worker that wrote it, so the files are read side by side: the hub learns of pages in the
order in which the unit did.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from msgspec import structs

from gossamer.archive.reader import Exchange, iter_exchanges, read_exchange
from gossamer.archive.replaced import file_elsewhere
from gossamer.archive.warc import payload_digest
from gossamer.collection.archive_ends import known_ends
from gossamer.errors import CorruptFile
from gossamer.fetch.decode import decode
from gossamer.fetch.head import Head
from gossamer.fleet.packages.format import UrlOutcome
from gossamer.fleet.packages.hosts import JobHosts
from gossamer.frontier.rows import CaptureRow, Standing, UrlRow, time_key
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Fetched, Outcome, Purpose

_NOT_MODIFIED: Final = 304
_CODING: Final = b"content-encoding"
_RENAMED: Final = b"X-Archive-Orig-"
_MAX_DECODED_BYTES: Final = 48 * 2**20  # of a body; a longer one is sent with its coding


@dataclass(frozen=True, slots=True)
class JobExchange:
    """An exchange with its whole body, without content coding."""

    exchange: Exchange
    digest: str  # of the body; empty if there is no response
    crawled_bytes: int

    @property
    def answer(self) -> Fetched | None:
        answer = self.exchange.answer
        return answer if isinstance(answer, Fetched) else None


def archive_bytes(reader: CollectionReader) -> int:
    """The length of all WARC files, as committed."""
    return sum(known_ends(reader.store).values())


def job_exchanges(reader: CollectionReader, hosts: JobHosts) -> Iterator[JobExchange]:
    """Yield what counts. One exchange of each file is in memory. Raises CorruptFile."""
    ends = known_ends(reader.store)
    files = [
        _exchanges(reader.paths.archive / name, end) for name, end in sorted(ends.items()) if end
    ]
    for exchange in heapq.merge(*files, key=_ended):
        if _counts(reader, exchange, hosts):
            yield _whole(reader, exchange)


def _ended(exchange: Exchange) -> float:
    return exchange.answer.at_us / 1e6 + exchange.answer.took_s


def _exchanges(path: Path, end: int) -> Iterator[Exchange]:
    if not path.exists():
        path = file_elsewhere(path) or path
    for exchange in iter_exchanges(path):
        if exchange.stored.end > end:
            return
        yield exchange


def _counts(reader: CollectionReader, exchange: Exchange, hosts: JobHosts) -> bool:
    lease, answer = exchange.lease, exchange.answer
    if lease.purpose is Purpose.KEPT or lease.source:
        return False
    if not (hosts.has_url(lease.url) and hosts.has_url(answer.url)):
        return False
    if lease.purpose is not Purpose.PAGE:
        return isinstance(answer, Fetched)
    key = reader.keys.of(lease.url)
    if isinstance(answer, Fetched) and _capture(reader, key, answer.at_us) is not None:
        return True
    row = reader.find_key(key)
    return row is not None and row.at_us == answer.at_us and row.outcome is not Outcome.QUEUED


def _capture(reader: CollectionReader, key: bytes, at_us: int) -> CaptureRow | None:
    found = reader.store.find(StateTable.CAPTURE, key + time_key(at_us))
    return CaptureRow.decode(found) if found else None


# -- bodies


def _whole(reader: CollectionReader, exchange: Exchange) -> JobExchange:
    answer = exchange.answer
    if not isinstance(answer, Fetched):
        return JobExchange(exchange, "", 0)
    crawled = len(answer.head) + exchange.body_bytes
    if exchange.revisit_of is not None:
        answer = _repeated(reader, exchange, answer)
    answer = _decoded(answer)
    digest = payload_digest(answer.body)
    return JobExchange(replace(exchange, answer=answer, revisit_of=None), digest, crawled)


def _repeated(reader: CollectionReader, exchange: Exchange, answer: Fetched) -> Fetched:
    """The answer with the body that it repeats. A 304 becomes the response that it confirms."""
    origin = exchange.revisit_of
    assert origin is not None, "called only for revisits"
    row = _capture(reader, reader.keys.of(origin.url), origin.at_us)
    path = reader.paths.archive / (row.file if row else exchange.stored.file)
    if row is None:
        what = f"it repeats a capture of {origin.url} that is missing"
        raise CorruptFile(path, exchange.stored.response, what)
    before = read_exchange(path, row.offset).answer
    if not isinstance(before, Fetched):
        raise CorruptFile(path, row.offset, "a response should be here, but is missing")
    if answer.status != _NOT_MODIFIED:
        return structs.replace(answer, body=before.body)
    return structs.replace(before, at_us=answer.at_us, took_s=answer.took_s, request=answer.request)


def _decoded(answer: Fetched) -> Fetched:
    """The answer without content coding: coded bodies could not be compressed together. The header
    is renamed, as a transfer coding is in every archive."""
    coding = Head(answer.head).first("content-encoding")
    if not coding or not answer.body or answer.cut:
        return answer
    found = decode(answer.body, coding, _MAX_DECODED_BYTES)
    if found.fault or found.is_cut:
        return answer
    lines = answer.head.split(b"\n")
    named = [_RENAMED + one if _is_coding(one) else one for one in lines]
    return structs.replace(answer, head=b"\n".join(named), body=found.body)


def _is_coding(line: bytes) -> bool:
    return line.partition(b":")[0].strip().lower() == _CODING


# -- URLs without a page


def job_outcomes(reader: CollectionReader, hosts: JobHosts) -> Iterator[UrlOutcome]:
    """Yield the URLs of the job's hosts that failed or were refused."""
    for row in reader.url_rows():
        if row.standing in (Standing.QUEUED, Standing.FETCHED) or not hosts.has_url(row.url):
            continue
        yield UrlOutcome(
            url=row.url,
            outcome=row.outcome.value,
            reason=row.reason,
            detail=row.detail,
            depth=row.depth,
            via=_via(reader, row),
            at_us=row.at_us,
            tries=row.tries,
        )


def _via(reader: CollectionReader, row: UrlRow) -> str:
    before = reader.find_key(row.via) if len(row.via) == len(reader.keys.of(row.url)) else None
    return before.url if before is not None else ""
