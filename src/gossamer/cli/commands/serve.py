"""`gossamer serve`: the web interface and the JSON API."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, collection_at


def serve(
    collection: CollectionOption = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="N", help="Port to listen on; 0: any free port.", min=0, max=65535
        ),
    ] = 8800,
    crawls: Annotated[
        Path | None,
        typer.Option(
            "--crawls",
            metavar="DIR",
            help="Directory of new crawls; default: next to the collection, in DIR-crawls.",
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="File with the access token; by default one is generated and printed.",
            show_default=False,
        ),
    ] = None,
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            metavar="FILE",
            help="File with a line made by --hash-password.",
            show_default=False,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A host name that requests may use; may be repeated.",
            show_default=False,
        ),
    ] = None,
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--trust-proxy",
            metavar="ADDRESS",
            help="A reverse proxy whose X-Forwarded-For is trusted; may be repeated.",
            show_default=False,
        ),
    ] = None,
    allow_private: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-private",
            metavar="CIDR",
            help="A private network that crawls started here may reach; may be repeated.",
            show_default=False,
        ),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Do not open the page in a browser.")
    ] = False,
    hash_password: Annotated[
        bool,
        typer.Option("--hash-password", help="Read a password, print its hash, and exit."),
    ] = False,
) -> None:
    """Serve the web page: search, explore, start and watch crawls."""
    from gossamer.cli.run.browser import has_screen
    from gossamer.cli.run.run_server import run_server
    from gossamer.web.protect.login import hash_password as hashed
    from gossamer.web.server import Serving, allowed_networks

    if hash_password:
        print(hashed(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)))
        return
    serving = Serving(
        collection=collection_at(collection),
        crawls=crawls,
        host=host,
        port=port,
        token_file=token_file,
        password_file=password_file,
        allowed_hosts=tuple(allow_host or ()),
        proxies=tuple(trust_proxy or ()),
        searchers=os.cpu_count() or 1,
        allow_private=allowed_networks(collection_at(collection), allow_private),
    )
    run_server(serving, opens=not no_open and sys.stderr.isatty() and has_screen(os.environ))
