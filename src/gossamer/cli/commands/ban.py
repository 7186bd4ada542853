"""`gossamer ban`: ban URLs and hosts from a running or stored crawl."""

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
