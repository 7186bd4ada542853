"""A small hub for tests of a unit, over real TLS: it gives what a test says and remembers all."""

from __future__ import annotations

import hashlib
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from gossamer.fleet.join_code import JoinCode, pin_of
from gossamer.fleet.protocol import (
    PREFIX,
    Assignment,
    BannedLines,
    FleetMessage,
    HaveQuestion,
    JobEnding,
    JobProgress,
    JobSpec,
    Join,
    Joined,
    MissingDigests,
    PackageAccepted,
    PackageNotice,
    PieceStored,
    Poll,
    PollAnswer,
    SharedPace,
    UnitOrder,
)
from support.certificates import Authority, server_context

SECRET: Final = b"s" * 16
TOKEN: Final = "token-of-the-unit"
Answer = tuple[int, bytes]


@dataclass
class FakeHub:
    """What the hub gives, and what it was told."""

    authority: str
    port: int = 0
    lease_s: float = 60.0
    wait_s: float = 0.3
    to_give: list[Assignment] = field(default_factory=list)
    orders: list[UnitOrder] = field(default_factory=list)
    stop: list[str] = field(default_factory=list)
    bans: BannedLines = field(default_factory=lambda: BannedLines(version=0, lines=()))
    pace: tuple[SharedPace, ...] = ()
    probe: tuple[str, ...] = ()
    refuse: Answer | None = None  # to every poll
    joins: list[Join] = field(default_factory=list)
    polls: list[Poll] = field(default_factory=list)
    packages: list[PackageNotice] = field(default_factory=list)
    pieces: dict[str, bytes] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)
    peers: list[str] = field(default_factory=list)  # addresses of the requests
    is_used: bool = False

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def code(self) -> str:
        return JoinCode(SECRET, pin_of(self.authority)).text()

    @property
    def endings(self) -> list[tuple[str, JobEnding]]:
        """Of all jobs, as often as they were told."""
        return [
            (told.job, told.ending)
            for poll in self.polls
            for told in poll.progress
            if told.ending is not None
        ]

    def last(self, job: str) -> JobProgress | None:
        """What was last told of a job."""
        found = [t for poll in self.polls for t in poll.progress if t.job == job]
        return found[-1] if found else None

    # -- answers

    def answer(self, method: str, path: str, body: bytes, token: str) -> Answer:
        if path == "/ca":
            return 200, self.authority.encode()
        if path == "/join":
            return self._join(msgspec.json.decode(body, type=Join))
        if token != f"Bearer {TOKEN}":
            return _fault(401, "the token is not known")
        if path == "/poll":
            return self._poll(msgspec.json.decode(body, type=Poll))
        if path == "/bans":
            return _message(self.bans)
        if path == "/have":
            return self._have(msgspec.json.decode(body, type=HaveQuestion))
        if path == "/package":
            self.packages.append(msgspec.json.decode(body, type=PackageNotice))
            return _message(PackageAccepted(package="p", is_new=True))
        if method == "PUT" and path.startswith("/pieces/"):
            assert hashlib.sha256(body).hexdigest() == path.rpartition("/")[2]
            self.pieces[path.rpartition("/")[2]] = body
            return _message(PieceStored(is_new=True))
        return _fault(404, "no such path")

    def _join(self, join: Join) -> Answer:
        if self.is_used:
            return _fault(403, "the code was used; make a new one", "code-used")
        self.is_used = True
        self.joins.append(join)
        return _message(Joined(unit="u1", token=TOKEN, hub="h1", poll_s=self.wait_s))

    def _poll(self, poll: Poll) -> Answer:
        self.polls.append(poll)
        if self.refuse is not None:
            return self.refuse
        job = self.to_give.pop(0) if poll.wants_job and self.to_give else None
        open_jobs = [told.job for told in poll.progress if told.ending is None]
        done = {done.order for done in poll.orders_done}
        self.orders = [order for order in self.orders if order.order not in done]
        return _message(
            PollAnswer(
                wait_s=self.wait_s,
                orders=tuple(self.orders),
                job=job,
                stop=tuple(name for name in self.stop if name in open_jobs),
                renewed={name: self.lease_s for name in open_jobs if name not in self.stop},
                bans_version=self.bans.version,
                pace=self.pace,
                probe=self.probe,
            )
        )

    def _have(self, question: HaveQuestion) -> Answer:
        missing = (at for at, name in enumerate(question.digests) if name not in self.pieces)
        return _message(MissingDigests(missing=tuple(missing)))

    def job(self, name: str, *seeds: str, **more: Any) -> Assignment:
        """An assignment of a site on loopback, without delay."""
        spec = JobSpec(kind="site", seeds=seeds, options={"delay": 0, "scope": "host"}, **more)
        return Assignment(
            job=name, fence=1, spec=spec, lease_s=self.lease_s, hosts=("127.0.0.1", "localhost")
        )


def _message(message: FleetMessage) -> Answer:
    return 200, msgspec.json.encode(message)


def _fault(status: int, error: str, reason: str = "") -> Answer:
    return status, json.dumps({"error": error, "reason": reason}).encode()


class _HubServer(ThreadingHTTPServer):
    daemon_threads = True
    hub: FakeHub
    context: ssl.SSLContext

    def finish_request(self, request: Any, client_address: Any) -> None:
        """The handshake, in the thread of the connection."""
        try:
            secure = self.context.wrap_socket(request, server_side=True)
        except OSError:
            return
        with secure:
            super().finish_request(secure, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class _HubHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def _do(self) -> None:
        hub = cast("_HubServer", self.server).hub
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        token = self.headers.get("Authorization", "")
        hub.peers.append(str(self.client_address[0]))
        if token:
            hub.tokens.append(token)
        status, content = hub.answer(self.command, self.path.removeprefix(PREFIX), body, token)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = _do  # noqa: N815  # names of http.server

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(hub: FakeHub, certificate: Path, port: int = 0) -> Iterator[None]:
    """Let a hub answer while the block runs; before and after it nobody listens."""
    server = _HubServer(("127.0.0.1", port or hub.port), _HubHandler)
    server.hub, server.context = hub, server_context(certificate)
    hub.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def a_hub(folder: Path) -> Iterator[FakeHub]:
    """A hub with its own authority."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = Authority.make(folder)
    hub = FakeHub(authority.certificate.read_text())
    with serving(hub, authority.sign("127.0.0.1")):
        yield hub
