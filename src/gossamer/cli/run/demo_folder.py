"""Serve the demo web from a folder that the user edits, until Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from functools import partial
from pathlib import Path

from gossamer.demo.folder import examples, hosts_in, port_for, prepare_folder
from gossamer.demo.folder_site import folder_site
from gossamer.demo.server import serve
from gossamer.errors import UsageError

_SHOWN = "garden.localhost"


def serve_folder(folder: Path, port: int | None) -> None:
    """Write the demo web into the folder if it is new, and serve it. Raises UsageError."""
    _check_free(port_for(folder, port), is_new=not folder.exists())
    port = prepare_folder(folder, port)
    ended = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda _number, _frame: ended.set())
    with serve(port, partial(folder_site, folder)):
        _explain(folder, port)
        while not ended.wait(1.0):  # a wait without end would not notice signals on Windows
            pass
    print("Stopped. The files stay; the same command serves them again.", file=sys.stderr)


def _check_free(port: int, *, is_new: bool) -> None:
    """Raise UsageError if another program listens there; before files are written for this port."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as fault:
            what = "choose another with --port" if is_new else "stop the other program"
            why = os.strerror(fault.errno or 0).lower()
            raise UsageError(f"cannot serve at port {port} ({why}); {what}") from None


def _explain(folder: Path, port: int) -> None:
    others = [f"http://{host}:{port}/" for host in hosts_in(folder) if host != _SHOWN]
    url = f"http://{_SHOWN}:{port}/"
    lines = [
        f"Serving the files in {folder} at {url}",
        f"and at {', '.join(others)}. Stop with Ctrl-C.",
        "",
        "In another terminal, watch one of the sites:",
        f"  gossamer watch {url} --every 10s --delay 0 -c watched",
        "Then change the files, and wait for the next visit:",
        *(f"  {line}" for line in examples(folder)),
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)
