"""`gossamer config`: show the current settings, and check a settings file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at

config_app = typer.Typer(help="Show and check settings.", no_args_is_help=True)


@config_app.command()
def show(
    collection: CollectionOption = None,
    origin: Annotated[
        bool, typer.Option("--origin", help="Show where each value comes from.")
    ] = False,
    json: Json = False,
) -> None:
    """Show every setting with the value in force."""
    import json as jsons

    from gossamer.collection.configure import configure
    from gossamer.collection.directory import CollectionPaths, open_to_read
    from gossamer.collection.stored_settings import stored_settings, without_secrets
    from gossamer.settings import values_of

    paths = CollectionPaths(collection_at(collection))
    stored = None
    if paths.exists:
        store = open_to_read(paths)
        stored = stored_settings(store)
        store.close()
    found = configure(paths.path, {}, base=stored)
    values = values_of(without_secrets(found.settings))
    if json:
        rows = {
            key: {"value": value, "origin": found.origin.get(key, "default")}
            for key, value in values.items()
        }
        print(jsons.dumps({"schema": 1, "settings": rows}))
        return
    for key, value in values.items():
        text = f"{key} = {jsons.dumps(value, ensure_ascii=False)}"
        print(f"{text}  # {found.origin.get(key, 'default')}" if origin else text)


@config_app.command()
def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A settings file.", show_default=False)
    ],
) -> None:
    """Check a settings file: one line per error, and exit code 2."""
    from gossamer.collection.configure import examine, fault_in_file
    from gossamer.errors import UsageError
    from gossamer.node.build import check_usable

    settings, faults = examine(file)
    found = [str(fault) for fault in faults]
    try:  # faults that only the use of a setting shows: patterns, types, files
        check_usable(settings, ())
    except UsageError as fault:
        found.append(str(fault_in_file(fault, file)))
    for line in found:
        print(f"gossamer: {line}", file=sys.stderr)
    if found:
        raise typer.Exit(2)
    print(f"{file} is valid.", file=sys.stderr)


@config_app.command()
def schema() -> None:
    """Print the JSON Schema of gossamer.toml, for editors."""
    import json as jsons

    from gossamer.collection.configure import schema

    print(jsons.dumps(schema(), indent=2))
