"""Start the server of a hub: certificates, secrets, and one port for units and people.

Units use `/fleet/v1/...` with their tokens. Everything else is the web interface of the central
collection with the pages of the fleet, with its own login. On any address other than loopback it
refuses to start without a token or a password for people.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from gossamer.base.clock import Clock
from gossamer.errors import DiskFault, StoreError, UsageError
from gossamer.fleet.hub.folder import HubFolder
from gossamer.fleet.hub.http import unit_routes
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.package_store import PackageStore
from gossamer.fleet.hub.secure.certificates import (
    ServerFiles,
    client_pem,
    load_chain,
    own_files,
    server_context,
)
from gossamer.fleet.protocol import PREFIX
from gossamer.fleet.settings import HubSettings
from gossamer.fleet.update.repository import UpdateRepository
from gossamer.web.protect.connection_limit import server_connection_limit
from gossamer.web.protect.timeouts import TimeoutProtocol

_TICK_S: Final = 0.5
_SEEN_S: Final = 30.0
_MERGE_S: Final = 2.0
_UPDATES_S: Final = 5.0
_RENEW_S: Final = 3_600.0  # how often certificates are looked at


def names_of(settings: HubSettings) -> tuple[str, ...]:
    """The names and addresses that the certificate is for."""
    if settings.names:
        return settings.names
    if settings.host in ("0.0.0.0", "::"):  # noqa: S104  # compared
        found = [socket.gethostname(), *_own_addresses()]
        return tuple(dict.fromkeys([*found, "localhost", "127.0.0.1"]))
    return (settings.host,) if settings.host != "127.0.0.1" else ("localhost", "127.0.0.1")


def _own_addresses() -> list[str]:
    with suppress(OSError):
        found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
        return sorted({str(one[4][0]).partition("%")[0] for one in found})
    return []


def files_of(folder: HubFolder, settings: HubSettings, clock: Clock) -> ServerFiles:
    """The given certificate, or one of the hub's own authority. Raises UsageError."""
    if settings.certificate:
        if not settings.key:
            raise UsageError("`certificate` needs `key`: the file of its private key")
        certificate, key = Path(settings.certificate), Path(settings.key)
        return ServerFiles(certificate, key, None if settings.is_public else certificate)
    return own_files(folder.path, names_of(settings), clock.wall_us())


def authority_pem(files: ServerFiles) -> str:
    """The last certificate of the file: that of the authority."""
    if files.authority is None:
        return ""
    begin = "-----BEGIN CERTIFICATE-----"
    text = files.authority.read_text(encoding="ascii")
    return begin + text.rpartition(begin)[2] if begin in text else ""


@dataclass(slots=True)
class HubServer:
    """A hub behind HTTPS."""

    hub: Hub
    folder: HubFolder
    clock: Clock
    people: ASGIApp
    context: ssl.SSLContext = field(init=False)
    files: ServerFiles = field(init=False)
    updates: UpdateRepository = field(init=False)
    packages: PackageStore | None = None
    listeners: list[socket.socket] = field(default_factory=list)

    def __post_init__(self) -> None:
        settings = self.hub.settings
        self.files = files_of(self.folder, settings, self.clock)
        self.context = server_context(self.files, asks_clients=settings.client_certificates)
        self.hub.joining.authority_pem = authority_pem(self.files)
        self.updates = UpdateRepository(self.folder.update, self.clock)
        self.hub.update_file = self.updates.path_of
        self.look_at_updates()
        if settings.client_certificates:
            self.hub.certificate_for = lambda unit: client_pem(
                self.folder.path, unit, self.clock.wall_us()
            )

    def app(self) -> ASGIApp:
        """Units and people, by path."""
        needs = self.hub.settings.client_certificates
        units = Starlette(routes=unit_routes(self.hub, needs_certificate=needs))
        return _Both(units, self.people, self._upkeep)

    @asynccontextmanager
    async def _upkeep(self) -> AsyncIterator[None]:
        tasks = [
            asyncio.create_task(self._every(_TICK_S, self._tick)),
            asyncio.create_task(self._every(_SEEN_S, self.hub.note_seen)),
            asyncio.create_task(self._every(_RENEW_S, self.renew)),
            asyncio.create_task(self._every(_UPDATES_S, self.look_at_updates)),
        ]
        if self.packages is not None:
            tasks.append(asyncio.create_task(self._every(_MERGE_S, self.packages.tick)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(self.hub.flush)

    async def _every(self, seconds: float, work: Any) -> None:
        """Do something again and again; a full disk does not end it."""
        while True:
            with suppress(StoreError, DiskFault, OSError):
                await asyncio.to_thread(work)
            await self.clock.sleep_until(self.clock.now_s() + seconds)

    def _tick(self) -> None:
        self.hub.tick()
        self.hub.merge_released()
        self.hub.flush()

    def renew(self) -> None:
        """Renew the certificate before it ends; new connections use it."""
        with suppress(UsageError):
            self.files = files_of(self.folder, self.hub.settings, self.clock)
            load_chain(self.context, self.files)

    def look_at_updates(self) -> None:
        """Offer what a command has published, and sign it again before it expires."""
        with suppress(StoreError, UsageError):  # a command publishes just now, or keys are missing
            self.updates.renew()
        self.hub.update_root = self.updates.root_text()
        self.hub.offers = self.updates.version

    def config(self) -> uvicorn.Config:
        settings = self.hub.settings

        class UnitProtocol(TimeoutProtocol):
            room = server_connection_limit()
            most_of_one = settings.units_per_address
            _client_name = ""

            def connection_made(self, transport: Any) -> None:
                self._client_name = _client_name(transport)
                super().connection_made(transport)

            def on_message_begin(self) -> None:
                super().on_message_begin()
                if self._client_name:
                    self.scope["client_name"] = self._client_name  # type: ignore[typeddict-unknown-key]

        config = uvicorn.Config(
            self.app(),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
            timeout_keep_alive=75,  # a unit polls again on the same connection: no new handshake
            http=UnitProtocol,
            ws="none",
        )
        config.load()
        config.ssl = self.context
        return config


def _client_name(transport: Any) -> str:
    """The common name of a client's certificate, which TLS has checked; empty if there is none."""
    tls = transport.get_extra_info("ssl_object")
    found = tls.getpeercert() if tls is not None else None
    for part in (found or {}).get("subject", ()):
        for name, value in part:
            if name == "commonName":
                return str(value)
    return ""


class _Both:
    """An ASGI application that gives requests of units and of people to their own."""

    def __init__(self, units: ASGIApp, people: ASGIApp, upkeep: Any) -> None:
        self._units = units
        self._people = people
        self._upkeep = upkeep

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            async with self._upkeep():
                await self._people(scope, receive, send)
        elif scope["path"].startswith(f"{PREFIX}/"):
            await self._units(scope, receive, send)
        else:
            await self._people(scope, receive, send)


def run_server(server: HubServer, listeners: Sequence[socket.socket]) -> None:
    """Serve until a signal arrives."""
    with suppress(KeyboardInterrupt):
        uvicorn.Server(server.config()).run(sockets=list(listeners))
