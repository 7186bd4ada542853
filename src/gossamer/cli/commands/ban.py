"""`gossamer ban` and `gossamer trust`: lines of the operator for a running or stored crawl."""

from __future__ import annotations

import json as jsons
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at

if TYPE_CHECKING:
    from gossamer.node.bans import LineKind

_Lines = Annotated[
    list[str] | None,
    typer.Argument(metavar="LINE...", help="Hosts, URL prefixes or patterns, as in a ban file."),
]
_Lifted = Annotated[
    list[str] | None,
    typer.Option("--lift", metavar="LINE", help="Remove a line; may be repeated."),
]


def ban(
    lines: _Lines = None,
    collection: CollectionOption = None,
    lift: _Lifted = None,
    json: Json = False,
) -> None:
    """Ban hosts and URLs from a crawl, running or stored.

    Queued URLs that a ban covers are refused. Without arguments the bans are listed.
    """
    from gossamer.node.bans import BAN

    found = _changed(BAN, collection, lines or (), lift or ())
    _print(BAN, found, "There are no bans.", as_json=json)


def trust(
    lines: _Lines = None,
    collection: CollectionOption = None,
    lift: _Lifted = None,
    json: Json = False,
) -> None:
    """Never refuse URLs as a learned trap, in a crawl that is running or stored.

    URLs that were refused are queued again. Without arguments the lines are listed.
    """
    from gossamer.node.bans import TRUST

    found = _changed(TRUST, collection, lines or (), lift or ())
    _print(TRUST, found, "No URLs are trusted.", as_json=json)


def _changed(
    kind: LineKind, collection: Path | None, lines: Sequence[str], lift: Sequence[str]
) -> Sequence[str]:
    """Add and remove lines; all of them afterwards."""
    from gossamer.base.clock import SystemClock
    from gossamer.collection.directory import CollectionPaths
    from gossamer.node.bans import change_lines, lines_of

    paths = CollectionPaths(collection_at(collection))
    if not lines and not lift:
        return lines_of(paths, kind)
    return change_lines(paths, SystemClock(), kind, lines, lift)


def _print(kind: LineKind, lines: Sequence[str], none: str, *, as_json: bool) -> None:
    if as_json:
        print(jsons.dumps({"schema": 1, kind.listed: list(lines)}))
    elif lines:
        print("\n".join(lines))
    else:
        print(none, file=sys.stderr)
