"""Compare two collections or two moments, and show the result for people and for programs."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from gossamer.base.plurals import counted
from gossamer.cli.show.printable import printable
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import UsageError
from gossamer.reader.change_text import amount_text
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.moments import moment_of
from gossamer.transfer.comparison import KINDS, Comparison, Difference, Side, Totals
from gossamer.transfer.comparison_files import check_comparison_file, write_comparison

_HEADINGS = {
    "new": "New pages",
    "gone": "Pages that are gone",
    "moved": "Pages that moved",
    "changed": "Changed pages",
    "status": "Other changes of the status",
}


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """What was typed."""

    a: str
    b: str
    is_quick: bool = False
    limit: int = 20
    output: Path | None = None
    as_json: bool = False


class _Listed:
    """The first differences of each kind. Passes all of them on."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.by_kind: defaultdict[str, list[Difference]] = defaultdict(list)

    def keep(self, found: Iterator[Difference]) -> Iterator[Difference]:
        for one in found:
            listed = self.by_kind[one.kind]
            if not self._limit or len(listed) < self._limit:
                listed.append(one)
            yield one


def run_compare(path: Path, request: CompareRequest) -> int:
    """Compare and print. Raises NoCollection, UsageError, CorruptFile."""
    if request.output is not None:
        check_comparison_file(request.output)
    with ExitStack() as stack:
        old, new = sides_of(path, request.a, request.b, stack)
        comparison = Comparison(old, new, is_quick=request.is_quick)
        listed = _Listed(request.limit)
        found = listed.keep(comparison.differences())
        heading = f"{old.name} and {new.name}"
        if request.output is not None:
            write_comparison(request.output, heading, found)
        else:
            for _ in found:
                pass
    if request.as_json:
        told = {kind: [one.as_json() for one in listed.by_kind[kind]] for kind in KINDS}
        sums = comparison.totals.as_json()
        print(json.dumps({"schema": 1, "a": old.name, "b": new.name, "counts": sums, **told}))
        return 0
    _print(heading, comparison.totals, listed, request)
    return 0


def sides_of(path: Path, a: str, b: str, stack: ExitStack) -> tuple[Side, Side]:
    """Open what was typed: two collections, or two moments of the one at `path`.

    Raises UsageError, NoCollection.
    """
    are_collections = [CollectionPaths(Path(text)).exists for text in (a, b)]
    if all(are_collections):
        one, other = (stack.enter_context(CollectionReader.open(Path(text))) for text in (a, b))
        return Side(one), Side(other)
    if any(are_collections):
        text = b if are_collections[0] else a
        raise UsageError(f"{text!r} is not a collection; compare two collections or two times")
    moments = [_moment(text) for text in (a, b)]
    reader = stack.enter_context(CollectionReader.open(path))
    return Side(reader, moments[0]), Side(reader, moments[1])


def _moment(text: str) -> int:
    try:
        return moment_of(text)
    except UsageError:
        raise UsageError(
            f"{text!r} is neither a collection nor a time; use a directory, a date such as "
            "2026-01-31, 7d or now"
        ) from None


def _print(heading: str, totals: Totals, listed: _Listed, request: CompareRequest) -> None:
    print(f"gossamer: {heading}", file=sys.stderr)
    for kind in KINDS:
        count = totals.by_kind[kind]
        if not count:
            continue
        print(f"{_HEADINGS[kind]}: {count:,}")
        for one in listed.by_kind[kind]:
            print(f"  {line_of(one)}")
        if count > len(listed.by_kind[kind]):
            print(f"  and {count - len(listed.by_kind[kind]):,} more")
    print(_sums(totals))
    if request.output is not None:
        print(f"gossamer: wrote {request.output}", file=sys.stderr)


def line_of(one: Difference) -> str:
    """One difference as one line."""
    facts = [
        amount_text(one.words_added, one.words_removed, "word"),
        amount_text(one.links_added, one.links_removed, "link"),
        f'title was "{one.title_before}"' if one.title_before else "",
        f"to {one.target}" if one.target else "",
    ]
    if one.status_before and one.status and one.status_before != one.status:
        facts.append(f"status {one.status_before} is {one.status} now")
    told = ", ".join(fact for fact in facts if fact)
    return printable(f"{one.url}  {told}" if told else one.url)


def _sums(totals: Totals) -> str:
    parts = [f"{counted(totals.pages_before, 'page')} before, {totals.pages_after:,} after"]
    parts.append(f"{totals.same:,} unchanged")
    if totals.noise:
        parts.append(f"{totals.noise:,} with changes of noise only")
    if totals.unreached:
        parts.append(f"{totals.unreached:,} not fetched in the second")
    words = amount_text(totals.words_added, totals.words_removed, "word")
    links = amount_text(totals.links_added, totals.links_removed, "link")
    return "; ".join(part for part in (*parts, words, links) if part)
