"""`gossamer focus`: the model of a focused crawl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.policies.focus.focused_order import FocusedOrder

focus_app = typer.Typer(
    help="The model of a focused crawl: show, export, mark pages.", no_args_is_help=True
)


@focus_app.callback()
def focus() -> None:
    """The model of a focused crawl: show, export, mark pages."""


@focus_app.command()
def show(collection: CollectionOption = None, json: Json = False) -> None:
    """Show what a focused crawl has learned: pages judged, harvest rate, weights of the evidence
    for links."""
    import json as jsons

    from gossamer.cli.show.text import harvest_text
    from gossamer.node.focus.stored_focus import figures_of
    from gossamer.policies.focus.link_scorer import FEATURES

    order = _stored(collection)
    weights = dict(zip(FEATURES, order.links.weights.round(4).tolist(), strict=True))
    if json:
        print(jsons.dumps({"schema": 1, "focus": figures_of(order), "weights": weights}))
        return
    figures = figures_of(order)
    print(harvest_text(figures))
    print(f"{figures['examples']} examples, {figures['unwanted']} pages marked as not relevant")
    for name, weight in weights.items():
        print(f"{weight:8.3f}  {name}")


@focus_app.command()
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write (.npz).")],
    collection: CollectionOption = None,
) -> None:
    """Write the model to a file, for `gossamer crawl --model FILE`."""
    from gossamer.errors import UsageError
    from gossamer.policies.focus.saving import dump_model

    model = dump_model(_stored(collection))
    try:
        file.write_bytes(model)
    except OSError as fault:
        raise UsageError(f"Cannot write {file}: {fault.strerror or fault}") from fault


@focus_app.command()
def mark(
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Stored pages.")],
    collection: CollectionOption = None,
    irrelevant: Annotated[
        bool, typer.Option("--not", help="The pages are not about the topic.")
    ] = False,
    json: Json = False,
) -> None:
    """Mark stored pages as relevant to the topic, or not. A running crawl learns at once."""
    import json as jsons

    from gossamer.cli.show.text import harvest_text
    from gossamer.collection.directory import CollectionPaths
    from gossamer.node.focus.marks import mark_page

    paths = CollectionPaths(collection_at(collection))
    figures = {}
    for url in urls:
        figures = mark_page(paths, url, is_wanted=not irrelevant)
    if json:
        print(jsons.dumps({"schema": 1, "focus": figures}))
    else:
        print(f"{figures['examples']} examples, {figures['unwanted']} pages marked as not relevant")
        print(harvest_text(figures))


def _stored(collection: Path | None) -> FocusedOrder:
    """The model of a collection. Raises NoCollection, UsageError."""
    from gossamer.errors import UsageError
    from gossamer.node.focus.stored_focus import stored_focus
    from gossamer.reader.collection_reader import CollectionReader

    path = collection_at(collection)
    with CollectionReader.open(path) as reader:
        order = stored_focus(reader.store)
    if order.judge.topic.is_empty:
        raise UsageError(f"{path} has no model: no crawl with --order focus ran in it")
    return order
