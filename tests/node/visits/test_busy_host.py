"""A host that cannot answer as fast as its pages are due: the page that waits longest is next."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from support.a_crawl import crawl_forever
from support.a_site import page, site_in_thread

_PAGES = 40
SITE = {"/": page("".join(f"<a href=/{n}>{n}</a>" for n in range(_PAGES)))} | {
    f"/{n}": page(f"page {n}") for n in range(_PAGES)
}


@pytest.mark.slow
def test_no_page_is_visited_much_more_often_than_another(tmp_path: Path) -> None:
    """All pages are due all the time, at 20 requests a second."""
    with site_in_thread(SITE) as site:

        def is_much() -> bool:
            return len(site.asked) > 8 * _PAGES

        crawl_forever(
            tmp_path / "c",
            [site.url()],
            is_much,
            refresh__policy="uniform",
            politeness__host_delay_s=0.05,
            politeness__per_host=1,
            politeness__address_delay_s=0.0,
        )
    visits = Counter(site.asked[-4 * (_PAGES + 1) :])  # by then all pages were fetched once

    assert len(visits) == _PAGES + 1
    del visits["/"]  # of pages that wait, the one nearest to a seed is first
    assert max(visits.values()) <= 6, visits
