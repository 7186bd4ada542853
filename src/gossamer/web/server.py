"""Start the server: check the address and the secrets, and run the event loop.

On any address other than loopback it refuses to start without a token or a password: anyone who can
reach it could otherwise start crawls from this machine.
"""

from __future__ import annotations

import secrets
import socket
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import EADDRINUSE
from pathlib import Path
from typing import Final

import uvicorn

from gossamer.base.clock import SystemClock
from gossamer.collection.configure import configure
from gossamer.errors import SettingsError, UsageError
from gossamer.fetch.guard import AddressGuard
from gossamer.search.searchers import Searchers
from gossamer.web.app import build_app
from gossamer.web.check_crawl import Checker, RealOutside
from gossamer.web.crawls import Crawls
from gossamer.web.open_collections import OpenCollections
from gossamer.web.protect.connection_limit import server_connection_limit
from gossamer.web.protect.guard import Names, is_loopback
from gossamer.web.protect.login import Credentials, check_hash, check_token
from gossamer.web.protect.proxies import read_proxies
from gossamer.web.protect.timeouts import TimeoutProtocol
from gossamer.web.render import Renderer
from gossamer.web.route import ViewContext

_BACKLOG: Final = 2048  # pending connections


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """The options of the operator."""

    collection: Path
    crawls: Path | None = None  # folder of new crawls; default: beside the collection
    host: str = "127.0.0.1"
    port: int = 8800
    token_file: Path | None = None
    password_file: Path | None = None
    allowed_hosts: Sequence[str] = ()
    proxies: Sequence[str] = ()  # addresses and networks of trusted proxies
    searchers: int = 0  # search processes; 0: search in this process
    allow_private: Sequence[str] = ()  # networks that crawls from the web interface may access

    @property
    def folder(self) -> Path:
        where = self.collection.resolve()
        return self.crawls or where.with_name(f"{where.name}-crawls")


def build_credentials(serving: Serving) -> Credentials:
    """Return the secrets of the server. Raises UsageError if it must not be open."""
    token = _secret_in(serving.token_file)
    password = _secret_in(serving.password_file)
    on_loopback = is_loopback(serving.host)
    if not on_loopback and not (token or password):
        raise UsageError(
            f"{serving.host} can be reached from outside; set a secret with --token-file FILE or "
            "--password-file FILE, or use 127.0.0.1"
        )
    return Credentials(
        token=check_token(token) if token else secrets.token_urlsafe(24),
        password=check_hash(password) if password else "",
        is_open_to_readers=on_loopback,
        cookie=f"gossamer_{serving.port}",
        proxies=read_proxies(serving.proxies),
    )


def _secret_in(path: Path | None) -> str:
    """Return the first line of a file that only its owner can read. Raises UsageError."""
    if path is None:
        return ""
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UsageError(f"other users can read {path}; run `chmod 600 {path}`")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as fault:
        raise UsageError(f"cannot read {path}: {getattr(fault, 'strerror', fault)}") from fault
    if not lines or not lines[0].strip():
        raise UsageError(f"{path} is empty; write the secret into its first line")
    return lines[0].strip()


def allowed_networks(collection: Path, flags: Sequence[str] | None) -> tuple[str, ...]:
    """Return the private networks that crawls may access: from the flags, else from the settings.

    Raises SettingsError for an invalid network.
    """
    typed = {"web.allow_private": tuple(flags)} if flags else {}
    networks = configure(collection, typed).settings.web.allow_private
    try:
        AddressGuard(networks)
    except SettingsError as fault:
        problem = str(fault).removeprefix(f"{fault.key} ")
        raise SettingsError("web.allow_private", problem) from None
    return networks


def build_context(serving: Serving) -> ViewContext:
    """Return everything that the views use. Raises UsageError."""
    clock = SystemClock()
    credentials = build_credentials(serving)
    searchers = Searchers(serving.searchers) if serving.searchers else None
    collections = OpenCollections(serving.collection, serving.folder, clock, searchers)
    checker = Checker(RealOutside(), tuple(serving.allow_private))
    return ViewContext(
        collections, Crawls(collections, checker=checker), credentials, Renderer(), clock
    )


def origin_of(serving: Serving) -> str:
    """Return the origin of the server for a browser on this machine."""
    host = "127.0.0.1" if serving.host in ("0.0.0.0", "::") else serving.host  # noqa: S104  # compared
    return f"http://[{host}]:{serving.port}" if ":" in host else f"http://{host}:{serving.port}"


def listening(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 is any free port. Raises UsageError."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as fault:
        why = "another program uses it" if fault.errno == EADDRINUSE else fault.strerror
        raise UsageError(
            f"cannot listen on port {port} of {host} ({why}); choose another port with --port "
            "(0: any free port), or another address with --host"
        ) from fault


def serve(serving: Serving, context: ViewContext, listener: socket.socket) -> None:
    """Serve until a signal arrives. Started crawls continue."""

    class Patient(TimeoutProtocol):
        proxies = context.credentials.proxies
        room = server_connection_limit()

    config = uvicorn.Config(
        build_app(context, Names(serving.host, serving.allowed_hosts)),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # `proxies.py` reads them
        timeout_graceful_shutdown=2,  # live views never end by themselves
        http=Patient,
        ws="none",
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
