"""Decide which files of the graph are merged next. Pure: gets the manifest, returns names.

Merging a row costs a microsecond. Reading the links of one URL costs a scan of all raw parts and a
few milliseconds per set. So raw parts collect until they have a million rows, or are many; then the
oldest half becomes a set, because sorting half a million rows takes 260 MB. Sixteen sets of a size
become one of the next size. With 100 links per page, a crawl of 9,000 pages merges nothing, one of
50,000 rewrites a row once, one of a million twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gossamer.graph.manifest import Manifest, MergedSet

RAW_ROWS: Final = 1_000_000
SET_ROWS: Final = RAW_ROWS // 2
_FEWEST_ROWS: Final = RAW_ROWS // 8
RAW_PARTS: Final = 64  # a slow crawl writes a small part every half minute
FAN_IN: Final = 16
MAX_ROWS: Final = 100_000_000


def next_merge(graph: Manifest, *, is_final: bool = False) -> list[str]:
    """Names of parts, or of sets, to merge into one set; empty if there is nothing to do.

    At the end of a crawl (`is_final`) fewer parts are enough, and in a large graph fewer rows:
    nothing is added for a while, and people start to read.
    """
    rows = sum(part.rows for part in graph.parts)
    enough_parts = RAW_PARTS // 4 if is_final else RAW_PARTS
    enough_rows = _FEWEST_ROWS if is_final and graph.sets else RAW_ROWS
    if rows >= enough_rows or len(graph.parts) >= enough_parts:
        return _oldest_parts(graph)
    return _alike(graph.sets)


def _oldest_parts(graph: Manifest) -> list[str]:
    names: list[str] = []
    rows = 0
    for part in graph.parts:
        # A small part joins the next one of any size: alone it would keep all others waiting.
        if rows >= _FEWEST_ROWS and rows + part.rows > SET_ROWS * 5 // 4:
            break
        names.append(part.name)
        rows += part.rows
    return names if len(names) > 1 or rows >= _FEWEST_ROWS else []


def _alike(sets: Iterable[MergedSet]) -> list[str]:
    """The sets of the lowest tier that has enough of them."""
    tiers: dict[int, list[MergedSet]] = {}
    for merged in sets:
        tiers.setdefault(_tier(merged.rows), []).append(merged)
    for tier in sorted(tiers):
        found = tiers[tier][:FAN_IN]
        if len(found) == FAN_IN and sum(merged.rows for merged in found) <= MAX_ROWS:
            return [merged.name for merged in found]
    return []


def _tier(rows: int) -> int:
    """0 for a set of raw parts, and one more for every sixteen times as many rows."""
    tier = 0
    while rows > SET_ROWS * 2:
        rows //= FAN_IN
        tier += 1
    return tier
