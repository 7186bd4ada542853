"""`gossamer report`: what the owner of a site should know and mend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import Collection, Json, collection_at


def report(
    site: Annotated[
        str,
        typer.Argument(
            metavar="[SITE]",
            help="A host, a site or the beginning of URLs; without it, all that was crawled.",
            show_default=False,
        ),
    ] = "",
    collection: Collection = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="'NAME>N'",
            help="End with 10 when a figure is like that, as in 'dead>0'; may be repeated.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", metavar="FILE", help="Write a page of HTML with all tables."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Rows of each table.")
    ] = 100,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Leave out what must be read from the archive."),
    ] = False,
    json: Json = False,
) -> None:
    """Tell the owner of a site what to mend: dead links, redirects, copies, titles and more."""
    from gossamer.cli.report_shown import Wish, run_report

    wish = Wish(site, tuple(fail_on or ()), output, limit, is_quick=quick, as_json=json)
    raise typer.Exit(run_report(collection_at(collection), wish))
