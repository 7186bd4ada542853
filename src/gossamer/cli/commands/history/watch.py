"""`gossamer watch`: its flags."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gossamer.cli.options import CollectionOption, Json


def _option(name: str, help: str, metavar: str = "") -> Any:
    return typer.Option(name, help=help, metavar=metavar or None, show_default=False)


def watch(
    seeds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL...", help="Sites to watch, with or without https://; none: those stored."
        ),
    ] = None,
    collection: CollectionOption = None,
    every: Annotated[
        str,
        typer.Option(
            "--every",
            metavar="D|auto",
            help="Visit each page this often: 90s, 5m, 1h, 7d; auto: as often as it changes.",
        ),
    ] = "auto",
    once: Annotated[
        bool, _option("--once", "Visit each page once, print the changes and end, as for cron.")
    ] = False,
    scope: Annotated[
        str | None,
        _option("--scope", "What to watch: page, prefix, host, site, list, any.", "KIND"),
    ] = None,
    include: Annotated[
        list[str] | None,
        _option("--include", "Watch only URLs that match; may be repeated.", "PAT"),
    ] = None,
    exclude: Annotated[
        list[str] | None, _option("--exclude", "Skip URLs that match; may be repeated.", "PAT")
    ] = None,
    depth: Annotated[
        int | None, _option("--depth", "How many links to follow from a seed; -1: no limit.", "N")
    ] = None,
    max_pages: Annotated[
        int | None, _option("--max-pages", "Watch at most N pages; 0: no limit.", "N")
    ] = None,
    max_time: Annotated[
        float | None, _option("--max-time", "Stop after S seconds; 0: no limit.", "S")
    ] = None,
    rate: Annotated[
        str | None,
        _option("--rate", "Maximum requests per second, all hosts together: 5/s, 100/h.", "N/s"),
    ] = None,
    delay: Annotated[
        float | None, _option("--delay", "Delay between two requests to a host, in seconds.", "S")
    ] = None,
    contact: Annotated[
        str | None,
        _option(
            "--user-agent-contact",
            "Your mail address or web page, sent to site owners.",
            "MAIL|URL",
        ),
    ] = None,
    allow_private: Annotated[
        list[str] | None,
        _option(
            "--allow-private", "A private network that links may lead to; may be repeated.", "CIDR"
        ),
    ] = None,
    webhook: Annotated[
        str | None,
        _option("--webhook", "Send the changes seen to this URL, as JSON by POST.", "URL"),
    ] = None,
    run: Annotated[
        str | None,
        _option("--run", "Run this program with the changes seen as JSON on stdin.", "COMMAND"),
    ] = None,
    set_: Annotated[
        list[str] | None,
        _option("--set", "Any other setting, see docs/settings.md; may be repeated.", "KEY=VALUE"),
    ] = None,
    change: Annotated[
        bool, _option("--change", "Resume with another scope or URL form than stored.")
    ] = False,
    add: Annotated[bool, _option("--add", "Let a new site join the collection.")] = False,
    json: Json = False,
) -> None:
    """Visit pages again without end, and print each change as it is seen. Ctrl-C ends it; the same
    command resumes it."""
    given = locals()  # before the import, whose name would be among the flags
    from gossamer.cli.run.start_watch import begin_watch

    raise typer.Exit(begin_watch(given))
