"""Seeds that a search gave (`node/starts/`): which search, for `why` and for a rebuild.

They are seeds, and the operator did not type them: their hosts may not be private, and get none of
the operator's secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from gossamer.base.packing import pack, unpacker
from gossamer.frontier.meta_keys import POINTS_KEY
from gossamer.frontier.store import StateTable, Store

ACTION: Final = "starting points"  # in log/acts.jsonl
MOST_STORED: Final = 10_000  # of one collection; further ones are seeds without a story


class StartingPoint(Struct, frozen=True, array_like=True):
    """A result of a search that is a seed."""

    url: str  # canonical
    source: str  # the collection or engine, as typed
    query: str
    place: int  # among the results, from 1
    at_us: int


_unpack: Final = unpacker(list[StartingPoint])


def urls_of(points: Iterable[StartingPoint]) -> list[str]:
    """The URLs of starting points, each once."""
    return list(dict.fromkeys(point.url for point in points))


def stored_points(store: Store) -> list[StartingPoint]:
    """The starting points of a collection."""
    return unpack_points(store.find(StateTable.META, POINTS_KEY) or b"")


def unpack_points(packed: bytes) -> list[StartingPoint]:
    """What `pack_points` packed."""
    return _unpack(packed) if packed else []


def pack_points(before: Sequence[StartingPoint], new: Iterable[StartingPoint]) -> bytes:
    """All of them as one row of META; a URL that is found again keeps its first entry."""
    known = {point.url: point for point in (*reversed([*before, *new]),)}
    return pack([*reversed(known.values())][:MOST_STORED])


def as_action(points: Sequence[StartingPoint]) -> dict[str, Any]:
    """Points of one search as a line of the audit log."""
    first = points[0]
    urls = [point.url for point in points]
    return {"source": first.source, "query": first.query, "found": urls}


def points_in(actions: Iterable[Mapping[str, Any]]) -> Iterator[StartingPoint]:
    """The starting points in lines of the audit log."""
    for act in actions:
        found = act.get("found") if act.get("act") == ACTION else None
        if not isinstance(found, list):
            continue
        at_us = 0
        with suppress(ValueError, OverflowError):
            at_us = round(datetime.fromisoformat(str(act.get("at"))).timestamp() * 1e6)
        source, query = str(act.get("source", "")), str(act.get("query", ""))
        for place, url in enumerate(found, 1):
            if isinstance(url, str):
                yield StartingPoint(url, source, query, place, at_us)
