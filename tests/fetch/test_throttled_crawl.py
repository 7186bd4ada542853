"""A whole crawl that is held to a rate and to hours."""

from __future__ import annotations

import time
from pathlib import Path

from flow.outcomes import HurriedClock, crawl, crawl_hurried
from support.a_site import page, site_in_thread


def test_a_rate_holds_for_the_whole_crawl(collection: Path) -> None:
    links = "".join(f"<a href=/{n}>x</a>" for n in range(10))
    with site_in_thread({"/": page(links), "*": page("x" * 10_000)}) as site:
        crawl_hurried(collection, [site.url()], fetch__max_rate_bytes=1000, politeness__per_host=1)

    pages = [asked for asked in site.log if asked.path not in ("/", "/robots.txt")]
    took_s = (pages[-1].began_s - pages[0].began_s) * HurriedClock().times
    assert len(pages) == 10
    assert took_s >= 9 * 10_000 / 1000 * 0.9


def hours_from(start: int) -> str:
    return f"{start % 24}-{(start + 3) % 24}"


def test_outside_its_hours_a_crawl_asks_nothing(collection: Path) -> None:
    now = time.localtime().tm_hour
    with site_in_thread({"*": page("x")}) as site:
        shut = crawl(
            collection, [site.url()], node__hours=hours_from(now + 3), limits__max_time_s=0.5
        )
        asked_before = len(site.log)
        crawl(collection, [site.url()], node__hours=hours_from(now + 23))

    assert (shut.stopped, asked_before) == ("max-time", 0)
    assert "/" in site.asked
