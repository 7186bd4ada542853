"""Real sites on loopback, one address each, and a log of what was asked of them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_START_S: Final = 10.0
# One worker process: the crawler is what is measured, and on few cores it needs them.
_CONFIGURATION: Final = """
daemon off; worker_processes 1; pid {home}/nginx.pid; error_log {home}/error.log;
events {{ worker_connections 8192; }}
http {{
  include /etc/nginx/mime.types; default_type application/octet-stream;
  log_format asked '$server_addr $status "$sent_http_content_type" $request_uri';
  access_log {home}/access.log asked;
  sendfile on; tcp_nopush on; keepalive_requests 1000000;
  open_file_cache max=50000 inactive=600s;
  client_body_temp_path {home}/tmp; proxy_temp_path {home}/tmp; fastcgi_temp_path {home}/tmp;
  uwsgi_temp_path {home}/tmp; scgi_temp_path {home}/tmp;
{servers}}}
"""


@dataclass(frozen=True, slots=True)
class Site:
    """A folder of pages, and the page to start at."""

    name: str
    root: Path
    start: str


@dataclass(frozen=True, slots=True)
class Web:
    """Sites that are up."""

    seeds: tuple[str, ...]
    log: Path
    server: int  # the process that started all of it

    def cpu_s(self) -> float:
        """What the server has used so far."""
        children = Path(f"/proc/{self.server}/task/{self.server}/children").read_text()
        stats = [Path(f"/proc/{pid}/stat") for pid in [str(self.server), *children.split()]]
        fields = [path.read_text(encoding="utf-8").rpartition(")")[2].split() for path in stats]
        return sum(int(field[11]) + int(field[12]) for field in fields) / os.sysconf("SC_CLK_TCK")

    def take_pages(self) -> int:
        """Distinct URLs answered 200 with HTML since the last time; the log is emptied."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        os.truncate(self.log, 0)
        return len({line for line in lines if ' 200 "text/html' in line})


@contextmanager
def serving(sites: Sequence[Site]) -> Iterator[Web]:
    """Serve sites on 127.0.12.1 and up, on a port that is free on all of them."""
    # nginx drops its rights when we are root, and must reach its files.
    home = Path(tempfile.mkdtemp(prefix="bench-web-"))
    home.chmod(0o755)
    addresses = [f"127.0.12.{number}" for number, _ in enumerate(sites, 1)]
    port = _free_port()
    servers = "".join(
        f"  server {{ listen {address}:{port} backlog=4096; root {site.root}; }}\n"
        for address, site in zip(addresses, sites, strict=True)
    )
    configuration = home / "nginx.conf"
    configuration.write_text(_CONFIGURATION.format(home=home, servers=servers), encoding="utf-8")
    nginx = subprocess.Popen(["nginx", "-c", str(configuration)])
    try:
        for address in addresses:
            _await_open(address, port)
        seeds = [
            f"http://{address}:{port}/{site.start}"
            for address, site in zip(addresses, sites, strict=True)
        ]
        yield Web(tuple(seeds), home / "access.log", nginx.pid)
    finally:
        nginx.terminate()
        nginx.wait()
        shutil.rmtree(home)


def warm(sites: Sequence[Site]) -> None:
    """Read all pages once, so that no crawler pays for the disk and the next does not."""
    for site in sites:
        for path in site.root.rglob("*.html"):
            if path.is_file():
                path.read_bytes()


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("0.0.0.0", 0))
        port: int = tried.getsockname()[1]
        return port


def _await_open(address: str, port: int) -> None:
    until_s = time.monotonic() + _START_S
    while True:
        try:
            socket.create_connection((address, port)).close()
        except ConnectionRefusedError:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.02)
        else:
            return
