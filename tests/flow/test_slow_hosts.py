"""Many hosts that drip their robots.txt do not stop a crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.outcomes import fates
from support.a_crawl import crawl_until
from support.a_site import Pages, drip, page, site_in_thread

SLOW = drip(page("x" * 40_000), every_s=0.05, piece_bytes=20)  # 400 bytes a second, for 100 s
SLOW_HOSTS = 24


@pytest.mark.slow
def test_hosts_that_drip_their_robots_txt_do_not_keep_a_good_host_waiting(
    collection: Path,
) -> None:
    def link(number: int) -> str:
        return f"<a href=http://s{number}.localhost:{port}/>x</a>"

    port = 0
    good: dict[str, object] = {
        "/": lambda _: page(
            "".join(map(link, range(SLOW_HOSTS)))
            + "".join(f"<a href=/{n}>x</a>" for n in range(20))
        ),
        "/robots.txt": page(""),
        "*": page("good"),
    }
    hosts: dict[str, Pages] = {"good.localhost": good}  # type: ignore[dict-item]
    with site_in_thread({"*": SLOW}, hosts=hosts) as site:
        port = site.port
        crawl_until(
            collection,
            [site.url("/", "good.localhost")],
            lambda: len(site.asked_of("good.localhost")) >= 22,
            scope__kind="any",
            fetch__allow_private=("127.0.0.0/8",),
            fetch__connections=8,
            fetch__robots_time_s=3.0,
            politeness__per_host=1,
            limits__max_time_s=40.0,
            node__stop_grace_s=1.0,
        )

    assert len(site.asked_of("good.localhost")) >= 22
    found = fates(collection)
    assert sum(found.get(f"/{number}") == "fetched 200" for number in range(20)) >= 19
