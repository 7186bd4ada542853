"""Run the web server in the terminal, and open a browser."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from gossamer.base.scratch import scratch_folder
from gossamer.cli.run.browser import has_screen, open_page
from gossamer.errors import UsageError
from gossamer.web.server import (
    Serving,
    build_context,
    build_credentials,
    listening,
    origin_of,
    serve,
)

LOOPBACK: Final = ("127.0.0.0/8", "::1/128")


def run_server(serving: Serving, *, opens: bool) -> None:
    """Print the address of the page, open it if requested, and serve until a signal arrives."""
    build_credentials(serving)  # raises before the server accepts connections
    with listening(serving.host, serving.port) as listener, scratch_folder("serve") as scratch:
        # Crawls that the server starts do not inherit this variable: they outlive it.
        tempfile.tempdir = str(scratch)
        serving = replace(serving, port=listener.getsockname()[1])
        context = build_context(serving)
        origin = origin_of(serving)
        link = f"{origin}/login?ticket={context.credentials.ticket}"
        print(f"Open {link} (works once)", file=sys.stderr)
        if serving.token_file is None:
            print(
                f"or log in at {origin} with the token {context.credentials.token}", file=sys.stderr
            )
        if opens and open_page(link, os.environ):
            print("The page is open in your browser. Stop the server with Ctrl-C.", file=sys.stderr)
        serve(serving, context, listener)


def offer_page(collection: Path) -> None:
    """Offer on a terminal to show the demo's collection on a web page, and serve it.

    Crawls that are started there may access this machine, where the demo web is.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    # The crawl's event loop is closed, but uvloop leaves its signal handlers, which ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.stdout.flush()
    print("\nOpen the collection in the web interface? [Y/n] ", end="", file=sys.stderr, flush=True)
    try:
        answer = input().strip().lower()
    except (EOFError, KeyboardInterrupt):
        answer = "n"
    if answer not in ("", "y", "yes"):
        return
    serving = Serving(collection=collection, searchers=os.cpu_count() or 1, allow_private=LOOPBACK)
    opens = has_screen(os.environ)
    try:
        run_server(serving, opens=opens)
    except UsageError:  # the usual port is taken
        run_server(replace(serving, port=0), opens=opens)
