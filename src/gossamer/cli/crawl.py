"""`gossamer crawl`: its flags. What they mean where they are plainly typed says `plain.py`, too."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.begin import begin
from gossamer.cli.options import Collection, Json


def _option(name: str, help: str, metavar: str = "", panel: str = "") -> Any:
    return typer.Option(
        name, help=help, metavar=metavar or None, show_default=False,
        rich_help_panel=panel or None,
    )  # fmt: skip


def crawl(
    seeds: Annotated[
        list[str] | None,
        typer.Argument(metavar="SEED...", help="URLs to start at; `-` reads them from stdin."),
    ] = None,
    collection: Collection = None,
    file: Annotated[Path | None, _option("-f", "A file of seeds, one a line.", "FILE")] = None,
    scope: Annotated[
        str | None,
        _option("--scope", "How far to go: page, prefix, host, site, list, any.", "KIND"),
    ] = None,
    include: Annotated[
        list[str] | None, _option("--include", "Only URLs that match; may be repeated.", "PAT")
    ] = None,
    exclude: Annotated[
        list[str] | None, _option("--exclude", "No URLs that match; may be repeated.", "PAT")
    ] = None,
    ban: Annotated[
        list[str] | None, _option("--ban", "A file of banned hosts, prefixes, patterns.", "FILE")
    ] = None,
    domains: Annotated[
        str | None, _option("--domains", "A file of domains, for --scope list.", "FILE")
    ] = None,
    depth: Annotated[
        int | None, _option("--depth", "Links to follow from a seed; -1: no limit.", "N")
    ] = None,
    ascend: Annotated[
        bool, _option("--ascend", "Ask for the directories above each page, too.")
    ] = False,
    sitemaps: Annotated[
        str | None, _option("--sitemaps", "Sitemaps to ask for: robots, always, never.", "WHICH")
    ] = None,
    max_pages: Annotated[
        int | None, _option("--max-pages", "Stop after so many pages; 0: no limit.", "N")
    ] = None,
    max_time: Annotated[
        float | None, _option("--max-time", "Stop after so many seconds.", "S")
    ] = None,
    max_bytes: Annotated[
        int | None, _option("--max-bytes", "Stop after so many bytes.", "N")
    ] = None,
    max_matches: Annotated[
        int | None, _option("--max-matches", "Stop after so many pages of the --type.", "N")
    ] = None,
    type: Annotated[
        str | None,
        _option("--type", "What to take: html, text, pdf, image, audio, video, any, MIME.", "LIST"),
    ] = None,
    max_body: Annotated[int | None, _option("--max-body", "Refuse larger bodies.", "BYTES")] = None,
    order: Annotated[str | None, _option("--order", "breadth or depth.", "ORDER")] = None,
    delay: Annotated[
        float | None, _option("--delay", "Rest of a host after an answer.", "S")
    ] = None,
    per_host: Annotated[
        int | None, _option("--per-host", "Requests at once to a host, with --delay 0.", "N")
    ] = None,
    connections: Annotated[
        int | None, _option("--connections", "Requests at once in all.", "N")
    ] = None,
    workers: Annotated[
        int | None, _option("--workers", "Worker processes; default: by cores and scope.", "N")
    ] = None,
    header: Annotated[
        list[str] | None, _option("--header", "A request header to add.", "'K: V'")
    ] = None,
    max_rate: Annotated[
        int | None, _option("--max-rate", "Bytes a second, all hosts together.", "BYTES/s")
    ] = None,
    hours: Annotated[
        str | None, _option("--hours", "Local hours in which to ask, as 22-6.", "HOURS")
    ] = None,
    cookies: Annotated[
        str | None, _option("--cookies", "A file of cookies to begin with.", "FILE")
    ] = None,
    logins: Annotated[
        str | None, _option("--logins", "A file of logins, each for one host.", "FILE")
    ] = None,
    proxy: Annotated[
        str | None, _option("--proxy", "A proxy for all hosts: http, https, socks4, socks5.", "URL")
    ] = None,
    contact: Annotated[
        str | None,
        _option("--user-agent-contact", "Whom site owners may turn to.", "MAIL|URL"),
    ] = None,
    allow_private: Annotated[
        list[str] | None, _option("--allow-private", "A private network links may lead to.", "CIDR")
    ] = None,
    no_index: Annotated[bool, _option("--no-index", "Make nothing searchable.")] = False,
    no_graph: Annotated[bool, _option("--no-graph", "Keep no links.")] = False,
    set_: Annotated[
        list[str] | None, _option("--set", "Any other setting, as KEY=VALUE.", "KEY=VALUE")
    ] = None,
    change: Annotated[
        bool, _option("--change", "Go on with another scope or normal form.")
    ] = False,
    add: Annotated[
        bool, _option("--add", "Crawl a seed of a new site into the same collection.")
    ] = False,
    dry_run: Annotated[
        bool, _option("--dry-run", "Say what would be asked first, what not, and why; ask nobody.")
    ] = False,
    json: Json = False,
) -> None:
    """Start, or go on with, a crawl. Ctrl-C stops it cleanly; the same command goes on."""
    raise typer.Exit(begin(locals()))
