"""The bytes of answers under way: bounded, and nobody waits for ever."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.base.clock import SystemClock
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.held_bytes import HeldBytes
from gossamer.fetch.judge import ResponseJudge
from gossamer.records import Answer, Failed, Fetched, Lease, Reason
from gossamer.settings import Fetch
from support.a_site import Request, a_site, chunked, page

MB = 2**20


def lease_of(url: str, max_body_bytes: int = 10 * MB) -> Lease:
    host = "127.0.0.1"
    return Lease(1, url, b"k" * 16, host, host, is_trusted=True, max_body_bytes=max_body_bytes)


class Body:
    """An answer of so many bytes, which comes in pieces of ten."""

    def __init__(self, held: HeldBytes, size: int) -> None:
        self._held = held
        self.held_bytes = 0
        self.left = size
        self.is_paused = False

    def resume(self) -> None:
        self.is_paused = False

    def step(self) -> None:
        piece = min(10, self.left)
        if self._held.take(self, piece):
            self.left -= piece
        else:
            self.is_paused = True


@given(
    sizes=st.lists(st.integers(1, 200), min_size=1, max_size=12),
    order=st.lists(st.integers(0, 11), max_size=400),
)
def test_all_bodies_end_and_no_more_than_the_limit_and_one_are_held(
    sizes: list[int], order: list[int]
) -> None:
    held = HeldBytes(100)
    bodies = [Body(held, size) for size in sizes]
    under_way = list(bodies)
    turns = iter(order)
    while under_way:
        active = [body for body in under_way if not body.is_paused]
        assert active, "all of them wait, and for nobody"
        body = active[next(turns, 0) % len(active)]
        body.step()
        assert held.held <= 100 + max(sizes)
        if not body.left:
            under_way.remove(body)
            held.end(body)
    assert held.held == 0


def test_a_new_request_waits_until_there_is_room() -> None:
    async def run() -> None:
        held = HeldBytes(100)
        body = Body(held, 200)
        for _ in range(10):
            body.step()
        waiting = asyncio.create_task(held.wait_for_room())
        await asyncio.sleep(0)
        assert not waiting.done()
        held.end(body)
        await waiting

    asyncio.run(run())


async def held_back(settings: Fetch, lease_bytes: int) -> tuple[Answer, Answer]:
    """What comes of an answer that is paused because of another, and of that other."""
    go_on = asyncio.Event()

    async def slow(_request: Request) -> bytes:
        await go_on.wait()
        return page("x")

    async with a_site({"/": chunked("b" * 50_000, 9_000), "/slow": slow}) as site:
        fetcher = Fetcher(
            settings, ResponseJudge(("html",), 10 * MB), AddressGuard(), SystemClock()
        )
        large = Body(fetcher._held, MB + 100)
        asking = asyncio.create_task(fetcher.fetch(lease_of(site.url("/"), lease_bytes)))
        last = asyncio.create_task(fetcher.fetch(lease_of(site.url("/slow"), 10 * MB)))
        await asyncio.sleep(0)  # they have begun, and no answer can have come
        while large.left > 60:
            large.step()
        while not fetcher._held._paused and not asking.done():  # noqa: ASYNC110  # libcurl's
            await asyncio.sleep(0)
        go_on.set()
        if settings.total_time_s > 1:
            fetcher._held.end(large)
        answers = await asking, await last
        await fetcher.aclose()
        return answers


@pytest.mark.parametrize("lease_bytes", [10, 49_999, 10 * MB])
def test_a_paused_answer_goes_on_and_is_cut_as_any_other(lease_bytes: int) -> None:
    got, _ = asyncio.run(held_back(Fetch(max_held_bytes=MB, total_time_s=60.0), lease_bytes))

    assert isinstance(got, Fetched)
    assert got.body == b"b" * min(lease_bytes, 50_000)
    assert got.took_s < 30
    assert got.cut == ("length" if lease_bytes < 50_000 else "")


def test_an_answer_that_waits_for_too_long_fails_and_harms_nobody() -> None:
    got, other = asyncio.run(held_back(Fetch(max_held_bytes=MB, total_time_s=0.3), 10 * MB))

    assert isinstance(got, Failed)
    assert got.reason is Reason.TIMEOUT
    assert isinstance(other, Failed | Fetched)


def test_large_bodies_at_once_come_whole_and_are_not_all_held() -> None:
    settings = Fetch(max_held_bytes=MB, total_time_s=60.0)
    bodies = {f"/{number}": bytes([65 + number]) * (600_000 + number) for number in range(12)}
    most = 0

    async def run() -> list[object]:
        nonlocal most
        pages = {path: page(body) for path, body in bodies.items()}
        async with a_site(pages) as site:
            fetcher = Fetcher(
                settings, ResponseJudge(("html",), 10 * MB), AddressGuard(), SystemClock()
            )
            asking = [
                asyncio.create_task(fetcher.fetch(lease_of(site.url(path)))) for path in bodies
            ]
            while not all(task.done() for task in asking):
                most = max(most, fetcher._held.held)
                await asyncio.sleep(0)
            await fetcher.aclose()
            assert fetcher._held.held == 0
            return [task.result() for task in asking]

    answers = asyncio.run(run())

    assert [answer.body for answer in answers if isinstance(answer, Fetched)] == list(
        bodies.values()
    )
    assert 600_000 < most <= MB + 700_000
