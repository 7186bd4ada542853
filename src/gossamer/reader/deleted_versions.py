"""Was the version of a page at some time deleted by the rule `archive.keep`?

Who asks for a time gets the nearest version that is left, and has to know if another one was there.
The row of a change names the capture that it was compared with: if that is no longer there, it was
deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.change_rows import ChangeRow, change_key
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.moments import moment_of
from gossamer.reader.pages import StoredCapture


def note_on_deleted(reader: CollectionReader, url: str, at: str) -> str:
    """A sentence, if the version of a page at this time was deleted; else empty. It says nothing
    of a version that was followed by another deleted one."""
    if not _is_deleted(reader, url, reader.captures(url), moment_of(at)):
        return ""
    return (
        "the version of that time was deleted by the rule archive.keep; "
        "this is the nearest one that is left"
    )


def _is_deleted(
    reader: CollectionReader, url: str, captures: Sequence[StoredCapture], moment: int
) -> bool:
    later = [one.at_us for one in captures if one.at_us > moment]
    if not later:
        return False
    row = reader.get(url)
    if len(later) == len(captures):  # nothing is left of that time
        return row.first_us <= moment
    packed = reader.store.find(StateTable.CHANGE, change_key(later[0], reader.keys.of(row.url)))
    before_us = ChangeRow.decode(packed).before_us if packed else 0
    is_left = any(one.at_us == before_us for one in captures)
    return 0 < before_us <= moment and not is_left
