"""`gossamer lab`: experiments on stored data. Each command is a file of its own."""

from __future__ import annotations

import typer

from gossamer.cli.commands.lab.duplicates import duplicates
from gossamer.cli.commands.lab.refresh import refresh

lab_app = typer.Typer(
    help="Experiments: replay policies on stored data, and compare them.", no_args_is_help=True
)
lab_app.command()(refresh)
lab_app.command()(duplicates)


@lab_app.callback()
def lab() -> None:
    """Experiments: replay policies on stored data, and compare them."""
