"""A client of the whole application, without a network; it keeps cookies, follows no redirects.

browser = Browser(served(collection))
assert browser.get("/").status_code == 200
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp

from gossamer.base.clock import ManualClock
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.resolve import ResolvedHost
from gossamer.node.bare_names import Chosen, choose_urls
from gossamer.web.app import build_app
from gossamer.web.check_crawl import Checker
from gossamer.web.crawls import Crawls
from gossamer.web.open_collections import OpenCollections
from gossamer.web.protect.guard import Names
from gossamer.web.protect.login import Credentials
from gossamer.web.render import Renderer
from gossamer.web.route import ViewContext

TOKEN = "a-token-for-tests-only"


@dataclass
class FakeProcess:
    """A program that was started, or rather was not."""

    words: Sequence[str]
    code: int | None = None

    def poll(self) -> int | None:
        return self.code

    def wait(self, timeout: float) -> int:
        """It ends when a test says so, never by waiting."""
        if self.code is None:
            raise subprocess.TimeoutExpired(list(self.words), timeout)
        return self.code


@dataclass
class Served:
    """A server of a test, and what it was made of."""

    context: ViewContext
    app: ASGIApp
    clock: ManualClock
    started: list[FakeProcess] = field(default_factory=list)


@dataclass
class FakeOutside:
    """A network in which every name is public, but for those that a test names."""

    addresses: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def choose(self, texts: Sequence[str], guard: AddressGuard) -> list[Chosen]:
        return asyncio.run(choose_urls(texts, guard, probe=False))

    def resolve(self, hosts: Sequence[str]) -> dict[str, ResolvedHost]:
        found = {host: self.addresses.get(host, ("8.8.8.8",)) for host in hosts}
        return {host: ResolvedHost(them, 0.0, "no such name") for host, them in found.items()}


def served(
    collection: Path,
    *,
    is_open: bool = True,
    bound: str = "127.0.0.1",
    password: str = "",
    contact: str = "me@example.org",
    outside: FakeOutside | None = None,
    allow_private: tuple[str, ...] = (),
) -> Served:
    """The application over a collection; crawls are noted instead of started."""
    clock = ManualClock()
    collections = OpenCollections(collection, collection.parent / "crawls", clock)
    started: list[FakeProcess] = []

    def note(words: Sequence[str], output: Path) -> Any:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text("gossamer: what it said\n")
        started.append(FakeProcess(words))
        return started[-1]

    spawn: Callable[[Sequence[str], Path], Any] = note
    credentials = Credentials(token=TOKEN, password=password, is_open_to_readers=is_open)
    config = collection.parent / "user.toml"
    config.write_text(f'[fetch]\ncontact = "{contact}"\n' if contact else "")
    checker = Checker(outside or FakeOutside(), allow_private, {"GOSSAMER_CONFIG": str(config)})
    context = ViewContext(
        collections, Crawls(collections, spawn, checker), credentials, Renderer(), clock
    )
    return Served(context, build_app(context, Names(bound)), clock, started)


class Browser:
    """Somebody at a browser, or a program with the token."""

    def __init__(self, server: Served, *, token: str = "", scheme: str = "http") -> None:
        self._server = server
        self._origin = f"{scheme}://127.0.0.1:8800"
        self._cookies = httpx.Cookies()
        self._headers = {"authorization": f"Bearer {token}"} if token else {}

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        return asyncio.run(self._ask(method, path, **more))

    async def _ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._server.app)
        async with httpx.AsyncClient(
            transport=transport, base_url=self._origin, cookies=self._cookies
        ) as client:
            headers = {**self._headers, **more.pop("headers", {})}
            answer = await client.request(method, path, headers=headers, **more)
            self._cookies = client.cookies
            return answer

    def get(self, path: str, **params: str) -> httpx.Response:
        return self.ask("GET", path, params=params or None)

    def post(self, path: str, **form: str) -> httpx.Response:
        return self.ask("POST", path, data=form)

    def log_in(self) -> str:
        """Log in with the token; the word that forms must carry."""
        assert self.post("/login", word=TOKEN).status_code == 303
        page = self.get("/crawls").text
        return page.partition('<meta name="csrf" content="')[2].partition('"')[0]
