"""`gossamer serve` as people start it: a program of its own on a free port of this machine.

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
    """A server that is up."""

    root: str
    link: str  # logs a browser in, once
    token: str
    client: httpx.Client  # a program that has the token


@contextmanager
def serving(collection: Path, *flags: str, allows: str = "127.0.0.0/8") -> Iterator[Server]:
    """Serve a collection until the block ends; crawls that were started go on.

    Crawls that it starts may go to the private network `allows`: sites of tests are on loopback.
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
