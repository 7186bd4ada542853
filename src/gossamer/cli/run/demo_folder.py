"""Serve the demo web from a folder that the user edits, until Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from functools import partial
from pathlib import Path

from gossamer.demo.folder import examples, hosts_in, prepare_folder
from gossamer.demo.folder_site import folder_site
from gossamer.demo.server import serve
from gossamer.errors import UsageError

_SHOWN = "garden.localhost"


def serve_folder(folder: Path, port: int | None) -> None:
    """Write the demo web into the folder if it is new, and serve it. Raises UsageError."""
    port = prepare_folder(folder, port)
    ended = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda _number, _frame: ended.set())
    try:
        with serve(port, partial(folder_site, folder)):
            _explain(folder, port)
            while not ended.wait(1.0):  # a wait without end would not notice signals on Windows
                pass
    except OSError as fault:
        raise UsageError(
            f"cannot serve at port {port} ({fault.strerror}); stop the other program, or name a "
            "new folder and another --port"
        ) from None
    print("Stopped. The files stay; the same command serves them again.", file=sys.stderr)


def _explain(folder: Path, port: int) -> None:
    others = [f"http://{host}:{port}/" for host in hosts_in(folder) if host != _SHOWN]
    url = f"http://{_SHOWN}:{port}/"
    lines = [
        f"Serving the files in {folder} at {url}",
        f"and at {', '.join(others)}. Stop with Ctrl-C.",
        "",
        "In another terminal, watch one of the sites:",
        f"  gossamer watch {url} --every 10s -c watched",
        "Then change the files, and wait for the next visit:",
        *(f"  {line}" for line in examples(folder)),
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)
