"""`gossamer hub bundle|keys|offer|enlist`: the single file of a unit, its updates, new machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.commands.fleet.hub_app import HubOption, hub_app, hub_directory
from gossamer.cli.options import Json

if TYPE_CHECKING:  # they load libraries
    from gossamer.fleet.update.enlist import Invitation
    from gossamer.fleet.update.repository import UpdateRepository

__all__ = ["hub_app"]  # with the commands of this file

keys_app = typer.Typer(help="Keys that sign updates of units.", no_args_is_help=True)
hub_app.add_typer(keys_app, name="keys")

_FILE = "gossamer-unit.pyz"


@keys_app.callback()
def keys() -> None:
    """Keys that sign updates of units."""


@hub_app.command()
def bundle(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")
    ] = Path(_FILE),
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="V", help="Its version; default: that of this program."),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            metavar="TAG",
            help="For another platform, as wheels name it (manylinux_2_28_aarch64, win_amd64). "
            "pip downloads the parts.",
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="X.Y", help="For another version of Python."),
    ] = None,
    json: Json = False,
) -> None:
    """Build the single file of a unit. It runs with nothing but Python of the same platform."""
    from gossamer.base.sizes import size_text
    from gossamer.fleet.update.bundle import build_unit_file
    from gossamer.version import __version__

    file = build_unit_file(output, platform, python, version or __version__)
    facts = {
        "file": str(file.path), "version": file.version, "bytes": file.size,
        "sha256": file.sha256, "python": file.python, "platform": file.platform,
    }  # fmt: skip
    text = f"{file.path}: version {file.version}, {size_text(file.size)}, for Python {file.python} "
    _tell(text + f"on {file.platform}", facts, json)


@keys_app.command()
def init(
    root: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="New file for the root key. Take it away afterwards."),
    ],
    directory: HubOption = None,
) -> None:
    """Make the keys of a hub. Units that join afterwards accept what these keys sign."""
    repository = _repository(directory)
    repository.create(root)
    _say(
        f"The root key is in {root}. Take it away from this machine and keep it: it is needed to "
        "replace keys, once a year at least (`gossamer hub keys rotate`)."
    )


@keys_app.command()
def rotate(
    root: Annotated[Path, typer.Argument(metavar="FILE", help="The root key.")],
    new_root: Annotated[
        Path | None,
        typer.Option("--new-root", metavar="FILE", help="Replace the root key by a new one there."),
    ] = None,
    online: Annotated[
        bool, typer.Option("--online", help="Replace the keys that the hub has, too.")
    ] = False,
    directory: HubOption = None,
) -> None:
    """Make the keys valid for another year, or replace them after a loss."""
    version = _repository(directory).rotate(root, new_root, are_online_new=online)
    _say(f"Version {version} of the root is published. It is valid for a year.")


@hub_app.command()
def offer(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help=f"A file of `gossamer hub bundle`; default: {_FILE}."),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="V", help="Check that the file has this version."),
    ] = None,
    directory: HubOption = None,
    show: Annotated[bool, typer.Option("--show", help="Only list what is on offer.")] = False,
    json: Json = False,
) -> None:
    """Publish a version. Units fetch it and change to it between jobs."""
    repository = _repository(directory)
    offers = repository.offers() if show else [repository.offer(file or Path(_FILE), version)]
    for one in offers:
        facts = {
            "version": one.version, "python": one.python, "platform": one.platform,
            "bytes": one.size, "sha256": one.sha256,
        }  # fmt: skip
        text = f"Version {one.version} for Python {one.python} on {one.platform} is on offer."
        _tell(text, facts, json)


@hub_app.command()
def enlist(
    host: Annotated[str, typer.Argument(metavar="HOST", help="The machine, as `ssh` knows it.")],
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="User there.")] = "",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Port of its SSH.")
    ] = 0,
    identity: Annotated[
        Path | None, typer.Option("--identity", metavar="FILE", help="Your private SSH key.")
    ] = None,
    known_hosts: Annotated[
        Path | None,
        typer.Option("--known-hosts", metavar="FILE", help="Keys of machines that you trust."),
    ] = None,
    file: Annotated[
        Path, typer.Option("--file", metavar="FILE", help="The file of `gossamer hub bundle`.")
    ] = Path(_FILE),
    unit_directory: Annotated[
        str,
        typer.Option("--unit-directory", metavar="DIR", help="Directory of the unit there."),
    ] = ".gossamer-unit",
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Address of the hub for that machine.")
    ] = "",
    code: Annotated[
        str, typer.Option("--code", metavar="CODE", help="Join code; by default a new one is made.")
    ] = "",
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the unit instead, without trace.")
    ] = False,
    directory: HubOption = None,
    json: Json = False,
) -> None:
    """Bring a unit to a machine by SSH: copy, join, start. Nobody logs in there."""
    from gossamer.fleet.update import enlist as enlisting
    from gossamer.fleet.update.ssh import SshHost

    machine = SshHost(host, user, port, identity, known_hosts)
    if remove:
        text = enlisting.remove(machine, unit_directory)
        _tell(text, {"host": host, "removed": True}, json)
        return
    done = enlisting.enlist(machine, file, lambda: _invite(directory, url, code), unit_directory)
    facts = {"host": host, "directory": done.directory, "start": done.start, "said": done.said}
    _tell(f"{host} works as a unit in {done.directory}. Start: {done.start}.", facts, json)


def _invite(directory: Path | None, url: str, code: str) -> Invitation:
    """A fresh code, and the address of the hub. Raises UsageError."""
    from gossamer.cli.run.hub_access import ask
    from gossamer.fleet.hub.folder import HubFolder
    from gossamer.fleet.update.enlist import Invitation

    folder = HubFolder(hub_directory(directory))
    if code:
        settings = folder.settings()
        name = settings.names[0] if settings.names else settings.host
        return Invitation(url or settings.url or f"https://{name}:{settings.port}", code)
    found = ask(folder, "invite", note="enlist")
    return Invitation(url or found["url"], found["code"])


def _repository(directory: Path | None) -> UpdateRepository:
    from gossamer.base.clock import SystemClock
    from gossamer.fleet.update.repository import UpdateRepository

    return UpdateRepository(hub_directory(directory).absolute() / "update", SystemClock())


def _say(text: str) -> None:
    import sys

    print(text, file=sys.stderr)


def _tell(text: str, facts: Mapping[str, object], is_json: bool) -> None:
    import json as jsons

    if is_json:
        print(jsons.dumps({"schema": 1, **facts}))
    else:
        _say(text)
