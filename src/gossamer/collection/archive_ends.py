"""The committed end of each WARC file, as the state has it."""

from __future__ import annotations

from collections.abc import Mapping

from gossamer.frontier.meta_keys import FILE_PREFIX
from gossamer.frontier.store import StateTable, Store


def known_ends(store: Store) -> Mapping[str, int]:
    """Return for each WARC file the byte up to which the state knows it."""
    rows = store.scan(StateTable.META, FILE_PREFIX, FILE_PREFIX + b"\xff", 1_000_000)
    return {key[len(FILE_PREFIX) :].decode(): int.from_bytes(row, "big") for key, row in rows}
