"""Nobody holds the server up, locks its owner out, or makes other sites' pages ask it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.requests import Request as StarletteRequest
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from uvicorn.server import ServerState

from gossamer.errors import UsageError
from gossamer.web.crawls import new_crawl
from gossamer.web.protect.guard import Names, RequestGuard
from gossamer.web.protect.login import Credentials
from gossamer.web.protect.throttle import LoginThrottle
from gossamer.web.protect.timeouts import TimeoutProtocol
from support.rows import each_row
from web.a_browser import TOKEN, Browser, Served, served
from web.conftest import Garden


class Impatience(TimeoutProtocol):
    """The same, in a hurry."""

    head_s = 0.05
    take_s = 0.3
    has_ended: asyncio.Event

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.has_ended.set()


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to a server that speaks HTTP as ours does."""
    config = uvicorn.Config(app, http=Impatience, ws="none", log_level="critical")
    config.load()
    state = ServerState()
    Impatience.has_ended = asyncio.Event()

    def protocol() -> Impatience:
        return Impatience(config=config, server_state=state, app_state={})

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            yield reader, writer
        finally:
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)
            await asyncio.gather(*state.tasks, return_exceptions=True)


async def all_of(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_who_never_ends_a_request_is_hung_up_on(server: Served, sent: bytes) -> None:
    async def dawdle() -> bytes:
        async with listening(server.app) as (reader, writer):
            writer.write(sent)
            return await all_of(reader)

    assert asyncio.run(dawdle()) == b""


def test_who_dawdles_between_two_requests_is_hung_up_on_too(server: Served) -> None:
    async def dawdle() -> bytes:
        async with listening(server.app) as (reader, writer):
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(b"GET /healthz HTTP/1.1\r\nHos")
            await all_of(reader)
            return head

    assert asyncio.run(dawdle()).startswith(b"HTTP/1.1 200")


BEGUN = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        BEGUN + b"X-Long: " + b"x" * 100_000,
        BEGUN + b"X-Long: x\r\n" * 10_000,
        BEGUN + b"X-Long: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"x" * 100_000,
    ],
)
def test_a_head_without_end_is_refused(server: Served, sent: bytes) -> None:
    async def ramble() -> bytes:
        async with listening(server.app) as (reader, writer):
            writer.write(sent)
            return await reader.readline()

    assert asyncio.run(ramble()) == b"HTTP/1.1 431 Request Header Fields Too Large\r\n"


def test_a_large_head_that_ends_is_read_and_so_are_those_behind_it(server: Served) -> None:
    async def ask() -> list[bytes]:
        async with listening(server.app) as (reader, writer):
            for _ in range(4):
                writer.write(BEGUN + b"X-Long: " + b"x" * 40_000 + b"\r\n\r\n")
            return [await _status(reader) for _ in range(4)]

    assert asyncio.run(ask()) == [b"HTTP/1.1 200 OK\r\n"] * 4


def test_what_follows_a_body_has_an_end_too(server: Served) -> None:
    """Trailers are no body, which `guard.py` counts, and come after the head."""

    async def ramble() -> bytes:
        async with listening(server.app) as (reader, writer):
            writer.write(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            writer.write(b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-Long: x\r\n" * 10_000)
            return await all_of(reader)

    assert asyncio.run(ramble()) == b""


OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
OFFERING = b"POST /one HTTP/1.1\r\nHost: 127.0.0.1\r\n" + OFFER


@each_row(
    "sent",
    [
        [OFFERING + b"Content-Length: 5\r\n\r\nhello" + BEGUN + OFFER + b"\r\n"],
        [OFFERING + b"Content-Length: 5\r\n\r\n", b"hello" + BEGUN + b"\r\n"],
        [OFFERING + b"Content-Length: 5\r\n\r\nhe", b"llo", BEGUN + OFFER + b"\r\n"],
        [OFFERING + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", BEGUN + b"\r\n"],
    ],
)
def test_a_client_that_would_rather_speak_http_2_is_read_whole(sent: list[bytes]) -> None:
    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        body = await StarletteRequest(scope, receive).body()
        await PlainTextResponse(scope["path"].encode() + b" " + body)(scope, receive, send)

    async def ask() -> bytes:
        async with listening(echo) as (reader, writer):
            for piece in sent:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.01)  # so that each comes alone
            return await reader.readuntil(b"/one hello") + await reader.readuntil(b"/healthz ")

    assert asyncio.run(ask()).count(b"HTTP/1.1 200 OK") == 2


def test_the_last_request_of_a_connection_may_offer_another_protocol_too(server: Served) -> None:
    async def ask() -> bytes:
        async with listening(server.app) as (reader, writer):
            writer.write(BEGUN.replace(b"1.1", b"1.0") + OFFER + b"\r\n")
            return await all_of(reader)

    assert asyncio.run(ask()).startswith(b"HTTP/1.1 200 OK")


async def _status(reader: asyncio.StreamReader) -> bytes:
    """The first line of an answer, which is read to its end."""
    first = await reader.readline()
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return first


ANSWER = b"x" * 15_000_000  # more than the system takes in for a client


async def _at_once(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(ANSWER)(scope, receive, send)


async def _in_pieces(scope: Scope, receive: Receive, send: Send) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(ANSWER), 100_000):
            yield ANSWER[start : start + 100_000]

    await StreamingResponse(pieces())(scope, receive, send)


@each_row("app", [_at_once, _in_pieces])
@each_row("version", [b"1.0", b"1.1"])
def test_who_takes_nothing_of_an_answer_is_hung_up_on(app: Any, version: bytes) -> None:
    """Also where it asked for the connection to be closed behind the answer."""

    async def take_nothing() -> bytes:
        async with listening(app) as (reader, writer):
            writer.write(b"GET / HTTP/%b\r\nHost: 127.0.0.1\r\n\r\n" % version)
            await asyncio.wait_for(Impatience.has_ended.wait(), 20)
            return await all_of(reader)

    assert len(asyncio.run(take_nothing())) < len(ANSWER)


def test_who_takes_an_answer_slowly_gets_all_of_it() -> None:
    async def take_slowly() -> int:
        taken = 0
        async with listening(_at_once) as (reader, writer):
            writer.write(b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            while piece := await reader.read(1_000_000):
                taken += len(piece)
                await asyncio.sleep(0.02)  # in all that is longer than anybody may take nothing
        return taken

    assert asyncio.run(take_slowly()) > len(ANSWER)


def test_an_address_has_its_share_of_the_places_and_this_machine_any_number() -> None:
    config = uvicorn.Config(lambda: None, http=TimeoutProtocol, ws="none")
    config.load()
    state = ServerState()

    def connected(host: str) -> bool:
        one = TimeoutProtocol(config=config, server_state=state, app_state={})
        one.client = (host, 1)
        state.connections.add(one)
        return not one._are_too_many()

    async def connect() -> tuple[list[bool], bool, list[bool]]:
        strangers = [connected("192.0.2.1") for _ in range(201)]
        return strangers, connected("192.0.2.2"), [connected("127.0.0.1") for _ in range(300)]

    strangers, another, ours = asyncio.run(connect())

    assert strangers == [True] * 200 + [False]
    assert another
    assert all(ours)


def test_a_body_that_does_not_come_is_not_waited_for(server: Served) -> None:
    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def ask() -> list[Message]:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        guard = RequestGuard(server.app._app, Names("127.0.0.1"), body_s=0.01)  # type: ignore[attr-defined]
        headers = [(b"host", b"127.0.0.1"), (b"content-length", b"9")]
        scope: Scope = {
            "type": "http", "method": "POST", "path": "/login", "query_string": b"",
            "headers": headers, "scheme": "http", "server": ("127.0.0.1", 80), "root_path": "",
        }  # fmt: skip
        await guard(scope, never, send)
        return sent

    assert asyncio.run(ask())[0]["status"] == 408


def test_a_feed_is_not_cut_off_by_the_patience_for_bodies() -> None:
    """After its body a request may stay as long as it likes."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        left = asyncio.ensure_future(receive())
        await asyncio.wait([left], timeout=0.05)
        await PlainTextResponse("still here" if not left.done() else "gone")(scope, receive, send)
        left.cancel()
        await asyncio.wait([left])

    async def ask() -> str:
        transport = httpx.ASGITransport(RequestGuard(app, Names("127.0.0.1"), body_s=0.01))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return (await client.get("/")).text

    assert asyncio.run(ask()) == "still here"


ELSEWHERE = {"sec-fetch-site": "cross-site"}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/?q=garden", {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}, 403),
        ("/api/search?q=garden", {"sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}, 403),
        ("/static/live.js", {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"}, 403),
        ("/?q=garden", {"sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, 403),
        ("/?q=garden", {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 200),
    ],
)
def test_a_page_of_another_site_can_lead_here_and_do_nothing_else(
    server: Served, path: str, headers: dict[str, str], status: int
) -> None:
    for site in ("cross-site", "same-site"):
        told = {**headers, "sec-fetch-site": site}
        assert Browser(server).ask("GET", path, headers=told).status_code == status


def test_a_link_in_a_copy_leads_to_another_copy(server: Served, garden: Garden) -> None:
    headers = {**ELSEWHERE, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}

    answer = Browser(server).ask("GET", f"/cached?url={garden.url('/roses')}", headers=headers)

    assert answer.status_code == 200


def test_nobody_locks_the_owner_out_with_links_that_do_not_work(server: Served) -> None:
    stranger = Browser(server)
    for _ in range(10):
        stranger.get("/login", ticket="a-guess")

    assert (
        Browser(server).get("/login", ticket=server.context.credentials.ticket).status_code == 303
    )


def test_many_guesses_at_once_are_counted_before_they_are_tried() -> None:
    throttle = LoginThrottle()
    together = threading.Barrier(20)

    def guess(_: int) -> bool:
        together.wait()
        return throttle.begin_try("one client", 0.0)

    with ThreadPoolExecutor(20) as pool:
        tried = list(pool.map(guess, range(20)))

    assert sum(tried) == 5


def test_a_right_word_is_not_held_against_anybody() -> None:
    throttle = LoginThrottle()

    for _ in range(20):
        assert throttle.begin_try("one client", 0.0)
        throttle.succeed("one client")


def test_two_passwords_at_most_are_tried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    credentials = Credentials(token=TOKEN, password="a line")
    now, most = 0, 0
    counting = threading.Lock()
    both = threading.Event()

    def slow(_word: str, _line: str) -> bool:
        nonlocal now, most
        with counting:
            now += 1
            most = max(most, now)
            if now == 2:
                both.set()
        both.wait(10)
        with counting:
            now -= 1
        return False

    monkeypatch.setattr("gossamer.web.protect.login.fits", slow)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(credentials.is_password, map(str, range(8))))

    assert most == 2


def test_only_the_owner_tries_regular_expressions(server: Served) -> None:
    path = "/api/scope?seeds=http://a.example/&url=http://a.example/x&exclude=re:x"

    assert Browser(server).get(path).status_code == 401
    assert Browser(server, token=TOKEN).get(f"{path}(").status_code == 400
    assert Browser(server, token=TOKEN).get(path).json()["urls"][0]["is_in"] is False


def test_a_contact_cannot_smuggle_a_header_in() -> None:
    with pytest.raises(UsageError):
        new_crawl("", ["http://a.example/"], {"user_agent_contact": "a@b.example\r\nX: y"}, [])


def test_a_name_with_line_breaks_reaches_no_header_and_no_file(garden: Garden) -> None:
    server = served(garden.path)
    program = Browser(server, token=TOKEN)

    for name in ("a%0d%0aset-cookie:x=1", "..%2f..%2fetc", "%00", ".output", "garden%0a"):
        answers = [
            program.ask("POST", f"/api/crawls/{name}/start"),
            program.ask("DELETE", f"/api/crawls/{name}", json={"confirm": name}),
            program.get(f"/crawls/{name}"),
        ]
        assert {answer.status_code for answer in answers} <= {400, 404}
        assert all("set-cookie" not in answer.headers for answer in answers)
    server.context.collections.close()
