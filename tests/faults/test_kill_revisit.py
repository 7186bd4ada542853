"""Kills of the node or of a worker in the middle of `crawl --revisit`: nothing is lost, and no page
is visited twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from faults.test_kill_campaign import FLAGS, Campaign
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome
from gossamer.upkeep.verify import verify
from gossamer.urls.keys import KEY_BYTES
from support.a_site import Pages, Request, answer, page, robots, site_in_thread
from support.killing import gossamer

PAGES: Final = 400
KILLS: Final = 8


class ChangingSite:
    """Of five pages one changes, one is gone, and three stay the same: one of them has an ETag."""

    def __init__(self) -> None:
        self.is_later = False

    async def respond(self, request: Request) -> bytes:
        await asyncio.sleep(0.001)
        number = int(request.target[1:] or "0")
        if number >= PAGES:
            return page("none", "404 Not Found")
        if self.is_later and number % 5 == 1:
            return page("gone", "404 Not Found")
        if number % 5 == 2 and request.headers.get("if-none-match") == f'"{number}"':
            return answer(b"", "304 Not Modified")
        words = "newer words " if self.is_later and number % 5 == 0 else "some words "
        names = (2 * number + 1, 2 * number + 2, number + 1)
        links = "".join(f"<a href=/{name}>page {name}</a>" for name in names if name < PAGES)
        html = f"<title>{number}</title>{links}" + words * 100
        return page(html, headers={"etag": f'"{number}"'} if number % 5 == 2 else {})


@pytest.mark.slow
def test_a_revisit_that_is_killed_visits_every_page_once_and_loses_none(tmp_path: Path) -> None:
    home, changing = tmp_path / "c", ChangingSite()
    web: Pages = {"/robots.txt": robots(""), "*": changing.respond}
    with site_in_thread(web) as site:
        first = gossamer("crawl", site.url("/0"), "-c", home, "--workers", "2", *FLAGS)
        assert first.code == 0, first.err
        changing.is_later = True
        command = ("crawl", "-c", home, "--revisit", "--workers", "2", *FLAGS)
        campaign = Campaign(home, site, command, seed=7)
        summary = campaign.run(KILLS, (10, 45))

    with CollectionReader.open(home) as reader:
        rows = [UrlRow.decode(packed) for _, packed in reader.scan(StateTable.URL)]
        visits = Counter(at[:KEY_BYTES] for at, _ in reader.scan(StateTable.CAPTURE))
        of_url = {row.url: visits[reader.keys.of(row.url)] for row in rows}
    fetched = [row for row in rows if row.outcome is Outcome.FETCHED]
    assert len(fetched) == PAGES
    assert {url: count for url, count in of_url.items() if count != 2} == {}
    assert Counter(row.visits for row in fetched) == {1: PAGES}
    fifth = PAGES // 5
    assert Counter(row.status for row in fetched) == {404: fifth, 200: PAGES - fifth}
    assert sum(bool(row.changed_us) for row in fetched) == 2 * fifth
    assert (summary["fetched"], summary["visited"]["revisits"]) == (PAGES, 0)
    assert list(verify(home)) == []
