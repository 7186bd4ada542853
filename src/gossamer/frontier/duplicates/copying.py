"""Copy the tables of duplicates without deleted pages.

If the first page of a group is deleted, the one fetched next becomes the first. Pages that were
compared with a deleted page (`html95`) are marked: the next crawl compares them again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import structs

from gossamer.frontier.duplicates.groups import AGAIN, PAGE, SKETCHED
from gossamer.frontier.duplicates.pointers import Fetch, all_pointers, others_of
from gossamer.frontier.rows import time_of
from gossamer.frontier.store import StateTable, Store, walk

_ALL: Final = 10_000_000  # duplicates of one page
PutRow = Callable[[StateTable, bytes, bytes], None]
HasKey = Callable[[bytes], bool]


def copy_duplicates(old: Store, put: PutRow, is_deleted: HasKey) -> int:
    """Copy both tables by `put`; how many duplicates there are then."""
    moved = _copy_groups(old, put, is_deleted)
    count = 0
    for key, row in all_pointers(old):
        if is_deleted(key):
            continue
        fetched = old.find(StateTable.DUPLICATE, row.first + key) or bytes(8)
        first = moved.get(row.first, b"") if is_deleted(row.first) else row.first
        if not first:
            put(StateTable.SKETCH, AGAIN + Fetch(time_of(fetched), key).encode(), b"")
        elif first != key:
            count += 1
            put(StateTable.DUPLICATE, key, structs.replace(row, first=first).encode())
            put(StateTable.DUPLICATE, first + key, fetched)
    return count


def _copy_groups(old: Store, put: PutRow, is_deleted: HasKey) -> dict[bytes, bytes]:
    """Copy the table SKETCH; the new first page for each that is deleted and was one."""
    moved: dict[bytes, bytes] = {}
    for name, row in walk(old, StateTable.SKETCH):
        if name[:1] in (PAGE, SKETCHED, AGAIN):
            key = name[1:] if name[:1] == PAGE else Fetch.decode(name[1:]).key
            if not is_deleted(key):
                put(StateTable.SKETCH, name, row)
            continue
        first = Fetch.decode(row)
        if is_deleted(first.key):
            others = others_of(old, first.key, _ALL)
            left = [one for one in others if not is_deleted(one.key)]
            if not left:
                continue
            moved[first.key] = min(left).key
            first = min(left)
        put(StateTable.SKETCH, name, first.encode())
    return moved
