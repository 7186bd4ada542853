"""`gossamer demo`: crawl a small made-up web on this machine, and show the result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import collection_at


def demo(
    collection: Annotated[
        Path | None,
        typer.Option(
            "-c", "--collection", metavar="DIR", help="Collection directory; default: ./demo."
        ),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Resume an earlier demo crawl.")] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            metavar="DIR",
            help="Do not crawl: write the web into this folder, and serve the files there until "
            "Ctrl-C, to try `gossamer watch` by editing them.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="N",
            min=1,
            max=65_535,
            help="With --folder: the port; default: 8801.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Crawl a small made-up web on this machine and show the result."""
    if folder is not None:
        from gossamer.cli.run.demo_folder import serve_folder

        if collection or keep:
            raise typer.BadParameter("--folder does not crawl; leave out -c and --keep")
        serve_folder(folder, port)
        return
    if port is not None:
        raise typer.BadParameter("--port needs --folder")
    from gossamer.cli.run.run_crawl import plan_of, run_crawl
    from gossamer.cli.run.run_server import offer_page
    from gossamer.cli.run.tour import show_tour
    from gossamer.collection.directory import CollectionPaths, locked
    from gossamer.demo.server import serve
    from gossamer.demo.web import HOSTS, SETTINGS
    from gossamer.errors import UsageError
    from gossamer.node.session import delete_collection
    from gossamer.reader.collection_reader import CollectionReader
    from gossamer.urls.canonical import host_of

    paths = CollectionPaths(collection_at(collection) if collection else Path("demo"))
    if paths.exists and not keep:
        with CollectionReader.open(paths.path) as reader:
            if not set(map(host_of, reader.seeds())) <= set(HOSTS):
                raise UsageError(
                    f"{paths.path} contains a crawl that is not a demo; use another with -c"
                )
        with locked(paths):
            delete_collection(paths)
    with serve() as web:
        print(f"Serving a made-up web for this demo: {web.seeds[0]} and others.", file=sys.stderr)
        code = run_crawl(plan_of(paths.path, [("", web.seeds)], SETTINGS))
        if code == 0:
            show_tour(paths.path, "river garden")
            offer_page(paths.path)
    raise typer.Exit(code)
