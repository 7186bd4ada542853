"""Which answer does an imported revisit repeat?

A revisit says of a page that nothing has changed: it has no body, and names one by the digest of
its payload, the better ones by URL and moment as well. Writers differ in what that digest is of, so
the one that the record itself names counts as much as ours.

Bounded: at most some 100 captures of the URL are looked at for a revisit, and what a record says is
read once, however many revisits ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Final

from gossamer.archive.reader import read_answer_at, read_exchange
from gossamer.base.values import dataclass
from gossamer.errors import CorruptFile
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import CaptureRow
from gossamer.records import Fetched

_SECOND_US: Final = 1_000_000
_LOOKED_AT: Final = 50  # captures from a moment on
_REMEMBERED: Final = 100_000  # digests, some 20 MB

Place = tuple[str, int]  # a file of the archive, and a byte of it


@dataclass(slots=True)
class Originals:
    """The answers of a collection that revisits may repeat."""

    frontier: Frontier
    folder: Path  # the archive
    _named: dict[Place, str] = field(default_factory=dict)

    def find(self, key: bytes, at_us: int | None, digest: str) -> tuple[Place, Fetched] | None:
        """The whole answer of that payload, near that moment first; else of that very moment, for
        writers whose digests are their own. With it the file and byte at which its body lies,
        which is never a revisit's."""
        for row in self._likely(key, at_us):
            is_meant = digest in (row.digest, self._digest_at(row))
            if is_meant and (found := self._read(row)) is not None:
                return found
        same = self.frontier.capture_at(key, at_us) if at_us is not None else None
        return self._read(same) if same is not None else None

    def _likely(self, key: bytes, at_us: int | None) -> Iterator[CaptureRow]:
        """The captures of the second that it names, then the newest, then the oldest ones."""
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
        """The digest that the record itself names; nothing where it cannot be read."""
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

    def _read(self, row: CaptureRow) -> tuple[Place, Fetched] | None:
        try:
            exchange = read_exchange(self.folder / row.file, row.offset)
        except (CorruptFile, OSError):
            return None
        answer = exchange.answer
        if not isinstance(answer, Fetched) or not answer.body:
            return None
        return exchange.body_at or (row.file, row.offset), answer
