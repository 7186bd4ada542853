"""`gossamer lab focus`: compare focused crawls with breadth first on stored pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.commands.lab.options import LabOutput, RandomSeed, fraction_of, seeds_of
from gossamer.cli.options import Json


def focus(
    site: Annotated[
        Path,
        typer.Argument(
            metavar="SITE", show_default=False, help="A folder of HTML pages, or a collection."
        ),
    ],
    topics: Annotated[
        Path,
        typer.Option(
            "--topics",
            metavar="FILE",
            show_default=False,
            help="Topics of pages: lines url-or-path<TAB>topic, plain or gzipped.",
        ),
    ],
    examples: Annotated[
        int,
        typer.Option("--examples", metavar="N", min=1, help="Example pages of each topic."),
    ] = 10,
    seeds: Annotated[int, seeds_of("Seed sets: crawls of each topic.")] = 10,
    start_pages: Annotated[
        int,
        typer.Option("--start-pages", metavar="N", min=1, help="Random pages of a seed set."),
    ] = 10,
    fraction: Annotated[float, fraction_of("Fetch this share of the pages.")] = 0.1,
    levels: Annotated[
        int,
        typer.Option(
            "--levels",
            metavar="N",
            min=1,
            help="Of a topic name with dots, so many parts are the topic.",
        ),
    ] = 2,
    crawls: Annotated[
        str,
        typer.Option(
            "--crawls",
            metavar="NAME,...",
            help="Crawls to compare; the first is the main one.",
        ),
    ] = "focus,without distiller,without link scorer,without both",
    random_seed: RandomSeed = 1,
    output: LabOutput = None,
    json: Json = False,
) -> None:
    """Compare focused crawls with breadth first on stored pages whose topics are known: wanted
    pages among the first fetched ones, by topic, with parts of the focus switched off."""
    from gossamer.cli.show.lab import print_experiment, tell_on_terminal
    from gossamer.errors import UsageError
    from gossamer.lab.focus.compare import CRAWLS, FocusLab
    from gossamer.lab.focus.stored_pages import read_pages
    from gossamer.lab.focus.tables import focus_experiment
    from gossamer.lab.focus.topics import read_topics

    names = tuple(dict.fromkeys(name.strip() for name in crawls.split(",")))
    if unknown := [name for name in names if name not in CRAWLS]:
        raise UsageError(f"--crawls: {unknown[0]!r} is none of {', '.join(CRAWLS)}")
    lab = FocusLab(examples, seeds, start_pages, fraction, random_seed, names)
    pages = read_pages(site, tell_on_terminal)
    experiment = focus_experiment(pages, read_topics(topics, pages, levels), lab, tell_on_terminal)
    tell_on_terminal("")
    print_experiment(experiment, as_json=json, output=output)
