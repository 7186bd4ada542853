"""What a server sends beside a body counts, and ends an answer that never does."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

import pytest

from fetch.test_fetcher import PATIENT, fetch_all, lease_of
from gossamer.policies.stop import Allowance
from gossamer.records import Answer, Failed, Fetched, Reason
from gossamer.settings import Limits
from support.a_site import Misbehaviour, a_site, page

FIRST = b"5\r\nhello\r\n"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n" + FIRST
MANY: dict[str, tuple[bytes, bytes]] = {
    "one endless extension": (b"5;", b"x" * 65_536),
    "a long extension of each chunk": (b"", b"1;" + b"y" * 60_000 + b"\r\na\r\n"),
    "endless trailers": (b"0\r\n", b"x-a: " + b"b" * 1000 + b"\r\n"),
    "one endless trailer": (b"0\r\nx-a: ", b"b" * 65_536),
}
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel does not tell")


def flooding(start: bytes, piece: bytes, note: Callable[[int], None]) -> Misbehaviour:
    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + start)
        while True:
            writer.write(piece)
            note(len(piece))
            await writer.drain()

    return Misbehaviour(act)


def asked(*answers: bytes | Misbehaviour) -> list[Answer]:
    async def run() -> list[Answer]:
        pages = {f"/{number}": answer for number, answer in enumerate(answers)}
        async with a_site(pages) as site:
            return await fetch_all([lease_of(site.url(path)) for path in pages], PATIENT)

    return asyncio.run(run())


@only_linux
@pytest.mark.parametrize("name", MANY)
def test_an_answer_without_end_outside_of_its_body_is_ended(name: str) -> None:
    sent: list[int] = []

    [got] = asked(flooding(*MANY[name], sent.append))

    assert isinstance(got, Failed)
    assert got.reason is Reason.PROTOCOL
    assert got.took_s < 20


@only_linux
def test_a_flood_on_a_connection_that_was_used_before_is_ended_too() -> None:
    got = asked(page("first"), flooding(*MANY["one endless extension"], lambda _: None))

    assert isinstance(got[0], Fetched)
    assert isinstance(got[1], Failed)
    assert got[1].reason is Reason.PROTOCOL
    assert got[1].came_bytes > 10 * 2**20


def test_chunks_of_one_byte_are_a_body() -> None:
    body = b"1\r\na\r\n" * 5_000 + b"0\r\n\r\n"

    [got] = asked(HEAD.removesuffix(FIRST) + body)

    assert isinstance(got, Fetched)
    assert got.body == b"a" * 5_000


def test_bytes_outside_of_bodies_count_against_the_limit_of_a_crawl() -> None:
    allowance = Allowance(Limits(max_bytes=1_000))
    allowance.wasted_bytes = 900

    room = allowance.room_for_body(fetched=0, bytes_had=50, max_body_bytes=10**6)

    assert room == 50
    assert allowance.reached(fetched=0, bytes_had=50, ran_s=0.0) == ""
    assert allowance.reached(fetched=0, bytes_had=100, ran_s=0.0) == "max-bytes"
