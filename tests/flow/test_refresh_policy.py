"""Pages that a policy wants again are requested again by the next run, and no others."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gossamer.policies.policies import Policies
from gossamer.policies.refresh.never import FetchedPage
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl, crawl_in_loop
from support.a_site import page, site_in_thread

SITE = {"/": page("<a href=/news>n</a><a href=/old>o</a>"), "/news": page(""), "/old": page("")}


class NewsAgain:
    """/news is due as soon as it was fetched."""

    is_never = False

    def next_us(self, page: FetchedPage, /) -> int | None:
        return page.at_us + 1 if page.url.endswith("/news") else None


def run(collection: Path, seed: str) -> int:
    """How many pages the collection has fetched after a run."""
    policies = Policies(refresh=NewsAgain())
    return asyncio.run(crawl_in_loop(collection, [seed], policies=policies)).fetched


def test_a_page_that_is_due_is_requested_again_by_the_next_run(tmp_path: Path) -> None:
    with site_in_thread(SITE) as site:
        assert run(tmp_path / "c", site.url()) == 3
        assert run(tmp_path / "c", site.url()) == 3

    assert site.asked.count("/news") == 2
    assert site.asked.count("/old") == 1
    with CollectionReader.open(tmp_path / "c") as reader:
        assert len(list(reader.captures(site.url("/news")))) == 2
    assert list(verify(tmp_path / "c")) == []


def test_without_such_a_policy_each_page_is_requested_once(tmp_path: Path) -> None:
    with site_in_thread(SITE) as site:
        crawl(tmp_path / "c", [site.url()])
        crawl(tmp_path / "c", [site.url()])

    assert site.asked.count("/news") == 1
