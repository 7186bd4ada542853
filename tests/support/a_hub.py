"""A hub for tests: in memory with a clock of its own, or behind real TLS on loopback.

hub = a_hub(tmp_path)
unit = hub.new_unit("den")
answer = unit.poll(wants_job=True)

with hub_server(tmp_path / "hub") as served: served.client(token).post("/poll", ...)
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import msgspec
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

from gossamer.base.clock import Clock, ManualClock, SystemClock
from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.hub.folder import HubFolder, open_hub
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.intake import TakenFacts
from gossamer.fleet.hub.rows import SampledPage, UnitRow
from gossamer.fleet.hub.secure.audit import AuditLog
from gossamer.fleet.hub.store import HubStore
from gossamer.fleet.protocol import (
    PREFIX,
    Assignment,
    JobProgress,
    JobSpec,
    Join,
    MachineFacts,
    PackageAccepted,
    PackageNotice,
    PackagePiece,
    Poll,
    PollAnswer,
    UnitPlace,
)
from gossamer.fleet.settings import HubSettings
from gossamer.web.hub.server import HubServer
from gossamer.web.server import listening


def machine(name: str, label: str = "") -> MachineFacts:
    return MachineFacts(
        name=name, platform="linux-x86_64", python="3.11", version="1",
        place=UnitPlace(label=label),
    )  # fmt: skip


def site(name: str, **facts: Any) -> JobSpec:
    return JobSpec(kind="site", seeds=(f"https://{name}/",), **facts)


class PiecesInMemory:
    """Packages of tests: a package is a JSON list of pages. Merged ones are noted in order."""

    def __init__(self) -> None:
        self.pieces: dict[str, bytes] = {}
        self.checked: dict[str, bytes] = {}
        self.merged: list[str] = []

    def missing_pieces(self, _unit: str, _job: str, digests: Sequence[str]) -> list[int]:
        return [at for at, digest in enumerate(digests) if digest not in self.pieces]

    def missing_payloads(self, digests: Sequence[str], _hosts: Sequence[str], /) -> list[int]:
        return list(range(len(digests)))

    def put_piece(self, _unit: str, _job: str, sha256: str, data: bytes) -> bool:
        if hashlib.sha256(data).hexdigest() != sha256:
            raise UnitRefusal(422, "the piece has another digest", "digest")
        is_new = sha256 not in self.pieces
        self.pieces[sha256] = data
        return is_new

    def check(
        self,
        _unit: str,
        notice: PackageNotice,
        _spec: JobSpec,
        _hosts: tuple[str, ...],
        package: str,
        /,
    ) -> TakenFacts:
        try:
            data = b"".join(self.pieces[piece.sha256] for piece in notice.pieces)
        except KeyError:
            raise UnitRefusal(422, "a piece is missing", "pieces") from None
        if hashlib.sha256(data).hexdigest() != notice.sha256:
            raise UnitRefusal(422, "the package has another digest", "digest")
        sample = msgspec.json.decode(data, type=tuple[SampledPage, ...])
        self.checked[package] = data
        return TakenFacts(pages=len(sample), crawled_bytes=10 * len(data), sample=sample)

    def merge(self, package: str, _job: str, /) -> None:
        self.merged.append(package)

    def drop(self, package: str) -> None:
        self.checked.pop(package)


def pages_of(*urls: str, text: str = "same") -> tuple[SampledPage, ...]:
    return tuple(
        SampledPage(url=url, status=200, digest=hashlib.sha256((url + text).encode()).hexdigest())
        for url in urls
    )


def packed(pages: tuple[SampledPage, ...]) -> bytes:
    return msgspec.json.encode(pages)


def notice_of(job: str, fence: int, data: bytes, **facts: Any) -> PackageNotice:
    digest = hashlib.sha256(data).hexdigest()
    piece = PackagePiece(sha256=digest, size=len(data))
    return PackageNotice(
        job=job, fence=fence, kind="pages", pieces=(piece,), sha256=digest, size=len(data), **facts
    )


@dataclass
class TestUnit:
    """A unit of tests that speaks with the hub directly."""

    __test__ = False

    hub: Hub
    row: UnitRow
    token: str

    def poll(self, *progress: JobProgress, state: Any = "idle", **facts: Any) -> PollAnswer:
        answer = self.hub.poll(self.row, Poll(state=state, progress=progress, **facts))
        self.hub.flush()
        return answer

    def ask(self) -> Assignment:
        """A job; there must be one."""
        job = self.poll(wants_job=True).job
        assert job is not None
        return job

    def tell(self, job: Assignment, **facts: Any) -> PollAnswer:
        progress = JobProgress(job=job.job, fence=job.fence, **facts)
        return self.poll(progress, state="working")

    def send(self, job: Assignment, pages: tuple[SampledPage, ...]) -> PackageAccepted:
        data = packed(pages)
        self.hub.take_piece(self.row, job.job, job.fence, hashlib.sha256(data).hexdigest(), data)
        return self.hub.take_package(self.row, notice_of(job.job, job.fence, data))

    def finish(self, job: Assignment, pages: tuple[SampledPage, ...] = ()) -> None:
        """Send a package and end the job."""
        self.tell(job, fetched=len(pages) or 1)
        self.send(job, pages or pages_of(*job.spec.seeds))
        self.tell(job, fetched=len(pages) or 1, ending="done")


@dataclass
class TestHub:
    """A hub without a server."""

    __test__ = False

    hub: Hub
    clock: ManualClock
    pieces: PiecesInMemory = field(default_factory=PiecesInMemory)

    def __post_init__(self) -> None:
        self.hub.intake.door = self.pieces

    def new_unit(self, name: str = "den", label: str = "", **facts: Any) -> TestUnit:
        code, _ = self.hub.invite(**facts)
        joined = self.hub.join(Join(code=code, machine=machine(name, label)))
        self.hub.flush()
        return TestUnit(self.hub, self.hub.unit_of(joined.token), joined.token)

    def later(self, seconds: float) -> None:
        """Let time pass."""
        asyncio.run(self.clock.advance(seconds))
        self.hub.tick()


def a_hub(
    folder: Path, where: str | Path = "", clock: ManualClock | None = None, **settings: Any
) -> TestHub:
    """A hub in a folder. By default nobody's work is compared."""
    clock = clock or ManualClock()
    chosen = HubSettings(**{"good_jobs": 0, **settings})
    store = HubStore.open(where or folder / "hub.sqlite")
    return TestHub(Hub(store, chosen, clock, AuditLog(folder / "audit.jsonl", clock)), clock)


@dataclass
class ServedHub:
    """A hub behind TLS on loopback."""

    hub: Hub
    server: HubServer
    port: int
    pieces: PiecesInMemory

    @property
    def origin(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def authority(self) -> Path:
        assert self.server.files.authority is not None
        return self.server.files.authority

    def client(self, token: str = "", certificate: Path | None = None) -> httpx.Client:
        """Speaks with the HTTP interface for units."""
        trust = ssl.create_default_context(cafile=str(self.authority))
        if certificate is not None:
            trust.load_cert_chain(certificate)
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(
            base_url=self.origin + PREFIX,
            verify=trust,
            headers=headers,
            trust_env=False,
            timeout=60,
        )


def nobody() -> ASGIApp:
    """In the place of the pages for people."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while True:
                message = await receive()
                await send({"type": f"{message['type']}.complete"})
                if message["type"] == "lifespan.shutdown":
                    return
        await PlainTextResponse("people")(scope, receive, send)

    return app


@contextmanager
def hub_server(
    folder: Path, people: ASGIApp | None = None, clock: Clock | None = None, **settings: Any
) -> Iterator[ServedHub]:
    """Serve a hub while the block runs."""
    chosen = HubSettings(**{"good_jobs": 0, "names": ("127.0.0.1", "localhost"), **settings})
    clock = clock or SystemClock()
    place = HubFolder(folder)
    with open_hub(place, chosen, clock) as hub, listening("127.0.0.1", 0) as listener:
        pieces = PiecesInMemory()
        hub.intake.door = pieces
        server = HubServer(hub, place, clock, people or nobody())
        running = uvicorn.Server(server.config())
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield ServedHub(hub, server, listener.getsockname()[1], pieces)
        finally:
            running.should_exit = True
            thread.join()
