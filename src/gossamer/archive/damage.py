"""Find the lost bytes of a damaged WARC file, and keep the rest.

A whole exchange keeps its bytes and its offset; the bytes between whole exchanges are lost. `mend`
replaces them by a record of the same length (`padding.py`), so that nothing else moves, and cuts
off a lost end. The damaged file is kept beside the repaired one, for tools that can read more of
it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.archive.fields import fields_of
from gossamer.archive.padding import lost_member
from gossamer.archive.reader import LOST, exchange_of, is_ours, salvage
from gossamer.archive.record import Record
from gossamer.base.copying import link_or_copy
from gossamer.base.files import sync_folder
from gossamer.errors import CorruptFile

_DAMAGED: Final = ".damaged"  # appended to the name of the damaged file
_COPIED_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LostSpan:
    """Bytes that hold no whole exchange."""

    start: int
    end: int
    why: str
    url: str = ""  # of an exchange in them, if known
    is_tail: bool = False  # nothing whole follows


@dataclass(slots=True)
class _Scan:
    path: Path
    size: int
    at: int = 0  # everything before this offset is whole or reported as lost
    records: list[Record] = field(default_factory=list)
    why: str = ""

    def take(self, one: Record | CorruptFile) -> Iterator[LostSpan]:
        if isinstance(one, CorruptFile):
            self.why = self.why or one.found
            self.records = []
            return
        end = one.offset + one.length
        if not self.records and (one.type == LOST or (one.type == "warcinfo" and not one.offset)):
            yield from self._lost_up_to(one.offset)
            self.at = end
            return
        self.records.append(one)
        if is_ours(one):
            start, fault = self.records[0].offset, self._fault()
            if fault:
                self.why = self.why or fault
                yield LostSpan(self.at, end, self.why, one.uri or "")
            else:
                yield from self._lost_up_to(start)
            self.at, self.records, self.why = end, [], ""

    def rest(self) -> Iterator[LostSpan]:
        if self.at < self.size:
            yield LostSpan(
                self.at, self.size, self.why or "the exchange is incomplete", is_tail=True
            )

    def _lost_up_to(self, start: int) -> Iterator[LostSpan]:
        if start > self.at:
            yield LostSpan(self.at, start, self.why or "it is not a record")

    def _fault(self) -> str:
        """Why the records are not a whole exchange; empty if they are."""
        try:
            exchange_of(self.path, self.records)
            length = fields_of(self.records[-1].content).get("requestLength", "0")
        except (CorruptFile, ValueError) as error:
            return str(getattr(error, "found", error))
        is_alone = self.records[0].type in ("response", "revisit")
        return "its request is lost" if is_alone and length != "0" else ""


def lost_spans(path: Path) -> list[LostSpan]:
    """All byte ranges of a file that hold no whole exchange, in order. Reads the whole file."""
    scan = _Scan(path, path.stat().st_size)
    found: list[LostSpan] = []
    for one in salvage(path):
        found += scan.take(one)
    return [*found, *scan.rest()]


def mend(path: Path, spans: Sequence[LostSpan], at_us: int) -> None:
    """Replace the lost bytes of a file. The old file is kept under another name.

    A kill leaves the old file or the new one. Raises CorruptFile if no record fits into a lost
    range, and OSError.
    """
    new = path.with_name(f"{path.name}.new")
    with path.open("rb") as old, new.open("wb") as file:
        at = 0
        for span in spans:
            _copy(old, file, at, span.start)
            if not span.is_tail:
                file.write(_filler(path, span, at_us))
            at = span.end
        _copy(old, file, at, path.stat().st_size)
        file.flush()
        os.fsync(file.fileno())
    link_or_copy(path, damaged_path(path))
    new.replace(path)
    sync_folder(path.parent)


def damaged_path(path: Path) -> Path:
    """An unused name for a damaged file."""
    number, found = 1, path.with_name(path.name + _DAMAGED)
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}{_DAMAGED}{number}")
    return found


def _filler(path: Path, span: LostSpan, at_us: int) -> bytes:
    try:
        return lost_member(span.end - span.start, at_us, span.why)
    except ValueError:
        what = f"{span.end - span.start} bytes are lost here, too few to repair; restore the file"
        raise CorruptFile(path, span.start, f"{what} from a backup") from None


def _copy(old: BinaryIO, new: BinaryIO, start: int, end: int) -> None:
    old.seek(start)
    while start < end:
        piece = old.read(min(_COPIED_BYTES, end - start))
        if not piece:
            return
        new.write(piece)
        start += len(piece)
