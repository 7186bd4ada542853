"""The commands that read a collection: why, page, versions, export, verify, rebuild, doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, Url, collection_at


def why(url: Url, collection: CollectionOption = None, json: Json = False) -> None:
    """Explain a URL: how it was found, its outcome and the reason."""
    from gossamer.cli.commands.why import run_why

    raise typer.Exit(run_why(collection_at(collection), url, as_json=json))


def page(
    url: Url,
    collection: CollectionOption = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="TIME", help="Show the version of that time; default: the newest."
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Show its text (the default).")] = False,
    html: Annotated[bool, typer.Option("--html", help="Show its source as stored.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Show it as Markdown.")] = False,
    headers: Annotated[bool, typer.Option("--headers", help="Show the response headers.")] = False,
    main: Annotated[
        bool,
        typer.Option(
            "--main", help="Show only the main content, without menus; for text and Markdown."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Show a stored page."""
    from gossamer.cli.commands.page import PageRequest, run_page

    forms = {"text": text, "html": html, "markdown": markdown, "headers": headers}
    wanted = [name for name, is_wanted in forms.items() if is_wanted]
    if len(wanted) > 1:
        raise typer.BadParameter(f"--{wanted[0]} and --{wanted[1]} exclude each other")
    form = wanted[0] if wanted else "text"
    if main and form not in ("text", "markdown"):
        raise typer.BadParameter(f"--main and --{form} exclude each other")
    options = PageRequest(form, is_main=main, as_json=json)
    raise typer.Exit(run_page(collection_at(collection), url, options, at=at))


def versions(url: Url, collection: CollectionOption = None, json: Json = False) -> None:
    """List the versions of a URL, with what changed and the visits without a change."""
    from gossamer.cli.commands.versions import run_versions

    raise typer.Exit(run_versions(collection_at(collection), url, as_json=json))


def export(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="pages, links, hosts, anchors, refused, text, captures, graph, all, warc or wacz.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "-o",
            metavar="FILE",
            help="Tables: .jsonl, .csv, .parquet, or DIR/ for Parquet files; graph: also .gexf, "
            ".graphml, .net; archive: .warc.gz, .wacz; `-`: stdout.",
        ),
    ] = "-",
    level: Annotated[
        str,
        typer.Option(
            "--level", metavar="LEVEL", help="For links, anchors, graph: page, host or site."
        ),
    ] = "page",
    prefix: Annotated[
        str,
        typer.Option(
            "--prefix", metavar="URL", help="For warc, wacz: only URLs that begin with this."
        ),
    ] = "",
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            "--outcome",
            metavar="OUTCOME",
            help="For pages: queued, fetched, failed or refused; may be repeated.",
        ),
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status", metavar="STATUS", help="For pages: 404, 4xx or 200-299; may be repeated."
        ),
    ] = None,
    columns: Annotated[
        str,
        typer.Option(
            "--columns", metavar="NAMES", help="Only these columns, e.g. url,status,title."
        ),
    ] = "",
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="In .csv: do not escape texts that a spreadsheet would run as a formula.",
        ),
    ] = False,
    format: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAME", help="Tables: the format of a plug-in, in any file."
        ),
    ] = "",
    collection: CollectionOption = None,
) -> None:
    """Export tables of the collection, or its archive, to files."""
    from gossamer.cli.commands.export import ExportRequest, run_export
    from gossamer.transfer.export_choice import Choice

    wanted = ExportRequest(
        what=what,
        output=output,
        level=level,
        prefix=prefix,
        is_exact=exact,
        choice=Choice.of(outcome or (), status or (), [columns]),
        format=format,
    )
    raise typer.Exit(run_export(collection_at(collection), wanted))


def verify(collection: CollectionOption = None, json: Json = False) -> None:
    """Check all files of a collection; name problems and fixes."""
    from gossamer.cli.commands.verify import run_verify

    raise typer.Exit(run_verify(collection_at(collection), as_json=json))


def doctor(collection: CollectionOption = None, json: Json = False) -> None:
    """Check this machine and the collection."""
    from gossamer.cli.commands.doctor import run_doctor

    raise typer.Exit(run_doctor(collection_at(collection), as_json=json))


def rebuild(
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="archive, graph, index, state or all.")
    ],
    collection: CollectionOption = None,
    without_lost: Annotated[
        bool,
        typer.Option(
            "--without-lost",
            help="With all: leave out the lost and damaged parts of the archive, and list them.",
        ),
    ] = False,
) -> None:
    """Rebuild links, index or state from the archive and the log."""
    import sys

    from gossamer.base.clock import SystemClock
    from gossamer.collection.directory import CollectionPaths
    from gossamer.upkeep.rebuild import rebuild as make_again

    paths = CollectionPaths(collection_at(collection))
    clock = SystemClock()
    make_again(
        paths, what, clock, lambda text: print(text, file=sys.stderr), without_lost=without_lost
    )
    print(f"Rebuilt {what} of {paths.path}.", file=sys.stderr)
