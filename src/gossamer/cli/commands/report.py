"""`gossamer report`: audit a site for its owner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def report(
    site: Annotated[
        str,
        typer.Argument(
            metavar="[SITE]",
            help="A host, a site or a URL prefix; default: everything.",
            show_default=False,
        ),
    ] = "",
    collection: CollectionOption = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="'NAME>N'",
            help="Exit with code 10 when this holds, e.g. 'dead>0'; may be repeated.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", metavar="FILE", help="Write an HTML report with all tables."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Maximum number of rows per table.")
    ] = 100,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Skip the checks that read the archive."),
    ] = False,
    analysis: Annotated[
        list[str] | None,
        typer.Option(
            "--analysis",
            metavar="NAME",
            help="Add the table of a plug-in; may be repeated.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Audit a site: broken links, redirects, duplicates, titles."""
    from gossamer.cli.show.report import ReportOptions, run_report

    options = ReportOptions(
        site, tuple(fail_on or ()), output, limit,
        is_quick=quick, as_json=json, analyses=tuple(analysis or ()),
    )  # fmt: skip
    raise typer.Exit(run_report(collection_at(collection), options))
