"""Read what earlier runs have learned for an order by value: known URLs from the state, links from
the graph.

Reading happens in a thread if there are many URLs. Meanwhile the crawl runs in the order of the
queue on disk, which is breadth-first. Without a graph, links are counted anew from the start.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from gossamer.frontier.rows import HostRow, Standing, depth_of, standing_of, start_of
from gossamer.frontier.selection.facts import StoredUrls
from gossamer.frontier.selection.selection import Selection
from gossamer.frontier.selection.url_slots import KEY_BYTES, NONE, SlotByKey
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.graph.manifest import read
from gossamer.graph.tables import batches
from gossamer.policies.orders.columns import UrlSlots
from gossamer.policies.orders.edges import LinkBatch
from gossamer.policies.orders.url_order import UrlOrder
from gossamer.urls.keys import Keys

FEW_URLS: Final = 100_000  # are read before the first request: about a second
_AT_ONCE: Final = 5_000  # URLs or pages that the node takes over in one slice: some 10 ms
_NUMBER_BYTES: Final = 8  # at the end of a place
_LINKS: Final = "select source, target from links where source <> target"
_ANCHORS: Final = "select distinct target, anchor from links where anchor <> ''"


@dataclass(frozen=True, slots=True)
class StoredLinks:
    """Links between URLs by their places in the list of URLs, sorted by source."""

    sources: UrlSlots
    targets: UrlSlots


@dataclass(frozen=True, slots=True)
class Learned:
    """What earlier runs have learned."""

    urls: StoredUrls
    links: StoredLinks
    anchors: list[list[tuple[bytes, str]]]  # keys of targets, and texts


class Restorer:
    """Brings a selection up to the stored crawl."""

    def __init__(self, selection: Selection, store: Store, graph: Path, keys: Keys) -> None:
        self._selection = selection
        self._store = store
        self._graph = graph
        self._keys = keys

    def restore(self) -> None:
        """Do it at once."""
        for _ in self._take_over(self._read()):
            pass
        selection = self._selection
        selection.end_restoring()
        selection.order.recompute(selection.pages, selection.edges)
        selection.place_some(selection.pages.count)

    async def restore_meanwhile(self, on_moved: Callable[[], None]) -> None:
        """Do it while the crawl runs. `on_moved` is called when another URL may come first."""
        for _ in self._take_over(await asyncio.to_thread(self._read)):
            await asyncio.sleep(0)
        self._selection.end_restoring()
        while self._selection.place_some(_AT_ONCE):
            on_moved()
            await asyncio.sleep(0)
        on_moved()

    # -- reading

    def _read(self) -> Learned:
        order = self._selection.order
        urls = _stored_urls(self._store, has_urls=isinstance(order, UrlOrder))
        links, anchors = _NO_LINKS, []
        if read(self._graph).links:
            if order.uses_links:
                links = self._read_links(urls.keys)
            if self._selection.wants_anchors or self._selection.focus is not None:
                anchors = list(self._read_anchors())
        return Learned(urls, links, anchors)

    def _read_links(self, keys: bytes) -> StoredLinks:
        places = SlotByKey(max(1, len(keys) // KEY_BYTES))
        places.add(keys)
        pairs = [self._places(batch, places) for batch in batches(self._graph, _LINKS)]
        sources = np.concatenate([source for source, _ in pairs] or [_NONE])
        targets = np.concatenate([target for _, target in pairs] or [_NONE])
        is_known = (sources != NONE) & (targets != NONE)
        both = np.unique(sources[is_known].astype(np.int64) << 32 | targets[is_known])
        return StoredLinks((both >> 32).astype(np.int32), (both & 0xFFFF_FFFF).astype(np.int32))

    def _places(self, batch: Any, places: SlotByKey) -> tuple[UrlSlots, UrlSlots]:
        """Sources and targets of links as places in the list of URLs."""
        found = []
        for column in batch.columns:
            coded = column.dictionary_encode()
            keys = b"".join(map(self._keys.of, coded.dictionary.to_pylist()))
            found.append(places.find(keys)[coded.indices.to_numpy()])
        return found[0], found[1]

    def _read_anchors(self) -> Iterator[list[tuple[bytes, str]]]:
        for batch in batches(self._graph, _ANCHORS):
            targets, texts = (column.to_pylist() for column in batch.columns)
            yield list(zip(map(self._keys.of, targets), texts, strict=True))

    # -- taking over

    def _take_over(self, learned: Learned) -> Iterator[None]:
        """Tell the selection, in slices."""
        slots = np.full(len(learned.urls.depths), NONE, np.int32)
        for start in range(0, len(slots), _AT_ONCE):
            slots[start : start + _AT_ONCE] = self._selection.restore(_some(learned.urls, start))
            yield
        if self._selection.focus is not None:
            self._selection.focus.restore(self._selection.pages)
        for anchors in learned.anchors:
            self._selection.note_anchors(anchors)
            yield
        links = learned.links
        is_kept = (slots[links.sources] != NONE) & (slots[links.targets] != NONE)
        sources, targets = links.sources[is_kept], slots[links.targets[is_kept]]
        starts = np.flatnonzero(np.diff(sources, prepend=-1))
        counts = np.diff(np.append(starts, len(sources))).astype(np.int32)
        for first in range(0, len(starts), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            begin, end = int(starts[first]), int(starts[some][-1] + counts[some][-1])
            pages = slots[sources[starts[some]]]
            self._selection.learn_links(LinkBatch(pages, counts[some], targets[begin:end]))
            yield


_NONE: Final = np.zeros(0, np.int32)
_NO_LINKS: Final = StoredLinks(_NONE, _NONE)


def _stored_urls(store: Store, *, has_urls: bool) -> StoredUrls:
    """All URLs but those that were refused, in the order in which they were found."""
    keys, urls = bytearray(), list[str]()
    times, numbers, depths = array("q"), array("Q"), array("i")
    is_queued, is_fetched = bytearray(), bytearray()
    for key, row in walk(store, StateTable.URL):
        standing = standing_of(row)
        if standing in (Standing.REFUSED, Standing.REFUSED_FOR_NOW):
            continue
        start = start_of(row)
        keys += key
        times.append(start.first_us)
        numbers.append(int.from_bytes(start.place[-_NUMBER_BYTES:], "big"))
        depths.append(depth_of(row))
        is_queued.append(standing == Standing.QUEUED and bool(start.place))
        is_fetched.append(standing == Standing.FETCHED)
        if has_urls:
            urls.append(start.url)
    in_order = np.lexsort((np.array(numbers), np.array(times)))
    names = {key: HostRow.decode(row).name for key, row in walk(store, StateTable.HOST)}
    return StoredUrls(
        np.frombuffer(keys, np.uint8).reshape(-1, KEY_BYTES)[in_order].tobytes(),
        np.array(depths, np.int32)[in_order],
        np.frombuffer(is_queued, np.bool_)[in_order],
        np.frombuffer(is_fetched, np.bool_)[in_order],
        [urls[at] for at in in_order.tolist()] if has_urls else (),
        names,
    )


def _some(urls: StoredUrls, start: int) -> StoredUrls:
    """A slice of the URLs."""
    some = slice(start, start + _AT_ONCE)
    return StoredUrls(
        urls.keys[start * KEY_BYTES : (start + _AT_ONCE) * KEY_BYTES],
        urls.depths[some],
        urls.is_queued[some],
        urls.is_fetched[some],
        urls.urls[some] if urls.urls else (),
        urls.host_names,
    )
