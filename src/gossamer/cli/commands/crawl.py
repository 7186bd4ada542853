"""`gossamer crawl`: its flags. `plain.py` has a second table of them for quick parsing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.options import CollectionOption, Json
from gossamer.cli.run.start_crawl import begin


def _option(name: str, help: str, metavar: str = "", panel: str = "") -> Any:
    return typer.Option(
        name, help=help, metavar=metavar or None, show_default=False,
        rich_help_panel=panel or None,
    )  # fmt: skip


def crawl(
    seeds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SEED...",
            help="URLs to start at, with or without https://; `-` reads them from stdin.",
        ),
    ] = None,
    collection: CollectionOption = None,
    file: Annotated[Path | None, _option("-f", "A file of seeds, one per line.", "FILE")] = None,
    scope: Annotated[
        str | None,
        _option(
            "--scope",
            "Which URLs belong to the crawl: page, prefix, host, site, list, any.",
            "KIND",
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        _option("--include", "Crawl only URLs that match; may be repeated.", "PAT"),
    ] = None,
    exclude: Annotated[
        list[str] | None, _option("--exclude", "Skip URLs that match; may be repeated.", "PAT")
    ] = None,
    ban: Annotated[
        list[str] | None,
        _option("--ban", "A file of banned hosts, URL prefixes and patterns.", "FILE"),
    ] = None,
    domains: Annotated[
        str | None, _option("--domains", "A file of domains for --scope list.", "FILE")
    ] = None,
    depth: Annotated[
        int | None, _option("--depth", "How many links to follow from a seed; -1: no limit.", "N")
    ] = None,
    ascend: Annotated[
        bool, _option("--ascend", "Request the directories above each page, too.")
    ] = False,
    sitemaps: Annotated[
        str | None,
        _option("--sitemaps", "Which sitemaps to request: robots, always, never.", "WHICH"),
    ] = None,
    max_pages: Annotated[
        int | None, _option("--max-pages", "Stop after N pages; 0: no limit.", "N")
    ] = None,
    max_time: Annotated[
        float | None, _option("--max-time", "Stop after S seconds; 0: no limit.", "S")
    ] = None,
    max_bytes: Annotated[
        int | None, _option("--max-bytes", "Stop after N bytes; 0: no limit.", "N")
    ] = None,
    max_matches: Annotated[
        int | None,
        _option("--max-matches", "Stop after N pages of the wanted --type; 0: no limit.", "N"),
    ] = None,
    keep_best: Annotated[
        int | None,
        _option("--keep-best", "Keep only the N most important pages; 0: all.", "N"),
    ] = None,
    threshold: Annotated[
        float | None,
        _option("--threshold", "Stop when no more pages of importance G are expected.", "G"),
    ] = None,
    importance: Annotated[
        str | None,
        _option("--importance", "Importance is: backlinks, pagerank, best.", "METRIC"),
    ] = None,
    type: Annotated[
        str | None,
        _option("--type", "What to keep: html, text, pdf, image, audio, video, any, MIME.", "LIST"),
    ] = None,
    list_only: Annotated[
        bool, _option("--list-only", "Do not take files of the wanted types, only list them.")
    ] = False,
    max_body: Annotated[
        int | None, _option("--max-body", "Refuse larger responses.", "BYTES")
    ] = None,
    order: Annotated[
        str | None,
        _option(
            "--order",
            "Order of requests: best, breadth, depth, backlinks, pagerank, opic, location, "
            'similarity, focus, visits, random, plug-ins, or a mix: "0.6 focus + 0.4 pagerank".',
            "ORDER",
        ),
    ] = None,
    query: Annotated[
        str | None, _option("--query", "Words for the orders similarity and focus.", "WORDS")
    ] = None,
    like: Annotated[
        list[str] | None,
        _option(
            "--like",
            "An example for the order focus: a file, a folder or a URL; may be repeated.",
            "FILE|URL|DIR",
        ),
    ] = None,
    model: Annotated[
        str | None,
        _option("--model", "For the order focus: a model of an earlier crawl.", "FILE"),
    ] = None,
    start_from: Annotated[
        list[str] | None,
        _option(
            "--start-from",
            "Search for --query there, and begin with the results: a collection, or the URL of a "
            "search engine with {query}; may be repeated.",
            "DIR|URL",
        ),
    ] = None,
    visits: Annotated[
        str | None,
        _option("--visits", "Access log, or URLs with numbers, for the order visits.", "FILE"),
    ] = None,
    duplicates: Annotated[
        str | None,
        _option("--duplicates", "Which pages are duplicates: none, exact, html95, near.", "MODE"),
    ] = None,
    delay: Annotated[
        float | None, _option("--delay", "Delay between two requests to a host, in seconds.", "S")
    ] = None,
    per_host: Annotated[
        int | None, _option("--per-host", "Parallel requests to one host; needs --delay 0.", "N")
    ] = None,
    connections: Annotated[
        int | None, _option("--connections", "Parallel requests to all hosts together.", "N")
    ] = None,
    workers: Annotated[
        int | None,
        _option(
            "--workers", "Worker processes; by default as many as cores and scope suggest.", "N"
        ),
    ] = None,
    header: Annotated[
        list[str] | None, _option("--header", "A request header to add; may be repeated.", "'K: V'")
    ] = None,
    max_rate: Annotated[
        int | None,
        _option("--max-rate", "Maximum bytes per second, all hosts together.", "BYTES/s"),
    ] = None,
    rate: Annotated[
        str | None,
        _option("--rate", "Maximum requests per second, all hosts together: 5/s, 100/h.", "N/s"),
    ] = None,
    forever: Annotated[
        bool, _option("--forever", "Run without end: visit known pages again, and find new ones.")
    ] = False,
    refresh: Annotated[
        str | None,
        _option(
            "--refresh",
            "How --forever shares its visits: uniform, proportional, optimal.",
            "POLICY",
        ),
    ] = None,
    revisit: Annotated[
        bool, _option("--revisit", "Visit every known page once more, and what is new there.")
    ] = False,
    older_than: Annotated[
        str | None,
        _option("--older-than", "With --revisit: only pages not visited for 90s, 12h, 7d.", "TIME"),
    ] = None,
    site: Annotated[
        str | None, _option("--site", "With --revisit: only pages of this host.", "HOST")
    ] = None,
    match: Annotated[
        list[str] | None,
        _option("--match", "With --revisit: only URLs that match; may be repeated.", "PAT"),
    ] = None,
    hours: Annotated[
        str | None, _option("--hours", "Local hours in which to send requests, e.g. 22-6.", "HOURS")
    ] = None,
    cookies: Annotated[
        str | None,
        _option("--cookies", "A file of cookies to start with (Netscape format).", "FILE"),
    ] = None,
    logins: Annotated[
        str | None,
        _option("--logins", "A file of logins, each for one host (netrc format).", "FILE"),
    ] = None,
    proxy: Annotated[
        str | None, _option("--proxy", "Proxy for all hosts: http, https, socks4, socks5.", "URL")
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
    no_index: Annotated[bool, _option("--no-index", "Build no search index.")] = False,
    no_graph: Annotated[bool, _option("--no-graph", "Build no link graph.")] = False,
    set_: Annotated[
        list[str] | None,
        _option("--set", "Any other setting, see docs/settings.md; may be repeated.", "KEY=VALUE"),
    ] = None,
    change: Annotated[
        bool, _option("--change", "Resume a stored crawl with another scope or URL form.")
    ] = False,
    add: Annotated[bool, _option("--add", "Let a seed of a new site join the collection.")] = False,
    dry_run: Annotated[
        bool, _option("--dry-run", "Show which requests would come first; send none.")
    ] = False,
    json: Json = False,
) -> None:
    """Start or resume a crawl. Ctrl-C stops it cleanly; the same command resumes it."""
    raise typer.Exit(begin(locals()))
