"""Marks of a user: a stored page is relevant to the topic of a focused crawl, or it is not.

A running crawl learns at once. In a stored crawl the mark is added to its model; where there is
none, the mark begins one, and `gossamer crawl --order focus` resumes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gossamer.collection.directory import CollectionPaths, locked, open_to_write
from gossamer.errors import UsageError
from gossamer.frontier.store import StateTable
from gossamer.node.control import NotRunning, send
from gossamer.reader.collection_reader import CollectionReader


def mark_page(paths: CollectionPaths, url: str, *, is_wanted: bool) -> dict[str, Any]:
    """Mark a page; the figures of the crawl afterwards.

    Raises UsageError, NotKnown, NoCollection, CollectionInUse.
    """
    try:
        reply: Mapping[str, Any] = send(paths, "mark", url=url, relevant=is_wanted)
    except NotRunning:
        return _mark_stored(paths, url, is_wanted=is_wanted)
    if "error" in reply:
        raise UsageError(str(reply["error"]))
    return dict(reply["focus"])


def _mark_stored(paths: CollectionPaths, url: str, *, is_wanted: bool) -> dict[str, Any]:
    # imported here, because they load NumPy
    from gossamer.node.focus.stored_focus import figures_of, rows_of, stored_focus
    from gossamer.policies.focus.words import WordHasher

    if not paths.exists:
        raise paths.missing()
    with CollectionReader.open(paths.path) as reader:
        page = reader.page(url)
        words = WordHasher().page(page.title, page.text)
    if not len(words):
        raise UsageError(f"{url} has no words to learn from")
    paths.run.mkdir(exist_ok=True)
    with locked(paths):
        store = open_to_write(paths, 16)
        try:
            order = stored_focus(store)
            order.mark(words, is_wanted=is_wanted)
            store.write({table: {} for table in StateTable} | {StateTable.META: rows_of(order)})
        finally:
            store.close()
    return figures_of(order)
