"""The group of commands `gossamer hub`; its commands are in the files beside this one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_SAYS = "The control unit of a fleet: it gives jobs to crawler units (docs/fleet.md)."
hub_app = typer.Typer(help=_SAYS, no_args_is_help=True)

HubOption = Annotated[
    Path | None,
    typer.Option(
        "-d",
        "--directory",
        metavar="DIR",
        help="Directory of the hub; default: $GOSSAMER_HUB or ./gossamer-hub.",
        show_default=False,
    ),
]


@hub_app.callback()
def hub() -> None:
    """The control unit of a fleet: it gives jobs to crawler units (docs/fleet.md)."""


def hub_directory(directory: Path | None) -> Path:
    """The directory of the flag, else of the variable, else the default."""
    import os

    return directory or Path(os.environ.get("GOSSAMER_HUB") or "gossamer-hub")
