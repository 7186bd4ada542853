"""Check the changes that visits found: every row can be read, and is of a known URL.

A change stays when its captures are pruned, so it may be older than all captures of its URL.
"""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.frontier.meta_keys import CHANGE_PREFIX, CHANGES_KEY, NOISE_PREFIX
from gossamer.frontier.rocks import REBUILD
from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.change_rows import (
    ChangeRow,
    ChangesBegun,
    number_of,
    numbered_key,
)
from gossamer.policies.noise import TemplateNoise
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.check_state import Problem

_RESTORE = REBUILD


def change_problems(reader: CollectionReader) -> Iterator[Problem]:
    """Yield every contradiction between changes, URLs and what META says of changes."""
    rows = 0
    for at, packed in reader.scan(StateTable.CHANGE):
        rows += 1
        where = f"change {at.hex()}"
        try:
            ChangeRow.decode(packed)
        except ValueError as error:
            yield Problem(where, f"its row cannot be read ({error})", _RESTORE)
        if reader.find_key(at[8:]) is None:
            yield Problem(where, "it is of an unknown URL", _RESTORE)
    yield from _number_problems(reader, rows)
    yield from _noise_problems(reader)


def _number_problems(reader: CollectionReader, rows: int) -> Iterator[Problem]:
    begun = ChangesBegun.decode(reader.store.find(StateTable.META, CHANGES_KEY))
    numbered = 0
    for key, at in reader.scan(StateTable.META, CHANGE_PREFIX, numbered_key(2**63)):
        numbered += 1
        where = f"change number {number_of(key)}"
        if number_of(key) > begun.number:
            yield Problem(where, f"the state says that {begun.number} is the last", _RESTORE)
        if reader.store.find(StateTable.CHANGE, at) is None:
            yield Problem(where, "it has no row", _RESTORE)
    if numbered != rows:
        what = f"there are {rows} changes, but {numbered} have a number"
        yield Problem("changes", what, _RESTORE)


def _noise_problems(reader: CollectionReader) -> Iterator[Problem]:
    for key, packed in reader.scan(StateTable.META, NOISE_PREFIX, NOISE_PREFIX + b"\xff" * 17):
        try:
            TemplateNoise.decode(packed)
        except ValueError as error:
            where = f"template {key[len(NOISE_PREFIX) :].hex()}"
            yield Problem(where, f"what is known of its noise cannot be read ({error})", _RESTORE)
