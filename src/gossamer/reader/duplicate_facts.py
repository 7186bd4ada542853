"""What the state says about duplicates of one page."""

from __future__ import annotations

from typing import Final, NamedTuple

from gossamer.frontier.duplicates.pointers import first_of, others_of
from gossamer.frontier.rows import url_in
from gossamer.frontier.store import StateTable, Store

_MOST_COUNTED: Final = 10_000


class DuplicateFacts(NamedTuple):
    """The page that this one is a duplicate of, if it is one, and how many are duplicates of it."""

    of: str = ""  # URL
    similarity: float = 0.0
    copies: int = 0  # at most `_MOST_COUNTED`


NO_DUPLICATES: Final = DuplicateFacts()


def duplicate_facts(store: Store, key: bytes) -> DuplicateFacts:
    """The facts of a page by its key."""
    pointer = first_of(store, key)
    if pointer is None:
        return DuplicateFacts(copies=len(others_of(store, key, _MOST_COUNTED)))
    row = store.find(StateTable.URL, pointer.first)
    return DuplicateFacts(url_in(row) if row else "", pointer.similarity)
