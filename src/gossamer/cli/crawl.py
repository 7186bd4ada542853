"""`gossamer crawl`: start, or go on with, a crawl."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.base.garbage import search_later, search_seldom
from gossamer.cli.options import Collection, Json, collection_at


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
    dry_run: Annotated[
        bool, _option("--dry-run", "Say what would be asked first, what not, and why; ask nobody.")
    ] = False,
    json: Json = False,
) -> None:
    """Start, or go on with, a crawl. Ctrl-C stops it cleanly; the same command goes on."""
    search_later()
    from gossamer.cli.conceal import conceal_headers, conceal_urls
    from gossamer.cli.running import plan_of, run_crawl
    from gossamer.crawl.flags import FLAGS, settings_of

    search_seldom()
    conceal_headers([*(header or ()), *_headers_in(set_ or ())])
    conceal_urls([*(seeds or ()), proxy or "", *(set_ or ())])
    given: dict[str, object] = {
        "scope": scope, "include": include, "exclude": exclude, "ban": ban, "domains": domains,
        "depth": depth, "max_pages": max_pages, "max_time": max_time, "max_bytes": max_bytes,
        "max_matches": max_matches, "ascend": ascend or None, "sitemaps": sitemaps,
        "type": type, "max_body": max_body, "order": order, "delay": delay, "per_host": per_host,
        "connections": connections, "header": header, "user_agent_contact": contact,
        "cookies": cookies, "logins": logins, "proxy": proxy,
        "max_rate": max_rate, "hours": hours,
        "allow_private": allow_private, "graph": False if no_graph else None,
        "index": False if no_index else None, "workers": workers,
    }  # fmt: skip
    assert set(given) == set(FLAGS), "every short name is a flag"
    flags = settings_of({name: value for name, value in given.items() if value is not None})
    for pair in set_ or ():
        key, equals, value = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE", param_hint="--set")
        flags.update(settings_of({key.strip(): value}))
    home = collection_at(collection)
    plan = plan_of(home, _typed(seeds or [], file), flags, may_change=change)
    if dry_run:
        from gossamer.cli.foreseen import show_forecast

        show_forecast(plan, is_json=json)
        return
    code = run_crawl(plan, as_json=json)
    sys.stdout.flush()
    raise typer.Exit(code)


def _headers_in(pairs: Iterable[str]) -> list[str]:
    """The headers that `--set` names."""
    found = (pair.partition("=") for pair in pairs)
    return [h for key, _, text in found if key.strip() == "fetch.headers" for h in text.split(",")]


def _typed(seeds: list[str], file: Path | None) -> list[tuple[str, list[str]]]:
    """Where seeds come from, and their lines."""
    sources: list[tuple[str, list[str]]] = [("", [seed for seed in seeds if seed != "-"])]
    if "-" in seeds:
        sources.append(("standard input", sys.stdin.read().splitlines()))
    if file is not None:
        sources.append((os.fspath(file), []))
    return sources
