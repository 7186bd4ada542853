"""`gossamer serve` as users start it: a separate process on a free port of this machine.

with serving(collection) as server:
    server.client.get("/healthz")
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx


@dataclass(frozen=True)
class Server:
    """A running server."""

    root: str
    link: str  # logs a browser in, once
    token: str
    client: httpx.Client  # a client that has the token


@contextmanager
def serving(collection: Path, *flags: str, allows: str = "127.0.0.0/8") -> Iterator[Server]:
    """Serve a collection until the block ends; crawls that were started continue.

    Crawls that it starts may use the private network `allows`: test sites are on loopback.
    """
    words = [sys.executable, "-m", "gossamer", "serve", "-c", str(collection), "--port", "0"]
    words += ["--allow-private", allows]
    process = subprocess.Popen([*words, *flags], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        link = process.stderr.readline().split()[1]
        token = process.stderr.readline().split()[-1]
        headers = {"authorization": f"Bearer {token}"}
        root = link.partition("/login")[0]
        with httpx.Client(base_url=root, headers=headers, timeout=90) as client:
            client.get("/healthz").raise_for_status()
            yield Server(root, link, token, client)
    finally:
        process.terminate()
        process.wait(90)
        process.stderr.close()
