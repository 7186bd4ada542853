"""`gossamer lab tune`: vary one setting on a live crawl of this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.commands.lab.options import LabOutput, LocalFolder, LocalUrls, repeats_of
from gossamer.cli.options import Json


def tune(
    setting: Annotated[
        str,
        typer.Argument(
            metavar="KEY=VALUE,VALUE,...",
            show_default=False,
            help="A setting of docs/settings.md, and the values to try.",
        ),
    ],
    url: LocalUrls = None,
    folder: LocalFolder = None,
    repeats: Annotated[int, repeats_of("Crawls with each value.")] = 5,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            show_default=False,
            help="A setting that is the same in all crawls; may be repeated.",
        ),
    ] = None,
    output: LabOutput = None,
    json: Json = False,
) -> None:
    """Vary one setting on a live crawl of this machine, with all others held: pages per second and
    per CPU-second, median and range. The crawls with different values take turns."""
    from gossamer.cli.show.lab import print_experiment, tell_on_terminal
    from gossamer.lab.tune.compare import TuneLab, tune_experiment
    from gossamer.lab.tune.factor import HELD, factor_in, held_in
    from gossamer.lab.tune.local_web import local_web

    lab = TuneLab(factor_in(setting), {**HELD, **held_in(set_ or [])}, repeats)
    with local_web(url or [], folder) as web:
        experiment = tune_experiment(lab, web, tell_on_terminal)
    tell_on_terminal("")
    print_experiment(experiment, as_json=json, output=output)
