"""Write the changes as a feed into a file, and choose those of pages that match a query."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from gossamer.base.plurals import counted
from gossamer.errors import UsageError
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.store import StateTable
from gossamer.node.notify.batch import origin_of_salt
from gossamer.reader.changes import ChangesWanted, SeenChange, changes
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.change_feed import FeedFilter, feed_of, request_for
from gossamer.transfer.feeds import MAX_ENTRIES, form_of, written


def matching_urls(reader: CollectionReader, query: str, since_us: int) -> Collection[str]:
    """The URLs of pages that match a query now. Raises StoreError without an index."""
    from gossamer.search.engine import Engine  # loads the index library

    request = request_for(query, reader.store, since_us)
    return {hit.url for hit in Engine(reader.paths.path).search(request)}


def chosen_changes(
    reader: CollectionReader, wanted: ChangesWanted, query: str
) -> Iterator[SeenChange]:
    """The wanted changes; with a query, only those of pages that match it."""
    found = changes(reader, wanted)
    if not query.strip():
        return found
    urls = matching_urls(reader, query, wanted.since_us)
    return (change for change in found if change.url in urls)


def write_feed(path: Path, file: Path, wanted: ChangesWanted, about: FeedFilter, limit: int) -> int:
    """Write a feed of the newest changes. Raises UsageError, NoCollection, StoreError."""
    form = form_of(file.name)
    with CollectionReader.open(path) as reader:
        some = chosen_changes(reader, wanted, about.query)
        found = list(islice(some, min(limit or MAX_ENTRIES, MAX_ENTRIES)))
        origin = origin_of_salt(reader.store.find(StateTable.META, SALT_KEY) or b"")
    document = written(feed_of(found, about, path.resolve().name, origin=origin), form)
    new = file.with_name(f".{file.name}.new")
    try:
        new.write_bytes(document)
        new.replace(file)  # a reader of the file never sees half of it
    except OSError as fault:
        new.unlink(missing_ok=True)
        raise UsageError(f"cannot write {file}: {fault.strerror}") from None
    print(f"gossamer: {counted(len(found), 'change')} written to {file}", file=sys.stderr)
    return 0
