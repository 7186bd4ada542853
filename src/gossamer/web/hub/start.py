"""Open a hub and serve it: the one place that joins the hub, its pages and its packages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gossamer.base.clock import SystemClock
from gossamer.base.files import delete_if_possible
from gossamer.fleet.hub.folder import HubFolder, open_hub
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.package_store import PackageStore
from gossamer.fleet.packages.format import PackageLimits
from gossamer.fleet.settings import HubSettings
from gossamer.web.app import build_app
from gossamer.web.hub.fleet_pages import PAGES as FLEET_PAGES
from gossamer.web.hub.routes import fleet_routes
from gossamer.web.hub.server import HubServer, names_of, run_server
from gossamer.web.protect.guard import Names
from gossamer.web.route import ViewContext
from gossamer.web.server import Serving, build_context, build_credentials, listening


@dataclass(frozen=True, slots=True, kw_only=True)
class HubServing:
    """The options of the operator; the rest is in hub.toml."""

    folder: HubFolder
    settings: HubSettings
    token_file: Path | None = None
    password_file: Path | None = None
    allowed_hosts: Sequence[str] = ()
    proxies: Sequence[str] = ()

    def of_pages(self, port: int) -> Serving:
        settings = self.settings
        return Serving(
            collection=self.folder.collection(settings),
            crawls=self.folder.path / "crawls",
            host=settings.host,
            port=port,
            token_file=self.token_file,
            password_file=self.password_file,
            allowed_hosts=(*names_of(settings), *self.allowed_hosts),
            proxies=self.proxies,
        )


@dataclass(frozen=True, slots=True)
class StartedHub:
    """A hub that is about to serve."""

    hub: Hub
    server: HubServer
    context: ViewContext
    port: int

    @property
    def page(self) -> str:
        """The address of the page for people."""
        return self.hub.url


@contextmanager
def started(serving: HubServing) -> Iterator[StartedHub]:
    """Open everything and listen; `serve` follows inside the block. Raises UsageError before the
    port is open if people could reach it without a secret."""
    build_credentials(serving.of_pages(serving.settings.port))
    settings, clock = serving.settings, SystemClock()
    with (
        open_hub(serving.folder, settings, clock) as hub,
        listening(settings.host, settings.port) as listener,
    ):
        port = listener.getsockname()[1]
        pages = serving.of_pages(port)
        context = replace(build_context(pages), hub=hub)
        context.credentials.others = lambda given: _scope_of(hub, given)
        routes = (*fleet_routes(hub), *FLEET_PAGES)
        app = build_app(context, Names(pages.host, pages.allowed_hosts), routes)
        store = PackageStore(serving.folder.path, pages.collection, clock, _limits(settings))
        server = HubServer(hub, serving.folder, clock, app, packages=store)
        name = names_of(settings)[0]
        shown = f"[{name}]" if ":" in name else name
        hub.url = settings.url or f"https://{shown}:{port}"
        server.listeners.append(listener)
        _write_access(serving.folder, server, context.credentials.token, settings.host, port)
        try:
            store.attach(hub)
            yield StartedHub(hub, server, context, port)
        finally:
            store.close()
            delete_if_possible(serving.folder.access)


def serve(started_hub: StartedHub) -> None:
    """Serve until a signal arrives."""
    run_server(started_hub.server, started_hub.server.listeners)


def _limits(settings: HubSettings) -> PackageLimits:
    return PackageLimits(max_bytes=settings.max_package_bytes)


def _scope_of(hub: Hub, given: str) -> Literal["", "read", "manage"]:
    person = hub.joining.person_of(given)
    return person.scope if person else ""


def _write_access(folder: HubFolder, server: HubServer, token: str, host: str, port: int) -> None:
    """How commands of the owner reach the running hub. Only the owner can read it."""
    near = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared
    facts = {
        "host": near,
        "port": port,
        "token": token,
        "certificate": str(server.files.certificate.resolve()),
    }
    folder.access.unlink(missing_ok=True)
    handle = os.open(folder.access, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(facts, file)
