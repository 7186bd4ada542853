"""Check every byte of an archive file.

Reads a whole file of any writer, and reports each fault. After damage it continues at the next
record that can be found. In files of this program every exchange must be whole, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.chunks import is_chunked, unchunked
from gossamer.archive.digests import fits_digest
from gossamer.archive.reader import LOST, is_ours, salvage
from gossamer.archive.record import Record
from gossamer.errors import CorruptFile

_OURS: Final = b"software: gossamer/"
_IMPORTED: Final = b"\r\nsource: "
_ODD_DIGEST: Final = b"\r\noddDigest: 1\r\n"  # the digest of the payload was wrong at import
_PAYLOAD: Final = "the payload"


@dataclass(frozen=True, slots=True)
class FileFault:
    """A fault in a file, with its position."""

    path: Path
    offset: int
    problem: str


def check_file(path: Path) -> Iterator[FileFault]:
    """Every fault of a file, in order. Raises UsageError for an unsupported file."""
    pairs = _Pairs(path)
    for one in salvage(path):
        if isinstance(one, CorruptFile):
            yield from pairs.forget()
            yield FileFault(path, one.offset, one.found)
        else:
            yield from pairs.faults(one, digest_faults(path, one))
    yield from pairs.faults_at_end()


def digest_faults(path: Path, record: Record) -> Iterator[FileFault]:
    """Faults in the digests of a record."""
    if record.is_cut:
        what = f"the record has {record.size} bytes, too many to check its digest"
        yield FileFault(path, record.offset, what)
        return
    block = record.header("WARC-Block-Digest")
    if block and not fits_digest(block, record.content):
        yield FileFault(path, record.offset, f"the block does not match its digest {block}")
    payload = record.header("WARC-Payload-Digest")
    # The payload of a revisit is elsewhere.
    if payload and record.type != "revisit" and not _payload_fits(payload, record):
        yield FileFault(path, record.offset, f"{_PAYLOAD} does not match its digest {payload}")


def _payload_fits(digest: str, record: Record) -> bool:
    """Whether the digest fits the chunks or the body: writers disagree on which one it covers."""
    if fits_digest(digest, record.payload):
        return True
    return is_chunked(record.head) and fits_digest(digest, unchunked(record.payload))


class _Pairs:
    """Checks the order of records: each exchange is whole, each reference is to a record
    beside it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_ours = False
        self._open: list[Record] = []  # the records of the exchange so far, with blocks
        # faults of that exchange; its metadata may say that they were imported
        self._held: list[FileFault] = []

    def forget(self) -> Iterator[FileFault]:
        """Drop the current exchange, because records were lost, and report it."""
        held, self._held, self._open = self._held, [], []
        yield from held

    def faults(self, record: Record, found: Iterable[FileFault]) -> Iterator[FileFault]:
        """`found` are the faults of the record itself."""
        if record.type == "warcinfo" and record.offset == 0:
            self._is_ours = record.content.startswith(_OURS)
            yield from found
            return
        if not self._is_ours or record.type == LOST:
            yield from found
            return
        self._open.append(record)
        self._held += found
        if is_ours(record):
            if _ODD_DIGEST in record.content:
                self._held = [one for one in self._held if not one.problem.startswith(_PAYLOAD)]
            yield from self._exchange_faults()
            yield from self.forget()

    def faults_at_end(self) -> Iterator[FileFault]:
        if self._open:
            yield self._fault("the exchange that begins here has no metadata record")
        yield from self.forget()

    def _exchange_faults(self) -> Iterator[FileFault]:
        if _IMPORTED in self._open[-1].content:
            return  # records of other writers, in their order
        types = [record.type.replace("revisit", "response") for record in self._open]
        is_fetched = self._open[-1].content.startswith(b"outcome: fetched\r\n")
        whole = (["request", "response", "metadata"], ["response", "metadata"])
        if types not in (whole if is_fetched else (["metadata"],)):
            yield self._fault(f"an exchange of {', '.join(types)} records")
            return
        if is_fetched:
            response = self._open[-2].header("WARC-Record-ID")
            for record in (*self._open[:-2], self._open[-1]):
                if record.header("WARC-Concurrent-To") != response:
                    what = f"the {record.type} record does not name the response beside it"
                    yield FileFault(self._path, record.offset, what)

    def _fault(self, problem: str) -> FileFault:
        return FileFault(self._path, self._open[0].offset, problem)
