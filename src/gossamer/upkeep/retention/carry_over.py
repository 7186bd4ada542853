"""Keep what a rebuilt state cannot learn from the archive any more.

A retention rule deletes captures (`node/retention/pruner.py`). What they said stays in the state:
changes, the number of visits, the rate of changes, URLs that only they link to. A rebuild reads the
archive, so it takes these from the old state if that can be read. Of captures that were deleted
from the state and are still in the archive, it makes no rows.

What no archive says is taken from the old state in any case: how often pages change as the refresh
policy has learned it, measured freshness, a revisit that did not end, and what webhook and command
have received.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Final

from msgspec import structs

from gossamer.collection.archive_ends import known_ends
from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.errors import GossamerError
from gossamer.frontier.counts import Counts
from gossamer.frontier.frontier import HOST_BYTES
from gossamer.frontier.meta_keys import (
    BODY_PREFIX,
    CHANGE_PREFIX,
    CHANGES_KEY,
    COUNTS_KEY,
    FRESHNESS_KEY,
    LISTS_KEY,
    NOISE_PREFIX,
    NOTIFIED_PREFIX,
    PRUNED_KEY,
    PRUNED_PREFIX,
    REVISIT_KEY,
    YIELD_PREFIX,
)
from gossamer.frontier.rows import CaptureRow, HostRow, UrlRow
from gossamer.frontier.store import StateTable, Store, TableChanges, walk
from gossamer.frontier.visits.change_rows import ChangesBegun, numbered_key
from gossamer.records import Found
from gossamer.urls.keys import KEY_BYTES

_BATCH_ROWS: Final = 5_000
# What visits have taught about a page, one after the other.
_LEARNED: Final = (
    "first_us", "changed_us", "visits", "rate_shape", "rate_scale", "missed", "hint_us", "gone_us",
    "template",
)  # fmt: skip

# The same, of what the archive never says.
_LEARNED_BY_POLICY: Final = (
    "rate_shape", "rate_scale", "hint_us", "next_us", "importance", "body_us",
)  # fmt: skip
_KEPT_META: Final = (FRESHNESS_KEY, LISTS_KEY, REVISIT_KEY)

# Sums over all visits, also those whose captures are deleted.
_COUNTED_VISITS: Final = (
    "links", "unchanged", "visits", "changed", "gone", "back", "moved", "missed",
)  # fmt: skip

WrittenRow = tuple[StateTable, bytes, bytes | None]


@contextmanager
def pruned_state(paths: CollectionPaths) -> Iterator[Store | None]:
    """Provide the old state if captures were deleted from it; None if not, or if it is damaged."""
    try:
        store = open_to_read(paths)
        row = store.find(StateTable.META, PRUNED_KEY)
    except GossamerError:
        yield None
        return
    try:
        yield store if row else None
    finally:
        store.close()


def urls_not_found_again(old: Store, new: Store) -> Iterator[Found]:
    """Yield the URLs of the old state that no page of the archive links to any more."""
    for key, packed in walk(old, StateTable.URL):
        if new.find(StateTable.URL, key) is None:
            row = UrlRow.decode(packed)
            yield Found(row.url, key, row.depth, row.via, row.redirects)


def carry_over(old: Store, new: Store) -> None:
    """Complete a rebuilt state, to which nothing else writes. Raises DiskFault."""
    sizes = Counter[bytes]()
    _write(new, _deleted_captures(old, new, sizes))
    _write(new, _sums(old, new, sizes))
    _write(new, _learned(old, new, _LEARNED))
    late = [at for at, _ in walk(new, StateTable.CHANGE) if _is_late(at, old, new)]
    rows = {at: new.find(StateTable.CHANGE, at) or b"" for at in late}
    _write(new, ((StateTable.CHANGE, at, None) for at, _ in walk(new, StateTable.CHANGE)))
    _write(new, ((StateTable.META, key, None) for key, _ in _meta(new, CHANGE_PREFIX)))
    _write(new, _changes(old, new, rows))
    prefixes = (PRUNED_PREFIX, NOISE_PREFIX, BODY_PREFIX)
    copied = chain.from_iterable(_meta(old, prefix) for prefix in prefixes)
    _write(new, ((StateTable.META, key, row) for key, row in copied))
    _write(new, [(StateTable.META, PRUNED_KEY, old.find(StateTable.META, PRUNED_KEY))])


def carry_learned(paths: CollectionPaths, new: Store) -> None:
    """Add to a rebuilt state what no archive says, if the old state can be read. Raises DiskFault.

    A damaged old state adds what was read before the damage: each row is of use alone.
    """
    try:
        old = open_to_read(paths)
    except GossamerError:
        return
    try:
        _write(new, _known_of_old(old, new))
    finally:
        old.close()


def _known_of_old(old: Store, new: Store) -> Iterator[WrittenRow]:
    try:
        for prefix in (NOTIFIED_PREFIX, YIELD_PREFIX):
            for key, told in _meta(old, prefix):
                yield StateTable.META, key, told
        for key in _KEPT_META:
            if row := old.find(StateTable.META, key):
                yield StateTable.META, key, row
        yield from _learned(old, new, _LEARNED_BY_POLICY)
    except (GossamerError, ValueError):
        return  # the old state is damaged


def _deleted_captures(old: Store, new: Store, sizes: Counter[bytes]) -> Iterator[WrittenRow]:
    """Yield captures that the old state had known and deleted."""
    ends = known_ends(old)
    for key, packed in walk(new, StateTable.CAPTURE):
        row = CaptureRow.decode(packed)
        is_known = row.offset < ends.get(row.file, 0)
        if not is_known or old.find(StateTable.CAPTURE, key) is not None:
            continue
        if old.find(StateTable.URL, key[:KEY_BYTES]) is not None:
            sizes[key[:HOST_BYTES]] += row.size_bytes
            yield StateTable.CAPTURE, key, None


def _sums(old: Store, new: Store, sizes: Mapping[bytes, int]) -> Iterator[WrittenRow]:
    for host_key, size in sizes.items():
        host = HostRow.decode(new.find(StateTable.HOST, host_key) or b"")
        host.size_bytes -= size
        yield StateTable.HOST, host_key, host.encode()
    counts = Counts.decode(new.find(StateTable.META, COUNTS_KEY))
    counts.size_bytes -= sum(sizes.values())
    before = Counts.decode(old.find(StateTable.META, COUNTS_KEY))
    for name in _COUNTED_VISITS:
        setattr(counts, name, max(getattr(counts, name), getattr(before, name)))
    yield StateTable.META, COUNTS_KEY, counts.encode()


def _learned(old: Store, new: Store, names: Sequence[str]) -> Iterator[WrittenRow]:
    """Yield the rows of pages with what earlier visits have taught."""
    for key, packed in walk(old, StateTable.URL):
        before, found = UrlRow.decode(packed), new.find(StateTable.URL, key)
        row = UrlRow.decode(found) if found else None
        if row is None or (row.at_us, row.standing) != (before.at_us, before.standing):
            continue
        learned = structs.replace(row, **{name: getattr(before, name) for name in names})
        if learned != row:
            yield StateTable.URL, key, learned.encode()


def _is_late(at: bytes, old: Store, new: Store) -> bool:
    """Whether a change is of a visit that the old state had not committed."""
    capture = at[8:] + at[:8]
    is_there = new.find(StateTable.CAPTURE, capture) is not None
    return is_there and old.find(StateTable.CAPTURE, capture) is None


def _changes(old: Store, new: Store, late: Mapping[bytes, bytes]) -> Iterator[WrittenRow]:
    """Yield the changes of the old state with their numbers, then those of later visits."""
    for at, row in walk(old, StateTable.CHANGE):
        if new.find(StateTable.URL, at[8:]) is not None:
            yield StateTable.CHANGE, at, row
    for key, at in _meta(old, CHANGE_PREFIX):
        if new.find(StateTable.URL, at[8:]) is not None:
            yield StateTable.META, key, at
    begun = ChangesBegun.decode(old.find(StateTable.META, CHANGES_KEY))
    number = begun.number
    for number, (at, row) in enumerate(sorted(late.items()), begun.number + 1):
        yield StateTable.CHANGE, at, row
        yield StateTable.META, numbered_key(number), at
    if begun.from_us:
        yield StateTable.META, CHANGES_KEY, begun._replace(number=number).encode()


def _meta(store: Store, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    return walk(store, StateTable.META, prefix, prefix + b"\xff" * 33)


def _write(new: Store, rows: Iterable[WrittenRow]) -> None:
    """Write rows in batches. What they are computed from may be read meanwhile."""
    changes: dict[StateTable, dict[bytes, bytes | None]] = {}
    for count, (table, key, row) in enumerate(rows, 1):
        changes.setdefault(table, {})[key] = row
        if count % _BATCH_ROWS == 0:
            _put(new, changes)
            changes = {}
    _put(new, changes)


def _put(new: Store, changes: TableChanges) -> None:
    if changes:
        new.write(changes)
