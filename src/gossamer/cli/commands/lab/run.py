"""`gossamer lab run`: make the experiment of a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.commands.lab.options import LabOutput
from gossamer.cli.options import Json


def run(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="An experiment in TOML: name, experiment, data, [settings].",
        ),
    ],
    output: LabOutput = None,
    json: Json = False,
) -> None:
    """Make the experiment that a TOML file describes: which one, on which data, with which
    settings."""
    from gossamer.cli.commands.lab.experiment_file import read_experiment, words_for

    described = read_experiment(file)
    group = context.parent.command if context.parent is not None else None
    commands = getattr(group, "commands", {})
    words = words_for(described, file, {name: commands[name] for name in commands if name != "run"})
    if output is not None:
        words += ["-o", str(output)]
    if json:
        words.append("--json")
    commands[described.experiment].main(words, prog_name="gossamer lab", standalone_mode=False)
