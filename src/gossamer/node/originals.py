"""Find the response that an imported revisit repeats.

A revisit record says that a page has not changed. It has no body, and names one by the digest of
its payload; better ones add URL and time. Writers differ in what that digest covers, so the digest
that the record itself names counts as much as ours.

Bounded: for one revisit at most about 100 captures of the URL are checked, and each record is read
once, however many revisits need it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gossamer.archive.reader import read_answer_at, read_exchange
from gossamer.errors import CorruptFile
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import CaptureRow
from gossamer.records import Fetched

_SECOND_US: Final = 1_000_000
_LOOKED_AT: Final = 50  # captures from one moment on
_REMEMBERED: Final = 100_000  # digests, about 20 MB

CapturePosition = tuple[str, int]  # file of the archive, offset


@dataclass(slots=True)
class Originals:
    """The responses of a collection that revisits may repeat."""

    frontier: Frontier
    folder: Path  # the archive
    _named: dict[CapturePosition, str] = field(default_factory=dict)

    def find(
        self, key: bytes, at_us: int | None, digest: str
    ) -> tuple[CapturePosition, Fetched] | None:
        """The whole response with that payload, near that moment first. Else the response of
        exactly that moment, for writers with digests of their own. Also the file and offset of its
        body, which is never inside a revisit.
        """
        for row in self._likely(key, at_us):
            is_meant = digest in (row.digest, self._digest_at(row))
            if is_meant and (found := self._read(row)) is not None:
                return found
        same = self.frontier.capture_at(key, at_us) if at_us is not None else None
        return self._read(same) if same is not None else None

    def _likely(self, key: bytes, at_us: int | None) -> Iterator[CaptureRow]:
        """The captures of the named second, then the newest, then the oldest."""
        if at_us is not None:
            second = at_us // _SECOND_US * _SECOND_US
            for moment, row in self.frontier.captures(key, second, _LOOKED_AT):
                if moment < second + _SECOND_US:
                    yield row
        newest = self.frontier.last_capture(key)
        if newest is not None:
            yield newest
        yield from (row for _, row in self.frontier.captures(key, 0, _LOOKED_AT))

    def _digest_at(self, row: CaptureRow) -> str:
        """The digest that the record itself names; empty if it cannot be read."""
        place = row.file, row.offset
        if place not in self._named:
            if len(self._named) >= _REMEMBERED:
                self._named.clear()
            try:
                record = read_answer_at(self.folder / row.file, row.offset, limit_bytes=0)
                self._named[place] = record.header("WARC-Payload-Digest")
            except (CorruptFile, OSError):
                self._named[place] = ""
        return self._named[place]

    def _read(self, row: CaptureRow) -> tuple[CapturePosition, Fetched] | None:
        try:
            exchange = read_exchange(self.folder / row.file, row.offset)
        except (CorruptFile, OSError):
            return None
        answer = exchange.answer
        if not isinstance(answer, Fetched) or not answer.body:
            return None
        return exchange.body_at or (row.file, row.offset), answer
