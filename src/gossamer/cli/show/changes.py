"""List changes, for people and for programs."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from gossamer.cli.show.change_feed import chosen_changes, write_feed
from gossamer.cli.show.colours import has_colours
from gossamer.cli.show.printable import printable
from gossamer.errors import UsageError
from gossamer.reader.change_filter import changes_wanted
from gossamer.reader.change_text import facts_text
from gossamer.reader.changes import KINDS, ChangesWanted, SeenChange, last_number
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import ChangeKind
from gossamer.transfer.change_feed import FeedFilter

_COLOURS: Final = {
    ChangeKind.NEW: 32,
    ChangeKind.CHANGED: 33,
    ChangeKind.GONE: 31,
    ChangeKind.BACK: 36,
    ChangeKind.MOVED: 35,
}
_GREY: Final = 90
_WIDTH: Final = len(ChangeKind.CHANGED)


@dataclass(frozen=True, slots=True)
class ChangesRequest:
    """What was typed."""

    since: str = ""
    until: str = ""
    site: str = ""
    kinds: str = ""
    is_oldest_first: bool = False
    with_noise: bool = False
    limit: int = 50
    as_json: bool = False
    query: str = ""
    feed: Path | None = None


def run_changes(path: Path, request: ChangesRequest) -> int:
    """Print the changes. Raises NoCollection, UsageError."""
    wanted = changes_wanted(
        request.since,
        request.until,
        request.site,
        request.kinds.lower().replace(",", " ").split(),
        with_noise=request.with_noise,
        is_newest_first=not request.is_oldest_first,
    )
    if request.feed is not None:
        return _write_feed(path, request, wanted)
    count = 0
    with CollectionReader.open(path) as reader:
        is_coloured = has_colours(sys.stdout)
        more = 0 if not request.limit else request.limit + 1
        for change in islice(chosen_changes(reader, wanted, request.query), more or None):
            count += 1
            if request.limit and count > request.limit:
                break
            if request.as_json:
                print(json.dumps({"schema": 1, **change.as_json()}, ensure_ascii=False))
            else:
                print(line_of(change, is_coloured=is_coloured))
        if not request.as_json:
            _print_note(reader, request, count)
    return 0


def _write_feed(path: Path, request: ChangesRequest, wanted: ChangesWanted) -> int:
    if request.as_json or request.is_oldest_first:
        raise UsageError("--feed cannot be used with --json or --oldest")
    assert request.feed is not None
    kinds = () if len(wanted.kinds) == len(KINDS) else tuple(wanted.kinds)
    about = FeedFilter(wanted.site, request.query.strip(), kinds)
    return write_feed(path, request.feed, wanted, about, request.limit)


def line_of(change: SeenChange, *, is_coloured: bool = False) -> str:
    """One change as one line: time, kind, URL, and what changed."""
    kind = change.kind.value.ljust(_WIDTH)
    if is_coloured:
        kind = f"\x1b[{_GREY if change.is_noise else _COLOURS[change.kind]}m{kind}\x1b[0m"
    facts = printable(facts_text(change))
    return f"{change.at}  {kind}  {printable(change.url)}" + (f"  {facts}" if facts else "")


def _print_note(reader: CollectionReader, request: ChangesRequest, count: int) -> None:
    if request.limit and count > request.limit:
        print(
            f"gossamer: the first {request.limit} are shown; --limit 0 shows all", file=sys.stderr
        )
    elif not count and not last_number(reader) and reader.counts().visits:
        print("gossamer: no changes: later visits found every page as it was", file=sys.stderr)
    elif not count and not last_number(reader):
        print(
            "gossamer: no changes yet: no page was visited twice; "
            "visit the pages again with `gossamer crawl --revisit`",
            file=sys.stderr,
        )
    elif not count:
        print("gossamer: no such changes", file=sys.stderr)
