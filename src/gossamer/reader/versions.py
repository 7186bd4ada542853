"""The versions of a page: its captures, with visits that found no change folded into the version.

A version is the capture that has the body. A later capture with the same body, or a 304, is a
visit of the same version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gossamer.reader.changes import SeenChange, changes_of
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.pages import StoredCapture


@dataclass(frozen=True, slots=True)
class PageVersionInfo:
    """One version of a page, from when until when it was seen."""

    number: int  # from 1, the oldest
    capture: StoredCapture
    last_us: int  # of the last visit that found it
    visits: int = 0  # after the first, without a change
    change: SeenChange | None = None  # from the version before, if a visit found it

    def has(self, capture: StoredCapture) -> bool:
        """Whether a capture is a visit of this version."""
        return self.capture.at_us <= capture.at_us <= self.last_us


def versions_of(
    captures: Sequence[StoredCapture], changes: Mapping[int, SeenChange] | None = None
) -> list[PageVersionInfo]:
    """Fold captures, in order of time, into versions. `changes` are by the time of a capture."""
    found: list[PageVersionInfo] = []
    told = changes or {}
    for capture in captures:
        last = found[-1] if found else None
        if last is not None and is_same(last.capture, capture):
            found[-1] = replace(last, last_us=capture.at_us, visits=last.visits + 1)
        else:
            change = told.get(capture.at_us)
            found.append(PageVersionInfo(len(found) + 1, capture, capture.at_us, 0, change))
    return found


def read_versions(reader: CollectionReader, url: str) -> list[PageVersionInfo]:
    """Return the versions of a URL, the oldest first. Raises NotKnown."""
    return versions_of(reader.captures(url), changes_of(reader, url))


def is_same(one: StoredCapture, other: StoredCapture) -> bool:
    """Whether the later of two captures found the page as the earlier one did."""
    if other.status == 304:
        return True
    return one.status == other.status and one.digest == other.digest and bool(one.digest)
