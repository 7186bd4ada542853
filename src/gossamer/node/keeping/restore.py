"""Read what earlier runs have learned of the importance of pages, before the first request.

The graph has the links, also those of pages that have left: only the newest capture of a page
counts there, and the rows of older ones stay. The state says which pages are there and which left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np

from gossamer.frontier.rows import Standing, UrlRow, standing_of
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.graph.manifest import read
from gossamer.graph.tables import batches
from gossamer.node.keeping.importance import NO_SLOT, LiveImportance
from gossamer.node.keeping.keeper import Keeper
from gossamer.policies.orders.columns import UrlSlots
from gossamer.records import Reason
from gossamer.urls.keys import Keys

_GOOD: Final = 200
_KNOWN: Final = 1_000_000  # URLs whose keys are held, so that they are not computed again
# The links of the last capture that had any.
_LINKS: Final = """
    with newest as (
        select source, max(seen_us) as at_us from rows where fault = '' group by source
    )
    select distinct rows.source, target from rows
    join newest on rows.source = newest.source and rows.seen_us = newest.at_us
    where fault = '' and rows.source <> target order by rows.source
"""


def restore(
    importance: LiveImportance, keeper: Keeper | None, graph: Path, store: Store, keys: Keys
) -> None:
    """Learn the links of the graph, and which pages are there. Raises CorruptFile."""
    if read(graph).links:
        _learn_links(importance, graph, keys)
    there, left = _Stored(), _Stored()
    for key, packed in walk(store, StateTable.URL):
        standing = standing_of(packed)
        if standing not in (Standing.FETCHED, Standing.REFUSED):
            continue
        row = UrlRow.decode(packed)
        if standing == Standing.FETCHED and not row.redirect:
            there.add(key, row, row.status)
        elif row.reason == Reason.EVICTED:
            left.add(key, row, _GOOD)
    slots = there.noted(importance)
    left_slots = left.noted(importance)
    if keeper is not None:
        keeper.note(slots)
        keeper.note_left(left_slots)


@dataclass(slots=True)
class _Stored:
    """Pages of the state: 150 bytes each until they are noted."""

    keys: list[bytes] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    times_us: list[int] = field(default_factory=list)

    def add(self, key: bytes, row: UrlRow, status: int) -> None:
        self.keys.append(key)
        self.statuses.append(status)
        self.times_us.append(row.at_us)

    def noted(self, importance: LiveImportance) -> UrlSlots:
        """Their slots, in the order in which they were fetched."""
        if not self.keys:
            return np.zeros(0, np.int32)
        slots = importance.note_stored(self.keys, self.statuses)
        slots = slots[np.argsort(self.times_us, kind="stable")]
        found: UrlSlots = slots[slots != NO_SLOT]
        return found


def _learn_links(importance: LiveImportance, graph: Path, keys: Keys) -> None:
    known: dict[str, bytes] = {}
    for source, pairs in groupby(_pairs(graph), key=lambda pair: pair[0]):
        targets = []
        for _, target in pairs:
            key = known.get(target)
            if key is None:
                if len(known) > _KNOWN:
                    known.clear()
                key = known[target] = keys.of(target)
            targets.append(key)
        importance.learn(keys.of(source), targets, b"", _GOOD)
        if importance.is_full:
            importance.settle()
    importance.settle()


def _pairs(graph: Path) -> Iterator[tuple[str, str]]:
    for batch in batches(graph, _LINKS):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
