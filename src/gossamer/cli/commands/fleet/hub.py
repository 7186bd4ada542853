"""`gossamer hub`: the control unit of a fleet."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.commands.fleet.hub_app import HubOption, hub_app, hub_directory
from gossamer.cli.options import Json


def hub_at(folder: Path | None) -> Any:
    """The directory that is meant."""
    from gossamer.fleet.hub.folder import HubFolder

    return HubFolder(hub_directory(folder))


def _ask(folder: Path | None, operation: str, /, **values: Any) -> dict[str, Any]:
    from gossamer.cli.run.hub_access import ask

    return ask(hub_at(folder), operation, **values)


def _print(found: Mapping[str, Any], as_json: bool) -> bool:
    """Print the object if JSON is wanted; return whether it was."""
    if as_json:
        print(json.dumps({"schema": 1, **found}))
    return as_json


def _table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> None:
    """Print rows as a plain table: title -> key."""
    from gossamer.cli.show.printable import printable

    shown = ([printable(_cell(row.get(key))) for key in columns.values()] for row in rows)
    cells = [list(columns), *shown]
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns))]
    for line in cells:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return str(value) or "-"


@hub_app.command()
def serve(
    folder: HubOption = None,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="ADDRESS", help="Address to listen on.", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="N", help="Port to listen on; 0: any free port.", min=0, max=65535,
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="NAME", show_default=False,
            help="Name or address under which units reach the hub; may be repeated.",
        ),
    ] = None,
    collection: Annotated[
        Path | None,
        typer.Option(
            "-c", "--collection", metavar="DIR", show_default=False,
            help="The central collection; default: `collection` in the hub's directory.",
        ),
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option(
            "--dsn", metavar="DSN", show_default=False,
            help="PostgreSQL for the state of the hub; default: SQLite.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file", metavar="FILE", show_default=False,
            help="File with the token of people; by default one is generated and printed.",
        ),
    ] = None,
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file", metavar="FILE", show_default=False,
            help="File with a line made by `gossamer serve --hash-password`.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", show_default=False,
            help="A further host name that requests of people may use; may be repeated.",
        ),
    ] = None,
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--trust-proxy", metavar="ADDRESS", show_default=False,
            help="A reverse proxy whose X-Forwarded-For is trusted; may be repeated.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Run the control unit: an HTTPS server that units poll, with a page for people."""
    from gossamer.web.hub.start import HubServing, started
    from gossamer.web.hub.start import serve as serve_hub

    place = hub_at(folder)
    settings = place.settings(
        host=host, port=port, names=tuple(name) if name else None, dsn=dsn,
        collection=str(collection) if collection else None,
    )  # fmt: skip
    serving = HubServing(
        folder=place, settings=settings, token_file=token_file, password_file=password_file,
        allowed_hosts=tuple(allow_host or ()), proxies=tuple(trust_proxy or ()),
    )  # fmt: skip
    with started(serving) as running:
        link = f"{running.page}/login?ticket={running.context.credentials.ticket}"
        print(f"The hub is at {running.page}", file=sys.stderr)
        print(f"Open {link} (works once)", file=sys.stderr)
        if token_file is None:
            token = running.context.credentials.token
            print(f"or log in with the token {token}", file=sys.stderr)
        print(f"Add a machine with `gossamer hub invite -d {place.path}`", file=sys.stderr)
        sys.stderr.flush()
        serve_hub(running)


@hub_app.command()
def add(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="URL|FILE", show_default=False,
            help="URLs, or files of jobs (.txt, .csv, .jsonl, .toml); -: standard input.",
        ),
    ],
    folder: HubOption = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="site, list or page.")
    ] = "site",
    max_pages: Annotated[
        int, typer.Option("--max-pages", metavar="N", help="Pages of each job; 0: no limit.", min=0)
    ] = 0,
    returns: Annotated[
        str, typer.Option("--returns", metavar="WHAT", help="pages, index or summary.")
    ] = "pages",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", show_default=False,
            help="An option of the crawl, such as depth=3; may be repeated.",
        ),
    ] = None,
    priority: Annotated[
        int, typer.Option("--priority", metavar="N", help="Smaller comes first.")
    ] = 0,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Add jobs: sites, lists or pages."""
    from gossamer.cli.run.hub_jobs import job_texts

    fields: dict[str, Any] = {"kind": kind, "returns": returns}
    fields |= {"max_pages": max_pages} if max_pages else {}
    if option:
        fields["options"] = dict(_pair(text) for text in option)
    added, shown = 0, []
    for text, form, where in job_texts(what):
        found = _ask(
            folder, "add", text=text, format=form, where=where, fields=fields, priority=priority
        )
        added += found["added"]
        shown += found["jobs"]
    if not _print({"added": added, "jobs": shown}, as_json):
        noun = "job" if added == 1 else "jobs"
        print(f"{added:,} {noun} added" + (f", from {shown[0]['task']}" if shown else ""))


def _pair(text: str) -> tuple[str, str]:
    from gossamer.errors import UsageError

    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text!r} has no value; write NAME=VALUE")
    return name.strip().replace("-", "_"), value


@hub_app.command()
def jobs(
    folder: HubOption = None,
    state: Annotated[
        str, typer.Option("--state", metavar="STATE", help="Only jobs in this state.")
    ] = "",
    long: Annotated[
        bool, typer.Option("--long", help="Only jobs that take unexpectedly long, with the cause.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Rows.", min=1)] = 100,
    offset: Annotated[int, typer.Option("--offset", metavar="N", help="Rows to skip.", min=0)] = 0,
    again: Annotated[
        str, typer.Option("--again", metavar="TASK", help="Give this job out again.")
    ] = "",
    as_json: Json = False,
) -> None:
    """List jobs, show long ones, or give one out again."""
    if again:
        found = _ask(folder, "again", job=again)
        if not _print(found, as_json):
            print(f"{again} is given out again")
        return
    if long:
        found = _ask(folder, "long")
        if not _print(found, as_json):
            columns = {"task": "task", "machine": "machine", "site": "site", "cause": "why"}
            _table(found["jobs"], columns)
        return
    found = _ask(folder, "jobs", state=state, limit=limit, offset=offset)
    if not _print(found, as_json):
        columns = {
            "task": "task", "state": "state", "site": "site", "machine": "machine",
            "start": "start", "pages": "fetched", "queued": "queued", "reason": "reason",
        }  # fmt: skip
        _table(found["jobs"], columns)
        print(", ".join(f"{count:,} {name}" for name, count in found["counts"].items()))


@hub_app.command()
def machines(folder: HubOption = None, as_json: Json = False) -> None:
    """List the machines: their task, site, start and the jobs they have done."""
    found = _ask(folder, "machines")
    if not _print(found, as_json):
        columns = {
            "machine": "machine", "unit": "unit", "task": "task", "site": "site", "start": "start",
            "jobs done": "jobs_done", "state": "state", "seen": "seen",
        }  # fmt: skip
        _table(found["machines"], columns)


@hub_app.command()
def ban(
    lines: Annotated[
        list[str] | None,
        typer.Argument(metavar="LINE", help="Hosts, URL prefixes or patterns.", show_default=False),
    ] = None,
    folder: HubOption = None,
    lift: Annotated[
        bool, typer.Option("--lift", help="Remove these lines instead of adding them.")
    ] = False,
    job: Annotated[
        str, typer.Option("--job", metavar="TASK", help="Ban the pattern that loops in this job.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Show or change the banned list, which all units honour."""
    if job:
        found = _ask(folder, "ban_loop", job=job, pattern=lines[0] if lines else "")
    elif lines:
        found = _ask(folder, "ban", **{"lift" if lift else "add": list(lines)})
    else:
        listed = _ask(folder, "bans")
        found = {"version": listed["version"], "bans": [row["line"] for row in listed["bans"]]}
    if not _print(found, as_json):
        for line in found["bans"]:
            print(line)


@hub_app.command()
def order(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="ORDER", show_default=False,
            help="report, stop_job, stop_after_job, drain, resume, delete or update.",
        ),
    ],
    unit: Annotated[
        str,
        typer.Argument(metavar="UNIT", help="Id or name of a unit; `all`.", show_default=False),
    ] = "",
    folder: HubOption = None,
    job: Annotated[
        str, typer.Option("--job", metavar="TASK", help="The job that is meant.")
    ] = "",
    as_json: Json = False,
) -> None:  # fmt: skip
    """Give an order to a unit; it carries it out at its next poll."""
    name = "*" if unit in ("all", "*") else unit
    found = _ask(folder, "order", unit=name, kind=kind.replace("-", "_"), job=job)
    if not _print(found, as_json):
        count = len(found["orders"])
        print(f"{count:,} {'order' if count == 1 else 'orders'} given")


@hub_app.command()
def invite(
    folder: HubOption = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="For whom it is.")] = "",
    hours: Annotated[
        float, typer.Option("--hours", metavar="N", help="Valid so long; 0: as set.", min=0)
    ] = 0.0,
    count: Annotated[
        int, typer.Option("--count", metavar="N", help="Number of codes.", min=1, max=1000)
    ] = 1,
    listed: Annotated[bool, typer.Option("--list", help="List the codes instead.")] = False,
    as_json: Json = False,
) -> None:
    """Make a join code, which one unit can use once, and print the line for that machine."""
    if listed:
        found = _ask(folder, "codes")
        if not _print(found, as_json):
            columns = {
                "code": "code", "note": "note", "ends": "ends", "unit": "unit", "open": "is_open",
            }  # fmt: skip
            _table(found["codes"], columns)
        return
    for _ in range(count):
        found = _ask(folder, "invite", note=note, hours=hours)
        if not _print(found, as_json):
            print(found["line"])


@hub_app.command()
def revoke(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", show_default=False,
            help="A unit, a token, or a code as `gossamer hub invite --list` shows it.",
        ),
    ],
    folder: HubOption = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Refuse a unit, a token or a join code from now on."""
    found = _ask(folder, "revoke", name=name)
    if not _print(found, as_json):
        print(f"{found['kind']} {found['revoked']} is revoked")


@hub_app.command()
def token(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A new name.", show_default=False)],
    folder: HubOption = None,
    scope: Annotated[
        str, typer.Option("--scope", metavar="SCOPE", help="read or manage.")
    ] = "read",
    as_json: Json = False,
) -> None:
    """Make a token for the JSON API of the hub; it is shown once."""
    found = _ask(folder, "token", name=name, scope=scope)
    if not _print(found, as_json):
        print(found["token"])


@hub_app.command()
def status(folder: HubOption = None, as_json: Json = False) -> None:
    """Show the fleet in figures."""
    found = _ask(folder, "status")
    if not _print(found, as_json):
        for key, value in found.items():
            if key != "schema":
                print(f"{key}: {value if isinstance(value, dict) else _cell(value)}")
