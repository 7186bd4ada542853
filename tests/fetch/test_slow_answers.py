"""Slow answers do not hold connections for long: robots.txt and sitemaps have little time, and
where others wait the slowest are ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from msgspec import structs

from fetch.test_fetcher import PATIENT, fetch_all, lease_of
from flow.outcomes import HurriedClock
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.judge import ResponseJudge
from gossamer.records import Answer, Failed, Fetched, Purpose, Reason
from support.a_site import a_site, drip, page

SLOW = drip(page("x" * 4_000), every_s=0.05, piece_bytes=20)  # 400 bytes a second, for 10 s


@pytest.mark.parametrize("purpose", [Purpose.ROBOTS, Purpose.SITEMAP])
def test_a_dripped_robots_txt_or_sitemap_is_given_up_soon(purpose: Purpose) -> None:
    settings = replace(PATIENT, robots_time_s=0.5, sitemap_time_s=0.5)

    async def run() -> list[Answer]:
        async with a_site({"/slow": SLOW, "/page": page("x")}) as site:
            slow = structs.replace(lease_of(site.url("/slow")), purpose=purpose)
            return await fetch_all([slow, lease_of(site.url("/page"))], settings)

    slow, after = asyncio.run(run())

    assert isinstance(slow, Failed)
    assert slow.reason is Reason.TIMEOUT
    assert slow.took_s < 5
    assert isinstance(after, Fetched)


def test_a_page_has_its_own_time_on_the_same_handle() -> None:
    settings = replace(PATIENT, robots_time_s=0.3)
    quick = drip(page("x" * 400), every_s=0.05, piece_bytes=40)  # some 0.6 s

    async def run() -> list[Answer]:
        async with a_site({"/robots.txt": page("x"), "/page": quick}) as site:
            robots = structs.replace(lease_of(site.url("/robots.txt")), purpose=Purpose.ROBOTS)
            return await fetch_all([robots, lease_of(site.url("/page"))], settings)

    assert all(isinstance(answer, Fetched) for answer in asyncio.run(run()))


def test_where_others_wait_the_slowest_answers_are_ended_and_quick_ones_are_not() -> None:
    clock = HurriedClock(50.0)  # 10 s are 0.2 s

    async def run() -> tuple[list[Answer], int, int]:
        async with a_site({"/slow": SLOW, "/other": SLOW, "/page": page("x")}) as site:
            fetcher = Fetcher(PATIENT, ResponseJudge(PATIENT.types, 10**6), AddressGuard(), clock)
            asked = [
                asyncio.create_task(fetcher.fetch(lease_of(site.url(path))))
                for path in ("/slow", "/other")
            ]
            await asyncio.sleep(0)
            ended_early = fetcher.end_slow(5)
            while clock.now_s() < 15.0:  # noqa: ASYNC110  # it is the server's time that passes
                await asyncio.sleep(0.01)
            ended = fetcher.end_slow(1)
            first, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            after = await fetcher.fetch(lease_of(site.url("/page")))
            answers = [*(task.result() for task in first), after]
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            await fetcher.aclose()
            return answers, ended_early, ended

    answers, ended_early, ended = asyncio.run(run())

    assert (ended_early, ended) == (0, 1)
    assert isinstance(answers[0], Failed)
    assert answers[0].reason is Reason.TIMEOUT
    assert "others waited" in answers[0].detail
    assert isinstance(answers[1], Fetched)
