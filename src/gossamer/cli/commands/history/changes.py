"""`gossamer changes`: list what visits found new, changed, gone, back or moved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def changes(
    collection: CollectionOption = None,
    since: Annotated[
        str,
        typer.Option(
            "--since", metavar="D", help="Only changes since 7d, yesterday, a date or a time."
        ),
    ] = "",
    until: Annotated[
        str, typer.Option("--until", metavar="D", help="Only changes until that time.")
    ] = "",
    site: Annotated[
        str, typer.Option("--site", metavar="HOST", help="Only of this host and its subdomains.")
    ] = "",
    kind: Annotated[
        str,
        typer.Option(
            "--kind", metavar="KINDS", help="Only these: new, changed, gone, back, moved."
        ),
    ] = "",
    oldest: Annotated[
        bool, typer.Option("--oldest", help="Show the oldest first, not the newest.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Also show changes of noise: counters, dates, adverts.")
    ] = False,
    limit: Annotated[
        int,
        typer.Option("--limit", metavar="N", min=0, help="Number of changes; 0: all of them."),
    ] = 50,
    query: Annotated[
        str,
        typer.Option("--query", metavar="Q", help="Only of pages that match this search now."),
    ] = "",
    feed: Annotated[
        Path | None,
        typer.Option(
            "--feed", metavar="FILE", help="Write a feed: FILE.atom (or .xml) or FILE.json."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List what visits found new, changed, gone, back or moved.

    The first crawl of a collection finds no changes. They begin with the first second visit.
    """
    from gossamer.cli.show.changes import ChangesRequest, run_changes

    request = ChangesRequest(
        since=since,
        until=until,
        site=site,
        kinds=kind,
        is_oldest_first=oldest,
        with_noise=all_,
        limit=limit,
        as_json=json,
        query=query,
        feed=feed,
    )
    raise typer.Exit(run_changes(collection_at(collection), request))
