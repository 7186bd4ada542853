"""Show one of several duplicates, and say how many copies there are.

The table of duplicates is in the state (`frontier/duplicates/pointers.py`). Of the duplicates that
match a query one is shown: the first page if it matches, else the one with the smallest key. The
others are excluded before the query runs, so totals and further pages of results are right.

With more than `_FEW` duplicates in a collection that would take too long for each query. Then only
the candidates are looked up and folded, and the total is estimated from them.

Without a state, or while it is being replaced, nothing is folded.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import tantivy

from gossamer.errors import GossamerError
from gossamer.index import schema
from gossamer.index.batches import keys_of
from gossamer.index.entry import Kept
from gossamer.index.reader import View
from gossamer.search.plan import Score

if TYPE_CHECKING:
    from gossamer.frontier.store import Store
    from gossamer.reader.state import PresentState

_FEW: Final = 5_000  # pointers; reading them takes 10 ms, a query with them 2 ms more
_MOST_MEMBERS: Final = 10_000  # matching pages that are duplicates or have some
_MOST_COUNTED: Final = 1_000  # copies of one page

_MUST: Final = tantivy.Occur.Must
_MUST_NOT: Final = tantivy.Occur.MustNot


@dataclass(frozen=True, slots=True)
class DuplicateSnapshot:
    """The duplicates of a collection at one moment."""

    store: Store | None = None
    count: int = 0
    first_of: Mapping[bytes, bytes] | None = None  # all of them, where they are few
    members: tantivy.Query | None = None  # finds them, and the pages that they point to

    @property
    def is_many(self) -> bool:
        """Whether only candidates can be folded."""
        return self.count > 0 and self.first_of is None

    def excluding(self, view: View, query: tantivy.Query) -> tantivy.Query:
        """The query without pages of which another copy matches."""
        if self.members is None or self.first_of is None:
            return query
        both = tantivy.Query.boolean_query([(_MUST, query), (_MUST, self.members)])
        matches, _ = view.search(both, _MOST_MEMBERS)
        keys = keys_of(view.searcher, [match.address for match in matches])
        ids = [schema.id_of(key) for key in _hidden_copies(keys, self.first_of)]
        if not ids:
            return query
        hidden = tantivy.Query.term_set_query(view.schema, schema.ID, ids)
        return tantivy.Query.boolean_query([(_MUST, query), (_MUST_NOT, hidden)])

    def group_of(self, keys: Sequence[bytes]) -> list[bytes]:
        """For each page the first page of its duplicates, which may be itself."""
        if self.first_of is not None or self.store is None:
            known = self.first_of or {}
            return [known.get(key, key) for key in keys]
        from gossamer.frontier.rows import DuplicateRow
        from gossamer.frontier.store import StateTable

        rows = self.store.find_many(StateTable.DUPLICATE, keys)
        return [
            DuplicateRow.decode(row).first if row else key
            for key, row in zip(keys, rows, strict=True)
        ]

    def copies_of(self, key: bytes) -> int:
        """How many other copies of a page there are, at most `_MOST_COUNTED`."""
        if self.store is None or not self.count:
            return 0
        from gossamer.frontier.duplicates.pointers import others_of

        [first] = self.group_of([key])
        return len(others_of(self.store, first, _MOST_COUNTED))


NO_DUPLICATES: Final = DuplicateSnapshot()


class DuplicateReader:
    """Reads the table of duplicates of one collection. Many threads may use it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._state: PresentState | None = None
        self._lock = threading.Lock()

    def read(self, view: View) -> DuplicateSnapshot:
        """The duplicates as they are now; none if the state cannot be read."""
        if not (self._folder / "state").exists():
            return NO_DUPLICATES
        try:
            with self._lock:
                return self._read(view)
        except (GossamerError, OSError):
            return NO_DUPLICATES  # other commands say what is wrong with the state

    def _read(self, view: View) -> DuplicateSnapshot:
        # imported here, because RocksDB takes 20 ms to load
        from gossamer.collection.directory import CollectionPaths
        from gossamer.frontier.counts import Counts
        from gossamer.frontier.duplicates.pointers import all_pointers
        from gossamer.frontier.meta_keys import COUNTS_KEY
        from gossamer.frontier.store import StateTable
        from gossamer.reader.state import PresentState

        if self._state is None:
            self._state = PresentState(CollectionPaths(self._folder))
        store = self._state.store
        store.refresh()
        count = Counts.decode(store.find(StateTable.META, COUNTS_KEY)).duplicates
        if not count or count > _FEW:
            return DuplicateSnapshot(store, count)
        first_of = {key: row.first for key, row in all_pointers(store)}
        ids = [schema.id_of(key) for key in {*first_of, *first_of.values()}]
        members = tantivy.Query.term_set_query(view.schema, schema.ID, ids) if ids else None
        return DuplicateSnapshot(store, count, first_of, members)


def folded(
    found: Sequence[tuple[Kept, Score]], total: int, duplicates: DuplicateSnapshot
) -> tuple[list[tuple[Kept, Score]], int]:
    """The candidates with one of each group, and the total, estimated if there are more."""
    groups = duplicates.group_of([kept.key for kept, _ in found])
    first_at = dict(zip(reversed(groups), range(len(found) - 1, -1, -1), strict=True))
    shown = [one for at, one in enumerate(found) if first_at[groups[at]] == at]
    return shown, round(total * len(shown) / len(found)) if found else total


def _hidden_copies(keys: Iterable[bytes], first_of: Mapping[bytes, bytes]) -> list[bytes]:
    """Of the matching pages those that are not shown: all but one of each group."""
    groups: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for key in keys:
        groups[first_of.get(key, key)].append(key)
    hidden: list[bytes] = []
    for first, members in groups.items():
        shown = first if first in members else min(members)
        hidden += (key for key in members if key != shown)
    return hidden
