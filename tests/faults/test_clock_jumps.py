"""The machine's clock is set while a crawl runs: rests are measured by the one that only grows."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest

from gossamer.base.clock import SystemClock
from support.a_crawl import crawl_in_loop
from support.a_site import Pages, Request, page, site_in_thread, too_many

DAY_US: Final = 86_400 * 10**6
DELAY_S: Final = 0.1
RESTS: Final[dict[str, object]] = {
    "politeness__host_delay_s": DELAY_S,
    "politeness__rest_max_s": DELAY_S,  # a slow machine gives no longer ones
    "limits__max_time_s": 90.0,
}


class SetClock(SystemClock):
    """The machine's clocks, the wall being off by as much as somebody says."""

    def __init__(self) -> None:
        self.off_us = 0

    def wall_us(self) -> int:
        return super().wall_us() + self.off_us


@pytest.mark.slow
@pytest.mark.parametrize("jump_us", [DAY_US, -DAY_US])
def test_a_clock_that_jumps_makes_nobody_asked_too_early(jump_us: int, collection: Path) -> None:
    clock = SetClock()

    def jump(request: Request) -> bytes:
        clock.off_us += jump_us
        return page("".join(f"<a href=/{number}>x</a>" for number in range(5)))

    pages: Pages = {"/": jump, "/2": [too_many("1"), page("now")], "*": page("x")}
    settings = {**RESTS, "limits__max_pages": 5}
    with site_in_thread(pages) as site:
        asyncio.run(crawl_in_loop(collection, [site.url()], settings, clock=clock))

    assert min(site.gaps_s()) >= DELAY_S - 0.002
    assert set(site.asked) >= {"/", "/0", "/1", "/2", "/3", "/4"}
    busy = site.asked.index("/2")
    assert site.gaps_s()[busy] >= 0.998, "a Retry-After is not over because somebody set the clock"


@pytest.mark.slow
@pytest.mark.parametrize("jump_us", [DAY_US])
def test_a_clock_set_between_two_runs_keeps_the_rests_of_the_second(
    jump_us: int, collection: Path
) -> None:
    clock = SetClock()
    links = "".join(f"<a href=/{number}>x</a>" for number in range(5))
    with site_in_thread({"/": page(links), "*": page("x")}) as site:
        first = {**RESTS, "limits__max_pages": 3}
        asyncio.run(crawl_in_loop(collection, [site.url()], first, clock=clock))
        clock.off_us = jump_us
        asyncio.run(crawl_in_loop(collection, [site.url()], RESTS, clock=clock))

    assert min(site.gaps_s()) >= DELAY_S - 0.002
    assert set(site.asked) == {"/robots.txt", "/", "/0", "/1", "/2", "/3", "/4"}
