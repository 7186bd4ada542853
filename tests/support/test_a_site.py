"""The test server does what its docstring says."""

import asyncio
import socket
import urllib.error
import urllib.request

import pytest

from support.a_site import (
    Answer,
    a_site,
    chunked,
    drip,
    endless_body,
    endless_headers,
    hang,
    http_0_9,
    http_1_0,
    page,
    reset,
    reset_after,
    site_in_thread,
    wrong_length,
)


async def ask(port: int, *paths: str, host: str = "x", limit: int = 2**16) -> bytes:
    """Request paths over one connection and read until it closes or `limit` bytes have arrived."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for path in paths:
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        got = b""
        while len(got) < limit and (piece := await reader.read(4096)):
            got += piece
        return got
    finally:
        writer.transport.abort()


def test_a_connection_is_kept_and_everything_asked_is_logged() -> None:
    async def run() -> None:
        last = page("b", headers={"connection": "close"})
        async with a_site({"/a": page("a"), "/b": last}) as site:
            got = await ask(site.port, "/a", "/b")
            assert got == page("a") + last
        assert site.asked == ["/a", "/b"]
        assert site.connections == 1
        assert len(site.gaps_s()) == 1
        assert site.most_at_once() == 1

    asyncio.run(run())


def test_a_host_has_its_own_pages_and_lists_are_given_in_turn() -> None:
    async def run() -> None:
        pages = [http_1_0("one"), http_1_0("two")]
        async with a_site(hosts={"a.localhost": {"/": pages}}) as site:
            answers = [await ask(site.port, "/", host="a.localhost") for _ in range(3)]
            other = await ask(site.port, "/", host="b.localhost", limit=9)
        assert answers == [pages[0], pages[1], pages[1]]
        assert other.startswith(b"HTTP/1.1 404")
        assert site.asked_of("a.localhost") == ["/"] * 3

    asyncio.run(run())


@pytest.mark.parametrize("given", [http_0_9("bare"), wrong_length("short", 900), b"HTTP/1.1 200"])
def test_an_answer_without_a_true_length_ends_the_connection(given: bytes) -> None:
    async def run() -> None:
        async with a_site({"/": given}) as site:
            assert await ask(site.port, "/") == given

    asyncio.run(run())


@pytest.mark.parametrize("bad", [reset(), reset_after(page("x" * 999)[:300])])
def test_a_reset_is_a_reset(bad: Answer) -> None:
    async def run() -> None:
        async with a_site({"/": bad}) as site:
            with pytest.raises(ConnectionResetError):
                await ask(site.port, "/")

    asyncio.run(run())


@pytest.mark.parametrize("bad", [endless_body(), endless_headers()])
def test_an_endless_answer_ends_when_the_client_goes(bad: Answer) -> None:
    async def run() -> None:
        async with a_site({"/": bad}) as site:
            assert len(await ask(site.port, "/", limit=10**6)) >= 10**6

    asyncio.run(run())


def test_a_hanging_answer_does_not_hold_up_the_end_of_the_test() -> None:
    async def run() -> None:
        async with a_site({"/": hang(b"HTTP/1.1 200 OK\r\n")}) as site:
            assert await ask(site.port, "/", limit=5) == b"HTTP/1.1 200 OK\r\n"
            _, writer = await asyncio.open_connection("127.0.0.1", site.port)
        writer.transport.abort()

    asyncio.run(run())


def test_a_dripped_answer_arrives_whole() -> None:
    async def run() -> None:
        whole = page("slow")
        async with a_site({"/": drip(whole, every_s=0.0)}) as site:
            assert await ask(site.port, "/") == whole

    asyncio.run(run())


def test_the_threaded_form_serves_blocking_clients() -> None:
    async def computed(request: object) -> bytes:
        return chunked("computed" * 5)

    with site_in_thread({"/": computed}) as site:
        with urllib.request.urlopen(site.url()) as got:
            assert got.read() == b"computed" * 5
        with pytest.raises(urllib.error.HTTPError) as gone:
            urllib.request.urlopen(site.url("/gone"))
        gone.value.close()
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", site.port)):
        pass
    assert site.asked == ["/", "/gone"]
