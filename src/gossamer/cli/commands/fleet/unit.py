"""`gossamer unit`: a crawler unit that works for a hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.options import Json

if TYPE_CHECKING:
    from gossamer.fleet.unit.folder import UnitFolder

_SAYS = "A crawler unit: an idle machine that works for a hub (docs/fleet.md)."
unit_app = typer.Typer(help=_SAYS, no_args_is_help=True)

UnitOption = Annotated[
    Path | None,
    typer.Option(
        "-d",
        "--directory",
        metavar="DIR",
        help="Directory of the unit; default: $GOSSAMER_UNIT or ~/.gossamer-unit.",
        show_default=False,
    ),
]


@unit_app.callback()
def unit() -> None:
    """A crawler unit: an idle machine that works for a hub (docs/fleet.md)."""


@unit_app.command()
def join(
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the hub, https://...")],
    code: Annotated[
        str,
        typer.Argument(
            metavar="CODE", help="Join code; it can be used once; `-`: read from stdin."
        ),
    ],
    directory: UnitOption = None,
    proxy: Annotated[
        str | None,
        typer.Option("--proxy", metavar="URL", help="Proxy for requests to the hub."),
    ] = None,
    json: Json = False,
) -> None:
    """Make a unit on this machine and join it to a hub."""
    import json as jsons
    import sys

    from gossamer.fleet.unit.joining import join as join_hub

    folder = _folder(directory)
    code = sys.stdin.readline().strip() if code == "-" else code
    identity = join_hub(folder, url, code, proxy or "")
    if json:
        facts = {"schema": 1, "unit": identity.unit, "hub": identity.hub_url}
        print(jsons.dumps(facts | {"directory": str(folder.path)}))
        return
    option = f" -d {folder.path}" if directory is not None else ""
    print(
        f"Joined {identity.hub_url} as unit {identity.unit}. Start it with `gossamer unit run"
        f"{option}`.",
        file=sys.stderr,
    )


@unit_app.command()
def run(
    directory: UnitOption = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Write to the log file only, not to the terminal.")
    ] = False,
) -> None:
    """Work for the hub until the unit is stopped; Ctrl-C stops it."""
    from gossamer.fleet.unit.running import run_unit
    from gossamer.fleet.update.launcher import SWITCH

    if run_unit(_folder(directory), is_quiet=quiet) == "update":
        raise typer.Exit(SWITCH)


@unit_app.command()
def stop(
    directory: UnitOption = None,
    after: Annotated[
        bool, typer.Option("--after", help="After the job that is running, not now.")
    ] = False,
) -> None:
    """Stop a running unit. A job that is stopped keeps its pages."""
    import sys

    from gossamer.fleet.unit.leaving import stop_unit

    folder = _folder(directory)
    folder.read_identity()
    print(stop_unit(folder, is_after=after), file=sys.stderr)


@unit_app.command()
def delete(
    directory: UnitOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a unit with all its pages and settings. Nothing of it stays on the machine."""
    import sys

    from gossamer.errors import UsageError
    from gossamer.fleet.unit.leaving import delete_unit

    folder = _folder(directory)
    folder.read_identity()
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"everything in {folder.path} would be deleted; add --yes")
        print(f"Delete everything in {folder.path}? [y/N] ", end="", file=sys.stderr, flush=True)
        if input().strip().lower() not in ("y", "yes"):
            raise UsageError("nothing was deleted")
    print(delete_unit(folder), file=sys.stderr)


@unit_app.command()
def status(directory: UnitOption = None, json: Json = False) -> None:
    """Show what a unit does now, and the URL of its local page."""
    import json as jsons

    from gossamer.fleet.unit.leaving import status_of, status_text

    folder = _folder(directory)
    facts = status_of(folder)
    if json:
        print(jsons.dumps({"schema": 1, **facts}))
    else:
        print(status_text(facts))


@unit_app.command()
def service(directory: UnitOption = None) -> None:
    """Print what to install so that the unit starts with the machine."""
    from gossamer.fleet.unit.service import service_text

    print(service_text(_folder(directory).path))


@unit_app.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
def crawl(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="SEED... [OPTIONS]", help="As of `gossamer crawl`."),
    ] = None,
) -> None:
    """Crawl by hand, without a hub: `gossamer crawl` without the index and the graph, which a unit
    cannot build."""
    import sys

    from gossamer.cli.main import run as run_program

    sys.argv[1:] = ["crawl", *(words or ["--help"]), *_light(words or ())]
    run_program()


def _light(words: list[str] | tuple[()]) -> list[str]:
    """The flags that leave out what is not in the single file of a unit."""
    flags = [flag for flag in ("--no-index", "--no-graph") if flag not in words]
    return flags if words else []


def _folder(directory: Path | None) -> UnitFolder:
    import os

    from gossamer.fleet.unit.folder import UnitFolder
    from gossamer.fleet.update.start_file import unit_directory

    return UnitFolder((directory or unit_directory((), os.environ)).expanduser().absolute())
