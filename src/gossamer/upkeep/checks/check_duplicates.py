"""Check the tables of duplicates against the rows of the pages.

Every duplicate is a fetched page and points to a fetched page that is none. Pages that were
compared with one that has left since point to it until the next crawl; then they are listed to be
judged again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gossamer.frontier.duplicates.groups import AGAIN, PAGE, SKETCHED
from gossamer.frontier.duplicates.pointers import Fetch, has_duplicates
from gossamer.frontier.rocks import REBUILD
from gossamer.frontier.rows import DuplicateRow, UrlRow
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome
from gossamer.upkeep.check_state import Problem
from gossamer.urls.keys import KEY_BYTES

_TABLE: Final = "duplicates"


def duplicate_problems(reader: CollectionReader) -> Iterator[Problem]:
    """Yield every contradiction of the tables of duplicates."""
    if not has_duplicates(reader.store):
        return  # of an earlier version: the next crawl makes them
    has_waiting = bool(reader.store.scan(StateTable.SKETCH, AGAIN, bytes([AGAIN[0] + 1]), 1))
    count = 0
    for name, packed in reader.scan(StateTable.DUPLICATE):
        if len(name) == KEY_BYTES:
            count += 1
            yield from _pointer_problems(reader, name, packed, has_waiting=has_waiting)
        else:
            row = reader.store.find(StateTable.DUPLICATE, name[KEY_BYTES:])
            if row is None or DuplicateRow.decode(row).first != name[:KEY_BYTES]:
                what = "a page is listed as a duplicate of another, but does not point to it"
                yield Problem(f"{_TABLE} {name.hex()}", what, REBUILD)
    said = reader.counts().duplicates
    if said != count:
        what = f"the state says {said} duplicates, but the table has {count}"
        yield Problem("sums", what, REBUILD)
    for name, packed in reader.scan(StateTable.SKETCH):
        if name[:1] not in (PAGE, SKETCHED, AGAIN):
            first = reader.find_key(Fetch.decode(packed).key)
            if not _is_page(first):
                what = "the first page of a group of duplicates is not a fetched page"
                yield Problem(f"{_TABLE} {name.hex()}", what, REBUILD)


def _pointer_problems(
    reader: CollectionReader, key: bytes, packed: bytes, *, has_waiting: bool
) -> Iterator[Problem]:
    try:
        pointer = DuplicateRow.decode(packed)
    except (ValueError, TypeError) as error:
        yield Problem(f"{_TABLE} {key.hex()}", f"the row cannot be read ({error})", REBUILD)
        return
    page, first = reader.find_key(key), reader.find_key(pointer.first)
    where = page.url if page else f"{_TABLE} {key.hex()}"
    if not _is_page(page):
        yield Problem(where, "it is a duplicate, but not a fetched page", REBUILD)
    if reader.store.find(StateTable.DUPLICATE, pointer.first + key) is None:
        yield Problem(where, "it is a duplicate of a page that does not list it", REBUILD)
    if has_waiting and pointer.mode == "html95":
        return
    if not _is_page(first):
        yield Problem(where, "it is a duplicate of a page that is not fetched", REBUILD)
    elif reader.store.find(StateTable.DUPLICATE, pointer.first) is not None:
        yield Problem(where, "it is a duplicate of a page that is a duplicate itself", REBUILD)
    elif page and first and pointer.mode == "exact" and page.digest != first.digest:
        yield Problem(where, f"it is a duplicate of {first.url}, but the bytes differ", REBUILD)


def _is_page(row: UrlRow | None) -> bool:
    return row is not None and row.outcome is Outcome.FETCHED and row.status == 200
