"""`gossamer lab`: experiments on stored data. Each command is a file of its own."""

from __future__ import annotations

import typer

from gossamer.cli.commands.lab.buffers import buffers
from gossamer.cli.commands.lab.duplicates import duplicates
from gossamer.cli.commands.lab.focus import focus
from gossamer.cli.commands.lab.order import order
from gossamer.cli.commands.lab.parallel import parallel
from gossamer.cli.commands.lab.refresh import refresh
from gossamer.cli.commands.lab.run import run
from gossamer.cli.commands.lab.scale import scale
from gossamer.cli.commands.lab.tune import tune

lab_app = typer.Typer(
    help="Experiments: replay policies on stored data, and compare them.", no_args_is_help=True
)
lab_app.command()(run)
lab_app.command()(order)
lab_app.command()(refresh)
lab_app.command()(duplicates)
lab_app.command()(parallel)
lab_app.command()(buffers)
lab_app.command()(tune)
lab_app.command()(focus)
lab_app.command()(scale)


@lab_app.callback()
def lab() -> None:
    """Experiments: replay policies on stored data, and compare them."""
