"""Keep the first and last days of links when a graph is rebuilt from a pruned archive.

A link was first seen in a capture that a retention rule may have deleted. The old graph knows its
day. Links of captures that exist are read from the archive again; of the others, the old graph's
rows are written to the new graph, dated as they were. They change no current link, because the
newest capture of a page is never deleted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from gossamer.errors import CorruptFile
from gossamer.frontier.rows import time_key
from gossamer.frontier.store import StateTable, Store
from gossamer.graph import manifest as manifests
from gossamer.graph.arrow import pq
from gossamer.graph.manifest import PREFIX
from gossamer.graph.parts import PartWriter
from gossamer.records import Edge, LinkKind
from gossamer.urls.keys import Keys
from gossamer.workers.wire import PartWritten

_BATCH_ROWS: Final = 50_000
_TEXTS: Final = ("source", "target", "anchor", "rel", "place", "kind")
_NUMBERS: Final = ("first_us", "seen_us")

_Links = dict[tuple[str, int], list[Edge]]


def earlier_links(
    old: Path, new: Path, store: Store, keys: Keys, is_left: Callable[[str], bool]
) -> Iterator[PartWritten]:
    """Write the links of deleted captures in the graph `old` to parts of the graph `new`; yield the
    parts. `store` is the state from which they were deleted. A page or target for which `is_left`
    is false is left out. An old graph that cannot be read has none.
    """
    deleted = _Deleted(store, keys)
    writer, number = PartWriter(new), 0
    try:
        for found in _batches(old, deleted, is_left):
            for (source, at_us), edges in found.items():
                writer.add_capture(source, at_us, edges)
            if rows := writer.rows:
                number += 1
                path = writer.write(f"{PREFIX}earlier-{number:05d}")
                yield PartWritten(path.name, rows, {})
    except (CorruptFile, OSError, KeyError):
        return


class _Deleted:
    """Whether a page had a capture at a time that does not exist any more."""

    def __init__(self, store: Store, keys: Keys) -> None:
        self._store = store
        self._keys = keys
        self._known: dict[tuple[str, int], bool] = {}

    def has(self, source: str, at_us: int) -> bool:
        at = source, at_us
        if at not in self._known:
            if len(self._known) >= _BATCH_ROWS:
                self._known.clear()
            key = self._keys.of(source)
            is_known = self._store.find(StateTable.URL, key) is not None
            row = self._store.find(StateTable.CAPTURE, key + time_key(at_us))
            self._known[at] = is_known and row is None
        return self._known[at]


def _batches(old: Path, deleted: _Deleted, is_left: Callable[[str], bool]) -> Iterator[_Links]:
    manifest = manifests.read(old)
    names = [part.name for part in manifest.parts] + [one.by_source for one in manifest.sets]
    for name in names:
        with pq.ParquetFile(old / name) as file:
            columns = [one for one in (*_TEXTS, *_NUMBERS) if one in file.schema_arrow.names]
            for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
                yield _links_of(batch, deleted, is_left)


def _links_of(batch: Any, deleted: _Deleted, is_left: Callable[[str], bool]) -> _Links:
    found: defaultdict[tuple[str, int], list[Edge]] = defaultdict(list)
    values = {name: batch.column(name).to_pylist() for name in batch.schema.names}
    first = values.get("first_us", values["seen_us"])
    for row in zip(*(values[name] for name in _TEXTS), first, values["seen_us"], strict=True):
        source, target, anchor, rel, place, kind, first_us, seen_us = row
        for at_us in {first_us, seen_us}:
            if deleted.has(source, at_us) and is_left(source) and is_left(target):
                edges = found[source, at_us]
                if kind != LinkKind.CAPTURE:
                    edges.append(Edge(target, b"", anchor, rel, place, kind))
    return found
