"""`gossamer serve` on a collection, as a process of its own, while a block lasts."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_READY_S: Final = 30.0


@contextmanager
def served(collection: Path, *flags: str) -> Iterator[int]:
    """The port on which it answers; `flags` are more words for the command line."""
    port = _free_port()
    command = [sys.executable, "-m", "gossamer", "serve", "-c", str(collection)]
    words = [*command, "--port", str(port), *flags]
    server = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        _await(port)
        yield port
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _await(port: int) -> None:
    until_s = time.monotonic() + _READY_S
    while True:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            client.request("GET", "/healthz")
            client.getresponse().read()
            return
        except OSError:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.05)
        finally:
            client.close()
