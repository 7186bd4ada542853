"""Each page links to thousands of new hosts: memory stays small, others get their turn, and the
crawl ends in time."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from support.a_crawl import crawl
from support.a_site import Pages, Request, page, site_in_thread

HOSTS = 2_000


@pytest.mark.slow
def test_a_host_farm_is_bounded_and_the_time_limit_holds(collection: Path) -> None:
    numbers = itertools.count()
    port = 0

    def farm(_request: Request) -> bytes:
        names = (f"h{next(numbers)}.farm.localhost:{port}" for _ in range(HOSTS))
        return page("".join(f"<a href=http://{name}/>x</a>" for name in names))

    def good(request: Request) -> bytes:
        number = int(request.target.strip("/") or 0)
        links = "".join(f"<a href=/{10 * number + step}>x</a>" for step in range(1, 11))
        return page(links + f"<a href=http://a.farm.localhost:{port}/>f</a>")

    pages: Pages = {"*": farm}
    hosts: dict[str, Pages] = {"good.localhost": {"*": good, "/robots.txt": page("")}}
    with site_in_thread(pages, hosts=hosts) as site:
        port = site.port
        summary = crawl(
            collection,
            [site.url("/", "good.localhost")],
            scope__kind="any",
            fetch__allow_private=("127.0.0.0/8",),
            frontier__hosts_per_site=1_000,
            frontier__hosts_per_page=200,
            limits__max_time_s=6.0,
        )
        asked = len(site.asked_of("good.localhost"))

    farm_pages = len(site.log) - asked
    assert summary.stopped == "max-time"
    assert summary.wall_s < 30  # of a busy machine; 5 s for answers under way, and the end
    assert summary.dropped > 0
    assert summary.by_reason["budget"] > 0
    good_known = 11 * asked
    assert summary.known < 1_000 + 220 * farm_pages + good_known
    assert asked >= 20
