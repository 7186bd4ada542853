"""Real documentation sites for tests, each served by its own nginx.

`run.py test` fetches them into `$TEST_SITES` beforehand. A site is served from a directory of links
to it, so that many may run at once and nothing is written where the sites are.
"""

from __future__ import annotations

import http.client
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from support.need import need_program
from support.programs import free_port
from support.shared import data

# 127.0.10.N is used for serving the same sites by hand.
_FIRST: Final = 101
_STOP_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class RealSite:
    """A running site: its start URL, and the requests it received."""

    start: str
    log: Path

    @property
    def origin(self) -> str:
        parts = urlsplit(self.start)
        return f"{parts.scheme}://{parts.netloc}"

    def take_asked(self) -> dict[str, int]:
        """The status of each URL requested since the last call; empties the log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        os.truncate(self.log, 0)
        # ... "GET /path HTTP/1.1" 200 ...: nginx writes a quotation mark in a path as \x22.
        words = (line.split('"', 2)[1:] for line in lines)
        asked = ((request.split(" ")[1], rest.split()[0]) for request, rest in words)
        return {self.origin + path: int(status) for path, status in asked}

    def types_of(self, urls: Sequence[str]) -> dict[str, str]:
        """The MIME type of each URL, without parameters."""
        connection = http.client.HTTPConnection(urlsplit(self.origin).netloc)
        types = {}
        for url in urls:
            connection.request("HEAD", url.removeprefix(self.origin))
            answer = connection.getresponse()
            answer.read()
            types[url] = answer.getheader("content-type", "").partition(";")[0]
        connection.close()
        os.truncate(self.log, 0)
        return types


@contextmanager
def serving(name: str) -> Iterator[RealSite]:
    """Serve a site of `sites.py`; if it is missing, skip, or fail if `CI` is `true`."""
    need_program("nginx")
    script = data("sites.py")
    rows = runpy.run_path(str(script))["SITES"]
    number, row = next((n, row) for n, row in enumerate(rows, _FIRST) if row[0] == name)
    fetched = _need_fetched(name, row[1])
    # Not under pytest's own directory: nginx drops its rights and could not read there.
    home = Path(tempfile.mkdtemp(prefix="site-"))
    home.chmod(0o755)
    (home / row[1]).symlink_to(fetched)
    table = home / "table.tsv"
    table.write_text("\t".join(row) + "\n", encoding="utf-8")
    port = free_port(f"127.0.10.{number}")
    options = ["--table", str(table), "--first", str(number), "--port", str(port), "--log"]
    try:
        subprocess.run(
            [sys.executable, script, "serve", home, *options], check=True, stdout=subprocess.DEVNULL
        )
        yield RealSite(f"http://127.0.10.{number}:{port}/{row[3]}", home / "access.log")
    finally:
        subprocess.run([sys.executable, script, "stop", home], check=True)
        _await_end(home / "nginx.pid")
        shutil.rmtree(home)


def files_of(name: str) -> list[Path]:
    """The pages of a site as files; skips as `serving` does."""
    rows = runpy.run_path(str(data("sites.py")))["SITES"]
    package = next(row[1] for row in rows if row[0] == name)
    return sorted(_need_fetched(name, package).rglob("*.html*"))


def _need_fetched(name: str, package: str) -> Path:
    fetched = Path(os.environ.get("TEST_SITES", "")) / package
    if "TEST_SITES" in os.environ and fetched.is_dir():
        return fetched.resolve()
    missing = f"the site {name} is not in $TEST_SITES; on Debian `python3 run.py test` brings it"
    if os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


def _await_end(pid: Path) -> None:
    """nginx deletes its pid file when it ends."""
    until_s = time.monotonic() + _STOP_S
    while pid.exists() and time.monotonic() < until_s:
        time.sleep(0.01)
