"""Objects about time: the visits of a page, the changes of a site.

JSON objects, for the API and for the pages. Lists are limited, and say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from gossamer.base.clock import exact_iso_of, iso_of
from gossamer.reader.changes import KINDS, ChangesWanted, SeenChange, changes, changes_of
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.pages import StoredCapture, times_of

MOST_CHANGES: Final = 1_000  # in one answer
MOST_COUNTED: Final = 20_000  # changes that are read for the counts by kind


# -- one page


def versions_object(reader: CollectionReader, url: str) -> dict[str, Any]:
    """Return the visits of a page, the newest first, and how many changed it. Raises NotKnown."""
    visits = visits_of(reader, url)
    counts = Counter(visit["kind"] for visit in visits)
    shown = [{name: visit[name] for name in visit if name != "at_us"} for visit in visits[::-1]]
    return {
        "schema": 1,
        "url": reader.get(url).url,
        "total": len(visits),
        "unchanged": counts["same"],
        "versions": shown,
    }


def visits_of(reader: CollectionReader, url: str) -> list[dict[str, Any]]:
    """Every visit of a page in the order of time. Raises NotKnown.

    Its `kind` is that of its change, or `first`, `noise` for a change that does not count, `same`.
    """
    captures = reader.captures(url)
    seen = changes_of(reader, url)
    visits: list[dict[str, Any]] = []
    for place, (capture, at) in enumerate(zip(captures, times_of(captures), strict=True)):
        change = seen.get(capture.at_us)
        before = captures[place - 1] if place else None
        visits.append(
            {
                "at": at,
                "at_us": capture.at_us,
                "kind": _kind(capture, before, change),
                "status": capture.status,
                "type": capture.type or None,
                "bytes": capture.size_bytes,
                "digest": capture.digest or None,
                **_amounts(change),
            }
        )
    return visits


def _kind(capture: StoredCapture, before: StoredCapture | None, change: SeenChange | None) -> str:
    if before is None:
        return "first"
    if change is not None:
        return "noise" if change.is_noise else change.kind.value
    is_same = capture.status == 304 or (
        capture.digest == before.digest and capture.status == before.status
    )
    return "same" if is_same else "changed"


def _amounts(change: SeenChange | None) -> dict[str, Any]:
    names = ("words_added", "words_removed", "links_added", "links_removed")
    if change is None:
        return {**dict.fromkeys(names, 0), "title_before": None, "target": None}
    return {
        **{name: getattr(change, name) for name in names},
        "title_before": change.title_before or None,
        "target": change.target or None,
    }


def folded(visits: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The visits as rows of a table, the newest first. Visits without a change that follow each
    other are one row, with their number and the time of the first.
    """
    rows: list[dict[str, Any]] = []
    for visit in reversed(visits):
        if rows and visit["kind"] == rows[-1]["kind"] == "same":
            rows[-1] |= {"count": rows[-1]["count"] + 1, "from": visit["at"]}
        else:
            rows.append({**visit, "count": 1, "from": visit["at"]})
    return rows


# -- the changes of a site


@dataclass(frozen=True, slots=True)
class ChangeList:
    """Changes to show, the newest first, and what is known of the others."""

    changes: tuple[SeenChange, ...]
    counts: dict[str, int]  # by kind, whichever kinds are shown
    is_count_cut: bool  # there are more than were counted
    next_us: int  # the list continues with changes up to this time; 0: there are no more


def listed_changes(
    reader: CollectionReader, wanted: ChangesWanted, limit: int, among: Collection[str] | None
) -> ChangeList:
    """The newest changes of the wanted kinds, only of the URLs `among` if that is given."""
    every = replace(wanted, kinds=KINDS)
    counts: Counter[str] = Counter()
    shown: list[SeenChange] = []
    read = 0
    for change in islice(_among(changes(reader, every), among), MOST_COUNTED + 1):
        read += 1
        counts[change.kind.value] += 1
        if change.kind.value in wanted.kinds and len(shown) <= limit:
            shown.append(change)
    next_us = shown[limit].at_us if len(shown) > limit else 0
    return ChangeList(
        tuple(shown[:limit]),
        {kind: counts[kind] for kind in KINDS},
        read > MOST_COUNTED,
        next_us,
    )


def _among(found: Iterator[SeenChange], urls: Collection[str] | None) -> Iterator[SeenChange]:
    return found if urls is None else (change for change in found if change.url in urls)


def changes_object(found: ChangeList) -> dict[str, Any]:
    """Return the changes for programs."""
    return {
        "schema": 1,
        "counts": found.counts,
        "counts_are_cut": found.is_count_cut,
        "next": exact_iso_of(found.next_us) if found.next_us else None,
        "changes": [change.as_json() for change in found.changes],
    }


def day_of(change: SeenChange) -> str:
    """The day on which a change was seen, in UTC."""
    return iso_of(change.at_us)[:10]
