"""Transfers on a loop: every socket is heard, and none that nobody waits for."""

from __future__ import annotations

import asyncio
import os
import select
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pycurl
import pytest
import uvloop

from gossamer.base.clock import SystemClock
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.judge import ResponseJudge
from gossamer.fetch.multi import EpollMulti, multi_for
from gossamer.fetch.transfer import Transfer
from gossamer.records import Answer, Fetched, Lease
from gossamer.settings import Fetch
from support.a_site import Site, a_site, hang, http_1_0, page
from support.need import need_linux

Loops = Callable[[], asyncio.AbstractEventLoop]


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def loops(request: pytest.FixtureRequest) -> Loops:
    need_linux("epoll")
    made: Loops = request.param
    return made


def run(loops: Loops, work: Awaitable[None]) -> None:
    async def go() -> None:
        await work

    with asyncio.Runner(loop_factory=loops) as runner:
        runner.run(go())


@asynccontextmanager
async def a_multi() -> AsyncIterator[EpollMulti]:
    multi = multi_for(4)
    assert isinstance(multi, EpollMulti)
    try:
        yield multi
    finally:
        await multi.aclose()


def handle(url: str, **options: int) -> tuple[pycurl.Curl, bytearray]:
    """A transfer and where its body comes."""
    curl, body = pycurl.Curl(), bytearray()
    curl.setopt(pycurl.URL, url)
    curl.setopt(pycurl.WRITEFUNCTION, body.extend)
    curl.setopt(pycurl.PROXY, "")
    for name, value in options.items():
        curl.setopt(getattr(pycurl, name), value)
    return curl, body


def begun(multi: EpollMulti, curl: pycurl.Curl) -> asyncio.Future[None]:
    """A transfer under way, to be waited for."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def ended(code: int, message: str) -> None:
        if code:
            future.set_exception(pycurl.error(code, message))
        else:
            future.set_result(None)

    multi.begin(curl, ended)
    return future


async def get(multi: EpollMulti, url: str, **options: int) -> bytes:
    curl, body = handle(url, **options)
    await begun(multi, curl)
    curl.close()
    return bytes(body)


async def turns_until(is_so: Callable[[], bool]) -> None:
    ends_s = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < ends_s, "it never came to that"
        await asyncio.sleep(0.001)


def lease_of(url: str) -> Lease:
    return Lease(1, url, b"k" * 16, "127.0.0.1", "127.0.0.1", is_trusted=True)


def is_ready(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])


def test_a_connection_rests_between_requests_and_is_used_again(loops: Loops) -> None:
    async def work() -> None:
        async with a_site({"/": page("<p>one")}) as site, a_multi() as multi:
            for _ in range(5):
                assert await get(multi, site.url()) == b"<p>one"

            assert site.connections == 1

    run(loops, work())


def test_many_at_once_all_end(loops: Loops) -> None:
    async def work() -> None:
        pages = {f"/{n}": page(f"<p>{n}" * 9_999) for n in range(100)}
        async with a_site(pages) as site, a_multi() as multi:
            got = await asyncio.gather(*[get(multi, site.url(f"/{n}")) for n in range(100)])

            assert got == [f"<p>{n}".encode() * 9_999 for n in range(100)]

    run(loops, work())


def test_the_number_of_a_closed_socket_is_heard_again(loops: Loops) -> None:
    """The system gives the lowest free number: each connection here has that of the one before,
    or that of a file that was open in between."""

    async def work() -> None:
        async with a_site({"/": http_1_0("<p>over")}) as site, a_multi() as multi:
            for _ in range(5):
                assert await get(multi, site.url()) == b"<p>over"
                other = os.open(os.devnull, os.O_RDONLY)
                assert await get(multi, site.url()) == b"<p>over"
                os.close(other)

            assert site.connections == 10

    run(loops, work())


def test_a_server_that_hangs_up_on_a_resting_connection_is_heard_once(loops: Loops) -> None:
    async def work() -> None:
        async with a_multi() as multi:
            async with a_site({"/": page("<p>one")}) as site:
                await get(multi, site.url())
            await turns_until(lambda: not is_ready(multi.fileno()))

            async with a_site({"/": page("<p>two")}, port=site.port) as again:
                assert await get(multi, again.url()) == b"<p>two"

    run(loops, work())


async def fault_of(multi: EpollMulti, site: Site, path: str, **options: int) -> int:
    with pytest.raises(pycurl.error) as caught:
        await get(multi, site.url(path), **options)
    code: int = caught.value.args[0]
    return code


def test_a_time_limit_rings_though_a_longer_one_was_set_before(loops: Loops) -> None:
    async def work() -> None:
        async with a_site({"/": hang()}) as site, a_multi() as multi:
            long, _ = handle(site.url(), TIMEOUT_MS=60_000)
            waiting = begun(multi, long)
            began_s = time.monotonic()

            assert await fault_of(multi, site, "/", TIMEOUT_MS=50) == pycurl.E_OPERATION_TIMEDOUT
            assert await fault_of(multi, site, "/", TIMEOUT_MS=80) == pycurl.E_OPERATION_TIMEDOUT
            assert time.monotonic() - began_s < 30
            assert not waiting.done()

    run(loops, work())


def test_what_is_given_up_leaves_the_others_alone(loops: Loops) -> None:
    async def work() -> None:
        async with a_site({"/": page("<p>one"), "/never": hang()}) as site, a_multi() as multi:
            curl, _ = handle(site.url("/never"))
            future = begun(multi, curl)
            await turns_until(lambda: site.asked == ["/never"])
            multi.cancel(curl)
            curl.close()

            assert await get(multi, site.url()) == b"<p>one"
            assert not future.done()

    run(loops, work())


def test_closing_gives_up_what_is_under_way(loops: Loops) -> None:
    async def work() -> None:
        async with a_site({"/": hang()}) as site:
            async with a_multi() as multi:
                curl, _ = handle(site.url())
                future = begun(multi, curl)
                await turns_until(lambda: site.asked == ["/"])
            assert not future.done()
            curl.close()

    run(loops, work())


def test_one_that_has_ended_may_give_up_the_next_before_it_is_told(loops: Loops) -> None:
    """Both have ended when the first is told; the second is let go of all the same."""

    async def work() -> None:
        async with a_site({"/": hang()}) as site, a_multi() as multi:
            curls = [handle(site.url(), TIMEOUT_MS=30)[0] for _ in range(2)]
            told: list[pycurl.Curl] = []

            def ended(curl: pycurl.Curl, other: pycurl.Curl) -> None:
                told.append(curl)
                multi.cancel(other)

            for curl, other in (curls, reversed(curls)):
                multi.begin(curl, lambda *_, curl=curl, other=other: ended(curl, other))
            await turns_until(lambda: bool(told))
            await get_nothing_more(multi, site)

            assert len(told) == 1

    run(loops, work())


async def get_nothing_more(multi: EpollMulti, site: Site) -> None:
    """Return when all that had ended by now was told."""
    assert await fault_of(multi, site, "/", TIMEOUT_MS=30) == pycurl.E_OPERATION_TIMEDOUT


def test_without_epoll_pycurl_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    need_linux("a loop with readers")
    monkeypatch.delattr(select, "epoll")

    async def work() -> None:
        async with a_site({"/": page("<p>one"), "/never": hang()}) as site:
            judge = ResponseJudge(("html",), 10**6)
            fetcher = Fetcher(Fetch(), judge, AddressGuard(), SystemClock())
            given_up = asyncio.ensure_future(fetcher.fetch(lease_of(site.url("/never"))))
            await turns_until(lambda: site.asked == ["/never"])
            given_up.cancel()
            with pytest.raises(asyncio.CancelledError):
                await given_up

            got = await fetcher.fetch(lease_of(site.url()))

            assert isinstance(got, Fetched)
            assert got.body == b"<p>one"
            await fetcher.aclose()

    run(uvloop.new_event_loop, work())


def test_a_fault_of_ours_reaches_who_asked_and_the_others_get_their_answers(
    loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_of = Fetcher._answer

    def answer(self: Fetcher, transfer: Transfer, *rest: Any) -> Answer:
        if transfer.lease.url.endswith("/1"):
            raise MemoryError
        return answer_of(self, transfer, *rest)

    monkeypatch.setattr(Fetcher, "_answer", answer)

    async def work() -> None:
        async with a_site({f"/{n}": page("<p>one") for n in range(3)}) as site:
            fetcher = Fetcher(
                Fetch(), ResponseJudge(("html",), 10**6), AddressGuard(), SystemClock()
            )
            asked = [fetcher.fetch(lease_of(site.url(f"/{n}"))) for n in range(3)]
            got = await asyncio.gather(*asked, return_exceptions=True)

            assert [type(one) for one in got] == [Fetched, MemoryError, Fetched]
            assert fetcher.under_way == 0
            await fetcher.aclose()

    run(loops, work())
