"""`gossamer ban` and `gossamer trust`: lines of the operator for a running or stored crawl."""

from __future__ import annotations

import json as jsons
import sys
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def ban(
    lines: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LINE...",
            help="Hosts, URL prefixes or patterns, as in a ban file.",
        ),
    ] = None,
    collection: CollectionOption = None,
    lift: Annotated[
        list[str] | None,
        typer.Option("--lift", metavar="LINE", help="Remove a ban; may be repeated."),
    ] = None,
    json: Json = False,
) -> None:
    """Ban hosts and URLs from a crawl, running or stored.

    Queued URLs that a ban covers are refused. Without arguments the bans are listed.
    """
    from gossamer.base.clock import SystemClock
    from gossamer.collection.directory import CollectionPaths
    from gossamer.node.bans import bans_of, change_bans

    paths = CollectionPaths(collection_at(collection))
    if lines or lift:
        bans = change_bans(paths, SystemClock(), lines or (), lift or ())
    else:
        bans = bans_of(paths)
    if json:
        print(jsons.dumps({"schema": 1, "bans": list(bans)}))
    elif bans:
        print("\n".join(bans))
    else:
        print("There are no bans.", file=sys.stderr)


def trust(
    lines: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LINE...",
            help="Hosts, URL prefixes or patterns, as in a ban file.",
        ),
    ] = None,
    collection: CollectionOption = None,
    lift: Annotated[
        list[str] | None,
        typer.Option("--lift", metavar="LINE", help="Trust no longer; may be repeated."),
    ] = None,
    json: Json = False,
) -> None:
    """Never refuse URLs as a learned trap, in a crawl that is running or stored.

    URLs that were refused are queued again. Without arguments the lines are listed.
    """
    from gossamer.base.clock import SystemClock
    from gossamer.collection.directory import CollectionPaths
    from gossamer.node.bans import TRUST, change_lines, lines_of

    paths = CollectionPaths(collection_at(collection))
    if lines or lift:
        trusted = change_lines(paths, SystemClock(), TRUST, lines or (), lift or ())
    else:
        trusted = lines_of(paths, TRUST)
    if json:
        print(jsons.dumps({"schema": 1, "trusted": list(trusted)}))
    elif trusted:
        print("\n".join(trusted))
    else:
        print("No URLs are trusted.", file=sys.stderr)
