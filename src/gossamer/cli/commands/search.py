"""`gossamer search`: search pages, for people or as JSON."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def search(
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help='Words, "exact words", "near words"~5, a OR b, -not, (groups), prefix*, and '
            "title: anchor: site: url: type: lang: since: changed:.",
            show_default=False,
        ),
    ],
    collection: CollectionOption = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="Number of hits to show.")
    ] = 10,
    offset: Annotated[
        int, typer.Option("--offset", metavar="N", help="Number of hits to skip.")
    ] = 0,
    site: Annotated[
        str, typer.Option("--site", metavar="HOST", help="Only pages of this host or domain.")
    ] = "",
    type: Annotated[
        str,
        typer.Option("--type", metavar="T", help="Only this type: html, pdf, ..., or a MIME type."),
    ] = "",
    lang: Annotated[
        str, typer.Option("--lang", metavar="L", help="Only pages in this language, e.g. de.")
    ] = "",
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="D",
            help="Only pages whose version was fetched since this date, e.g. 2026-01-31 or 7d.",
        ),
    ] = "",
    changed: Annotated[
        str,
        typer.Option(
            "--changed",
            metavar="D",
            help="Only pages that a later visit found changed since this date, e.g. 2026-01-31 or "
            "7d; no new pages.",
        ),
    ] = "",
    sort: Annotated[
        str,
        typer.Option(
            "--sort", metavar="ORDER", help="By relevance, or by date with the newest first."
        ),
    ] = "relevance",
    per_site: Annotated[
        int,
        typer.Option("--per-site", metavar="N", help="Maximum number of hits per site; 0: all."),
    ] = 0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how each score is computed.")
    ] = False,
    copies: Annotated[
        bool, typer.Option("--copies", help="Show all duplicates; else one of each.")
    ] = False,
    json: Json = False,
) -> None:
    """Search the collected pages: text, titles and anchor texts."""
    from gossamer.cli.show.hits import run_search
    from gossamer.search.results import Request, sort_of

    request = Request(
        query=" ".join(query),
        limit=limit,
        offset=offset,
        site=site,
        type=type,
        lang=lang,
        since=since,
        changed=changed,
        sort=sort_of(sort),
        per_site=per_site,
        explain=explain,
        all_copies=copies,
    )
    run_search(collection_at(collection), request, as_json=json)
