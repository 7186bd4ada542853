"""Write changes into the state of a collection, as visits would have found them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.frontier.meta_keys import CHANGES_KEY, SALT_KEY
from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.change_rows import (
    ChangeRow,
    ChangesBegun,
    change_key,
    numbered_key,
)
from gossamer.urls.keys import Keys


def write_changes(
    path: Path,
    seen: Sequence[tuple[int, str, ChangeRow]],
    more: Mapping[bytes, bytes] | None = None,
) -> None:
    """Write changes of known URLs, the oldest first, each with its time; and more rows of META."""
    store = open_to_write(CollectionPaths(path), 16)
    keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
    changes: dict[bytes, bytes | None] = {}
    meta: dict[bytes, bytes | None] = {**(more or {})}
    for number, (at_us, url, row) in enumerate(seen, 1):
        at = change_key(at_us, keys.of(url))
        changes[at], meta[numbered_key(number)] = row.encode(), at
    meta[CHANGES_KEY] = ChangesBegun(seen[0][0], len(changes)).encode()
    store.write({StateTable.CHANGE: changes, StateTable.META: meta})
    store.close()
