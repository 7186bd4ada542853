"""Many small sites on loopback, one address each, for the benches and tests of the fleet.

    with fleet_sites([generated(30), looping(20), folder(path, "a.html")], latency_s=0.05) as web:
        web.seeds; web.requests(); web.set_version(1)

A process of its own answers, so that nobody who measures shares its interpreter. Every request is
a line of the log: time, address, status, bytes, path. `latency_s` delays each response; the kernel
of a test machine often has no netem. `set_version` changes a share of the pages of generated sites.

    python -m bench.fleet_sites CONFIGURATION.json      the server itself
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import mimetypes
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_READY_S: Final = 20.0
_VOCABULARY: Final = """
    river mountain library archive crawler station paper engine signal valley harbour museum
    student lecture theory method result figure table garden bridge market letter journal winter
    summer window planet ocean island forest copper silver carbon oxygen protein neuron vector
    matrix kernel thread socket buffer record ledger census survey harvest cotton wheat barley
"""
_WORDS: Final = _VOCABULARY.split()
_CHANGED_SHARE: Final = 20  # one page in so many is another in each version


@dataclass(frozen=True, slots=True)
class SiteSpec:
    """One site: `kind` is generated, looping or folder."""

    kind: str
    pages: int = 0
    root: str = ""
    start: str = ""
    name: str = ""


def generated(pages: int, name: str = "") -> SiteSpec:
    return SiteSpec("generated", pages, name=name)


def looping(pages: int, name: str = "") -> SiteSpec:
    """A generated site with a calendar that has no end."""
    return SiteSpec("looping", pages, name=name)


def folder(root: Path, start: str, name: str = "") -> SiteSpec:
    return SiteSpec("folder", root=str(root), start=start, name=name)


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A line of the log."""

    at_s: float
    address: str
    status: int
    size: int
    path: str


@dataclass(frozen=True, slots=True)
class FleetWeb:
    """Sites that are up."""

    seeds: tuple[str, ...]
    home: Path

    def set_version(self, version: int) -> None:
        """Change a share of the pages."""
        new = self.home / "version.new"
        new.write_text(str(version), encoding="utf-8")
        new.rename(self.home / "version")

    def requests(self) -> list[SeenRequest]:
        """All requests so far, in the order of their arrival."""
        lines = (self.home / "access.log").read_text(encoding="utf-8").splitlines()
        rows = (line.split(" ", 4) for line in lines)
        return [SeenRequest(float(a), b, int(c), int(d), e) for a, b, c, d, e in rows]


@contextmanager
def fleet_sites(
    sites: Sequence[SiteSpec],
    *,
    latency_s: float = 0.0,
    network: str = "127.0.13",
    within: Sequence[str] = (),
) -> Iterator[FleetWeb]:
    """Serve sites on `network`.1 and up while the block runs. `within` are the words before the
    command, such as those that enter a network namespace."""
    with tempfile.TemporaryDirectory(prefix="fleet-web-") as text:
        home = Path(text)
        addresses = [f"{network}.{number}" for number, _ in enumerate(sites, 1)]
        port = free_port()
        told = [
            {"address": address, "number": number, "kind": site.kind, "pages": site.pages,
             "root": site.root}
            for number, (address, site) in enumerate(zip(addresses, sites, strict=True))
        ]  # fmt: skip
        settings = {"home": text, "port": port, "latency_s": latency_s, "sites": told}
        (home / "sites.json").write_text(json.dumps(settings), encoding="utf-8")
        (home / "access.log").touch()
        (home / "version").write_text("0", encoding="utf-8")
        words = [*within, sys.executable, "-m", "bench.fleet_sites", str(home / "sites.json")]
        server = subprocess.Popen(words, cwd=Path(__file__).parents[1])
        try:
            _await_ready(home, server)
            seeds = (f"http://{a}:{port}/{s.start}" for a, s in zip(addresses, sites, strict=True))
            yield FleetWeb(tuple(seeds), home)
        finally:
            server.terminate()
            server.wait()


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("0.0.0.0", 0))
        port: int = tried.getsockname()[1]
        return port


def _await_ready(home: Path, server: subprocess.Popen[bytes]) -> None:
    until_s = time.monotonic() + _READY_S
    while not (home / "ready").exists():
        if time.monotonic() > until_s or server.poll() is not None:
            raise TimeoutError("the sites of the fleet were not served")
        time.sleep(0.02)


# -- the pages


def words_of(seed: str, count: int) -> str:
    """The same words each time."""
    chosen = random.Random(seed)
    return " ".join(chosen.choice(_WORDS) for _ in range(count))


def page_of(
    site: int, page: int, pages: int, sites: Sequence[tuple[str, int]], version: int
) -> str:
    """A page of a generated site: a title, a menu, 300 words, links to pages and to a site."""
    is_changed = (
        version
        and int(hashlib.sha256(f"{site} {page}".encode()).hexdigest(), 16) % (_CHANGED_SHARE)
        == version % _CHANGED_SHARE
    )
    seed = f"{site} {page} {version if is_changed else 0}"
    near = [2 * page + 1, 2 * page + 2, (page * 7 + 3) % pages, 0]
    links = "".join(
        f'<li><a href="/p{one}.html">{words_of(f"{site} {one} title", 3)}</a></li>'
        for one in near
        if one < pages
    )
    address, port = sites[(site + page + 1) % len(sites)]
    other = f'<a href="http://{address}:{port}/">{words_of(f"{address}", 2)}</a>'
    menu = "".join(
        f'<a class="menu-entry" href="/p{n}.html">Menu {n}</a>' for n in range(8) if n < pages
    )
    paragraphs = "".join(f"<p>{words_of(f'{seed} {n}', 100)}</p>" for n in range(3))
    return (
        f"<!doctype html><html lang=en><head><title>{words_of(f'{site} {page} title', 3)}</title>"
        f"<meta name=generator content=fleet-sites></head><body><nav>{menu}</nav>"
        f"<h1>{words_of(f'{site} {page} head', 4)}</h1>{paragraphs}<ul>{links}</ul>{other}"
        "</body></html>"
    )


def calendar_page(month: int) -> str:
    return (
        f"<title>Calendar {month}</title><h1>Month {month}</h1><p>No events in this month.</p>"
        f'<a href="/calendar?month={month + 1}">next</a> '
        f'<a href="/calendar?month={month - 1}">back</a>'
    )


class Answers:
    """What each site answers."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._home = Path(settings["home"])
        self._sites = {one["address"]: one for one in settings["sites"]}
        self._all = [(one["address"], settings["port"]) for one in settings["sites"]]

    def answer(self, address: str, path: str) -> tuple[int, str, bytes]:
        """Status, type and body."""
        site = self._sites[address]
        if path == "/robots.txt":
            return 200, "text/plain", b"User-agent: *\nDisallow: /private/\n"
        if site["kind"] == "folder":
            return self._file(Path(site["root"]), path)
        if site["kind"] == "looping" and path.startswith("/calendar?month="):
            month = path.removeprefix("/calendar?month=")
            if month.lstrip("-").isdigit():
                return 200, "text/html", calendar_page(int(month)).encode()
        return self._generated(site, path)

    def _generated(self, site: dict[str, Any], path: str) -> tuple[int, str, bytes]:
        name = "p0" if path == "/" else path.removeprefix("/").removesuffix(".html")
        number = int(name[1:]) if name[:1] == "p" and name[1:].isdigit() else -1
        if not 0 <= number < site["pages"]:
            return 404, "text/html", b"<title>Not found</title>Not found"
        version = int((self._home / "version").read_text(encoding="utf-8") or "0")
        html = page_of(site["number"], number, site["pages"], self._all, version)
        if site["kind"] == "looping" and number == 0:
            html = html.replace("</ul>", '</ul><a href="/calendar?month=1">calendar</a>')
        return 200, "text/html", html.encode()

    def _file(self, root: Path, path: str) -> tuple[int, str, bytes]:
        wanted = (root / path.partition("?")[0].lstrip("/")).resolve()
        if wanted.is_dir():
            wanted = wanted / "index.html"
        if not wanted.is_relative_to(root.resolve()) or not wanted.is_file():
            return 404, "text/html", b"<title>Not found</title>Not found"
        kind = mimetypes.guess_type(wanted.name)[0] or "application/octet-stream"
        return 200, kind, wanted.read_bytes()


# -- the server


async def serve(settings: dict[str, Any]) -> None:
    answers = Answers(settings)
    log = (Path(settings["home"]) / "access.log").open("a", buffering=1, encoding="utf-8")
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, ended.set)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = writer.get_extra_info("sockname")[0]
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            while not ended.is_set():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = head.split(" ", 2)[1]
                began_s = time.time()
                status, kind, body = answers.answer(address, path)
                if settings["latency_s"]:
                    await asyncio.sleep(settings["latency_s"])
                writer.write(response(head, status, kind, body))
                log.write(f"{began_s:.6f} {address} {status} {len(body)} {path}\n")
                await writer.drain()
        writer.close()

    servers = [
        await asyncio.start_server(connected, one["address"], settings["port"])
        for one in settings["sites"]
    ]
    (Path(settings["home"]) / "ready").touch()
    await ended.wait()
    for server in servers:
        server.close()
    log.close()


def response(head: str, status: int, kind: str, body: bytes) -> bytes:
    """A response with an ETag; 304 where the client has that one."""
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    if status == 200 and f"if-none-match: {tag}" in head.lower():
        return f"HTTP/1.1 304 Not Modified\r\netag: {tag}\r\n\r\n".encode()
    words = {200: "OK", 404: "Not Found"}[status]
    lines = f"HTTP/1.1 {status} {words}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
    return f"{lines}etag: {tag}\r\n\r\n".encode() + body


if __name__ == "__main__":
    asyncio.run(serve(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
