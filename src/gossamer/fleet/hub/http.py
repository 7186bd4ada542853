"""The HTTP interface for units: `unit_routes(hub)`. The messages are in `protocol.py`.

A request is authenticated first, then counted, then its body is read up to the limit of its path
and within a time. A poll is answered in the event loop: it changes memory, and waits for the disk
only if something durable has changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route as StarletteRoute

from gossamer.errors import DiskFault, GossamerError, StoreError
from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.rows import UnitRow
from gossamer.fleet.hub.saving import SharedFlush
from gossamer.fleet.hub.secure.limits import BodyRoom, RequestRates
from gossamer.fleet.protocol import (
    MESSAGE_BYTES,
    PIECE_BYTES,
    PREFIX,
    FleetFault,
    FleetMessage,
    HaveQuestion,
    Join,
    PackageNotice,
    PieceStored,
    Poll,
)

_BODY_S: Final = 300.0  # for 4 MB: 14 kB/s
_JOIN_BYTES: Final = 64 * 2**10
_JOIN_TRIES: Final = 10  # wrong codes of one address in five minutes
_RETRY_S: Final = 5.0
_ROOM: Final = BodyRoom(256 * 2**20)  # for bodies of one process
_SMALL_BYTES: Final = 64 * 2**10  # nearly all polls: they are not counted
_M = TypeVar("_M", bound=FleetMessage)
_ENCODER: Final = msgspec.json.Encoder()
_JSON: Final = {"content-type": "application/json", "cache-control": "no-store"}

UnitAnswer = Callable[[Request], Awaitable[Response]]


class UnitHttp:
    """The endpoints of one server."""

    def __init__(self, hub: Hub, *, needs_certificate: bool = False) -> None:
        self._hub = hub
        self._flush: SharedFlush | None = None
        self._needs_certificate = needs_certificate
        self._rates = RequestRates(hub.settings.requests_per_s, hub.settings.requests_burst)
        self._joins = RequestRates(_JOIN_TRIES / 300, _JOIN_TRIES)
        self._polls = msgspec.json.Decoder(Poll)
        self._known: set[str] = set()

    @property
    def flush(self) -> SharedFlush:
        if self._flush is None:  # made in the event loop that it belongs to
            self._flush = SharedFlush(self._hub.state)
        return self._flush

    # -- endpoints

    async def authority(self, _request: Request) -> Response:
        pem = self._hub.joining.authority_pem
        if not pem:
            raise UnitRefusal(404, "the hub has a certificate of a public authority")
        return Response(pem, 200, media_type="application/x-pem-file")

    async def update(self, request: Request) -> Response:
        """A file of the update repository. Everything in it is signed, and nothing is secret."""
        path = self._hub.update_file(request.path_params["path"])
        if path is None:
            raise UnitRefusal(404, "there is no such file of updates")
        return FileResponse(path, media_type="application/octet-stream")

    async def join(self, request: Request) -> Response:
        address = request.client.host if request.client else ""
        wait_s = self._joins.take(address, self._hub.clock.now_s())
        if wait_s:
            raise UnitRefusal(429, "too many join requests from this address", "rate", wait_s)
        wanted = _message(Join, await _body(request, _JOIN_BYTES))
        joined = self._hub.join(wanted, address)
        self._joins.forget(address)  # only wrong codes count
        return await self._saved(joined)

    async def poll(self, request: Request) -> Response:
        unit = self._unit(request)
        body = await _body(request, MESSAGE_BYTES)
        try:
            told = self._polls.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as fault:
            raise UnitRefusal(400, f"the message is invalid: {fault}", "message") from None
        edits = self._hub.state.edits
        answer = self._hub.poll(unit, told)
        if self._hub.state.edits != edits:
            await self.flush.saved()
        return Response(_ENCODER.encode(answer), 200, _JSON)

    async def bans(self, request: Request) -> Response:
        self._unit(request)
        return _json(self._hub.bans.lines())

    async def have(self, request: Request) -> Response:
        unit = self._unit(request)
        question = _message(HaveQuestion, await _body(request, MESSAGE_BYTES))
        return _json(await run_in_threadpool(self._hub.have, unit, question))

    async def piece(self, request: Request) -> Response:
        unit = self._unit(request)
        names = request.path_params
        fence = names["fence"]
        self._hub.check_lease(unit, names["job"], fence)
        data = await _body(request, PIECE_BYTES)
        is_new = await run_in_threadpool(
            self._hub.take_piece, unit, names["job"], fence, names["sha256"], data
        )
        return _json(PieceStored(is_new=is_new))

    async def package(self, request: Request) -> Response:
        unit = self._unit(request)
        notice = _message(PackageNotice, await _body(request, MESSAGE_BYTES))
        accepted = await run_in_threadpool(self._hub.take_package, unit, notice)
        return await self._saved(accepted)

    # -- inside

    def _unit(self, request: Request) -> UnitRow:
        """The unit that sends a request. Raises UnitRefusal."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise UnitRefusal(401, "the request has no token", "token")
        unit = self._hub.unit_of(token.strip())
        if self._needs_certificate and request.scope.get("client_name") != unit.id:
            raise UnitRefusal(401, "the connection has no certificate of this unit", "certificate")
        wait_s = self._rates.take(unit.id, self._hub.clock.now_s())
        if wait_s:
            raise UnitRefusal(429, "too many requests; wait", "rate", round(wait_s, 3))
        return unit

    async def _saved(self, answer: FleetMessage) -> Response:
        await self.flush.saved()
        return _json(answer)


def _json(answer: FleetMessage, status: int = 200) -> Response:
    return Response(_ENCODER.encode(answer), status, _JSON)


def _message(kind: type[_M], body: bytes) -> _M:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise UnitRefusal(400, f"the message is invalid: {fault}", "message") from None


async def _body(request: Request, most: int) -> bytes:
    """The body of a request, up to a size and within a time. Raises UnitRefusal."""
    length = request.headers.get("content-length", "0")
    too_large = UnitRefusal(413, f"the request exceeds {most:,} bytes", "size")
    if not length.isdigit() or len(length) > 15 or int(length) > most:
        raise too_large
    told = int(length) if "content-length" in request.headers else most  # else it is chunked
    if told <= _SMALL_BYTES:
        return await _read(request, most, too_large)
    if not _ROOM.take(told):
        raise UnitRefusal(503, "the hub receives too much at once", "busy", _RETRY_S)
    try:
        return await _read(request, most, too_large)
    finally:
        _ROOM.free(told)


async def _read(request: Request, most: int, too_large: UnitRefusal) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_S):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise too_large
                parts.append(part)
    except TimeoutError:
        raise UnitRefusal(400, "the request did not arrive in time", "slow") from None
    return b"".join(parts)


def _guarded(answer: UnitAnswer) -> UnitAnswer:
    """Errors become messages of the protocol."""

    async def respond(request: Request) -> Response:
        try:
            return await answer(request)
        except UnitRefusal as refusal:
            return _json(refusal.fault, refusal.status)
        except (StoreError, DiskFault) as fault:
            error = f"the hub cannot write its state: {fault}"
            return _json(FleetFault(error=error, reason="store", retry_s=_RETRY_S), 503)
        except GossamerError as fault:
            return _json(FleetFault(error=str(fault)), 400)
        except ClientDisconnect:
            return Response(status_code=400)

    return respond


def unit_routes(hub: Hub, *, needs_certificate: bool = False) -> list[StarletteRoute]:
    """The routes for units, to be served over TLS."""
    unit = UnitHttp(hub, needs_certificate=needs_certificate)
    rows: tuple[tuple[str, str, UnitAnswer], ...] = (
        ("POST", "/poll", unit.poll),  # first: nearly all requests
        ("GET", "/bans", unit.bans),
        ("POST", "/have", unit.have),
        ("PUT", "/pieces/{job}/{fence:int}/{sha256}", unit.piece),
        ("POST", "/package", unit.package),
        ("POST", "/join", unit.join),
        ("GET", "/ca", unit.authority),
        ("GET", "/update/{path:path}", unit.update),
    )
    made: list[StarletteRoute] = []
    for method, path, answer in rows:
        guarded: Any = _guarded(answer)
        made.append(StarletteRoute(PREFIX + path, guarded, methods=[method]))
    return made
