"""Build the records of a response and its CDXJ line.

The exchange as bytes (`warc.py`) and its line (`cdxj.py`) come from the same values. An
extension (`native/capture.c`) makes both in one step if nothing about the exchange is unusual,
which holds for nearly every page. Both forms write the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from gossamer.archive.cdxj import cdxj_line, mime_of
from gossamer.archive.warc import IDS_BYTES, RevisitOf, exchange_bytes
from gossamer.native.extensions import ARCHIVE, load
from gossamer.records import Fetched, Lease

# `ExchangeBytes` plus the CDXJ line without its line end.
CaptureFields = tuple[bytes, int, int, str, str]

_AT_ONCE: Final = 64  # exchanges


def random_ids() -> Iterator[bytes]:
    """Random bytes for the record ids of an exchange, read from the system for 64 exchanges at
    once.

    Use one iterator per process: a forked copy would give the same ids.
    """
    while True:
        some = os.urandom(_AT_ONCE * IDS_BYTES)
        for at in range(0, len(some), IDS_BYTES):
            yield some[at : at + IDS_BYTES]


def capture_of(
    lease: Lease,
    answer: Fetched,
    level: int,
    ids: bytes,
    place: tuple[str, int],
    revisit_of: RevisitOf | None = None,
) -> CaptureFields:
    """The records of an exchange with a response, and the CDXJ line of the response.

    `place` is the file name and the offset at which the exchange will begin.
    """
    if revisit_of is None and lease.previous is None and _c is not None:
        made: CaptureFields | None = _c.capture_of(lease, answer, level, ids, place)
        if made is not None:
            return made
    return capture_in_python(lease, answer, level, ids, place, revisit_of)


def capture_in_python(
    lease: Lease,
    answer: Fetched,
    level: int,
    ids: bytes,
    place: tuple[str, int],
    revisit_of: RevisitOf | None = None,
) -> CaptureFields:
    """Do the same for any response."""
    data, response, end, digest = exchange_bytes(lease, answer, level, revisit_of, ids)
    name, start = place
    line = cdxj_line(
        (answer.url, answer.at_us, answer.status),
        mime_of(answer.head) if revisit_of is None else "warc/revisit",
        digest if revisit_of is None else revisit_of.digest,
        (start + response, end - response),
        name,
    )
    return data, response, end, digest, line


_c: Final = load(ARCHIVE)
