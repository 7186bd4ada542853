"""Find the captures that the retention rule does not keep.

The table of captures has those of one URL together, so memory holds those of one URL, however many
there are. A capture without a body of its own (a revisit record) refers to one that has it. Of the
captures that stay, the record is read where a capture with the same body would go; then the
capture that it refers to stays, too. So every capture that stays can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from gossamer.archive.reader import read_exchange
from gossamer.errors import CorruptFile
from gossamer.frontier.rows import CaptureRow, UrlRow, time_key, time_of
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.policies.retention import PastCapture, RetentionRule
from gossamer.urls.keys import KEY_BYTES

REQUEST_BYTES: Final = 400  # of the request record before a capture, about
_NOT_MODIFIED: Final = 304


@dataclass(frozen=True, slots=True)
class DroppedCaptures:
    """Captures of one URL that the rule does not keep: their keys and rows."""

    rows: dict[bytes, CaptureRow]

    @property
    def size_bytes(self) -> int:
        """Their bytes in the archive, about."""
        return sum(row.length + REQUEST_BYTES for row in self.rows.values())


def captures_to_drop(
    store: Store, archive: Path, rule: RetentionRule, now_us: int
) -> Iterator[DroppedCaptures]:
    """Yield the captures to delete, URL by URL. Raises nothing for a damaged archive: what cannot
    be read stays."""
    if rule.keeps_all:
        return
    rows = walk(store, StateTable.CAPTURE)
    for key, group in groupby(rows, key=lambda row: row[0][:KEY_BYTES]):
        captures = dict(group)
        if len(captures) <= 2:
            continue  # of so few, every rule keeps the newest and the version before
        dropped = _dropped(store, archive, key, captures, rule, now_us)
        if dropped:
            yield DroppedCaptures(dropped)


def _dropped(
    store: Store,
    archive: Path,
    key: bytes,
    captures: dict[bytes, bytes],
    rule: RetentionRule,
    now_us: int,
) -> dict[bytes, CaptureRow]:
    packed = store.find(StateTable.URL, key)
    if packed is None:
        return {}
    url = UrlRow.decode(packed)
    rows = {time_of(at[KEY_BYTES:]): CaptureRow.decode(row) for at, row in captures.items()}
    kept = {*rule.kept(_past(rows), now_us, url.changed_us), url.at_us, url.body_us}
    gone = {at_us: row for at_us, row in rows.items() if at_us not in kept}
    if gone:
        _spare_bodies(archive, [rows[at_us] for at_us in kept & rows.keys()], gone)
    return {key + time_key(at_us): row for at_us, row in gone.items()}


def _past(rows: dict[int, CaptureRow]) -> list[PastCapture]:
    """Return the captures for the rule. A response 304 has the content of the one before it."""
    past: list[PastCapture] = []
    for at_us, row in sorted(rows.items()):
        is_same = row.status == _NOT_MODIFIED and past
        digest = past[-1].digest if is_same else row.digest
        past.append(PastCapture(at_us, digest, row.status))
    return past


def _spare_bodies(archive: Path, kept: Iterable[CaptureRow], gone: dict[int, CaptureRow]) -> None:
    """Take out of `gone` every capture whose body one of `kept` needs."""
    digests = {row.digest for row in gone.values()}
    for row in kept:
        if row.digest not in digests and row.status != _NOT_MODIFIED:
            continue
        try:
            origin = read_exchange(archive / row.file, row.offset).revisit_of
        except (CorruptFile, OSError):
            gone.clear()  # `verify` reports it; until then nothing of this URL is deleted
            return
        if origin is not None:
            gone.pop(origin.at_us, None)
