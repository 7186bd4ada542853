"""The refresher over a real frontier: what it chooses, learns, keeps and takes up again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from msgspec import structs

from frontier.frontier_model import KEYS, judge, lease_of, report_of
from frontier.test_frontier import commit
from gossamer.base.clock import ManualClock
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.store import MemoryStore
from gossamer.node.visits.refresher import Refresher
from gossamer.policies.refresh.named import refresh_named
from gossamer.policies.refresh.policy import KnownPage
from gossamer.records import Found, ListedUrl, Outcome, Purpose, Report
from gossamer.settings import Frontier as FrontierSettings
from gossamer.settings import Refresh

START_US = 1_767_225_600_000_000
PAGES = [f"http://a.example/{n}" for n in range(6)]


class Crawl:
    """A frontier and a refresher without network."""

    def __init__(
        self,
        store: MemoryStore,
        rate: float = 0.0,
        min_interval_s: float = 0.0,
        max_interval_s: float = 0.0,
    ) -> None:
        self.store = store
        self.clock = ManualClock(START_US)
        self.frontier = Frontier(store, FrontierSettings(), judge)
        self.policy = refresh_named("optimal")
        refresh = Refresh(min_interval_s=min_interval_s, max_interval_s=max_interval_s)
        self.refresher = Refresher(
            self.frontier, self.policy, refresh, rate, self.clock, lambda _row: 1.0
        )
        self.refresher.restore(store)

    def fetch(self, url: str, at_s: float, digest: str = "a", **facts: object) -> None:
        """A page is fetched, for the first time or again."""
        key = KEYS.of(url)
        self.frontier.admit([Found(url, key, 1, b"via")], START_US)
        row = self.frontier.find(key)
        assert row is not None
        is_same = row.digest == digest
        made = report_of(lease_of(url), Outcome.FETCHED, START_US + round(at_s * 1e6))
        report = structs.replace(
            made, status=200, digest=digest, **{"is_unchanged": is_same, **facts}
        )
        self.tell(report)

    def tell(self, report: Report) -> None:
        kind = self.frontier.report(report)
        assert kind is not None
        self.refresher.learn(kind, report)

    def known(self, url: str) -> KnownPage:
        slot = self.refresher.table.find(KEYS.of(url))
        assert slot is not None
        return self.policy.known(slot)

    def waiting(self) -> set[str]:
        rows = {url: self.frontier.find(KEYS.of(url)) for url in PAGES}
        return {url for url, row in rows.items() if row is not None and row.place}


def crawled(min_interval_s: float = 0.0, max_interval_s: float = 0.0) -> Crawl:
    crawl = Crawl(MemoryStore(), 0.0, min_interval_s, max_interval_s)
    for url in PAGES:
        crawl.fetch(url, 0)
    return crawl


def test_a_new_run_knows_what_the_last_one_knew() -> None:
    crawl = crawled()
    for day in range(1, 5):
        for number, url in enumerate(PAGES):
            crawl.frontier.visit_again(KEYS.of(url))
            crawl.fetch(url, day * 86_400, digest=f"{day}" if number < 2 else "a")
    commit(crawl.frontier, crawl.store)

    again = Crawl(crawl.store)

    assert crawl.known(PAGES[0]).shape > 2
    assert crawl.known(PAGES[5]).shape < crawl.known(PAGES[0]).shape
    for url in PAGES:
        before, after = crawl.known(url), again.known(url)
        assert (after.last_s, after.shape, after.scale) == (
            before.last_s, before.shape, before.scale,
        )  # fmt: skip


def test_a_visit_that_waited_at_a_kill_still_waits_and_is_chosen_once() -> None:
    crawl = crawled()
    crawl.clock._now_s = 1000.0
    crawl.refresher.turn()
    waiting = crawl.waiting()
    commit(crawl.frontier, crawl.store)

    again = Crawl(crawl.store)
    again.clock._now_s = 1001.0
    again.refresher.turn()

    assert len(waiting) == 4  # of one idle host
    assert again.waiting() == waiting
    assert again.frontier.counts.revisits == len(waiting)


def test_with_a_rate_no_more_visits_wait_than_it_allows() -> None:
    crawl = Crawl(MemoryStore(), rate=1.0)
    for url in PAGES:
        crawl.fetch(url, 0)
    crawl.clock._now_s = 1000.0

    for _ in range(3):
        crawl.refresher.turn()

    assert len(crawl.waiting()) == 2


def test_a_page_is_visited_after_the_longest_interval_whatever_the_policy_says() -> None:
    crawl = crawled(max_interval_s=3600.0, min_interval_s=100_000.0)
    crawl.clock._now_s = 3599.0
    assert crawl.refresher.turn() == 0

    crawl.clock._now_s = 3601.0

    assert crawl.refresher.turn() == 4
    assert crawl.refresher.turn() == 0


def test_a_page_is_left_alone_for_the_shortest_interval() -> None:
    crawl = crawled(min_interval_s=100.0)
    crawl.clock._now_s = 99.0
    assert crawl.refresher.turn() == 0

    crawl.clock._now_s = 101.0

    assert crawl.refresher.turn() > 0


def test_a_visit_that_failed_is_tried_again_later_and_later() -> None:
    crawl = Crawl(MemoryStore())
    url, key = PAGES[0], KEYS.of(PAGES[0])
    crawl.fetch(url, 0)
    tried = []
    for second in range(1, 1000):
        crawl.clock._now_s = float(second)
        if crawl.refresher.turn():
            tried.append(second)
            made = report_of(lease_of(url), Outcome.FAILED, START_US + second * 1_000_000)
            crawl.tell(made)

    row = crawl.frontier.find(key)
    assert row is not None
    assert row.status == 200
    assert [later - before for before, later in pairwise(tried)] == [60, 120, 240, 480]


def test_a_page_that_is_refused_is_visited_no_more() -> None:
    crawl = crawled()
    crawl.clock._now_s = 1000.0
    crawl.frontier.visit_again(KEYS.of(PAGES[0]))
    crawl.tell(report_of(lease_of(PAGES[0]), Outcome.REFUSED, START_US + 10))

    crawl.refresher.turn()

    assert PAGES[0] not in crawl.waiting()


def sitemap(at_s: float, *listed: ListedUrl) -> Report:
    lease = structs.replace(lease_of("http://a.example/map.xml"), purpose=Purpose.SITEMAP)
    report = report_of(lease, Outcome.FETCHED, START_US + round(at_s * 1e6))
    return structs.replace(report, listed=listed)


def hinted(crawl: Crawl) -> set[str]:
    """The pages whose copies are thought to be old by hints."""
    now_s = crawl.clock.wall_us() / 1e6
    slots = {url: crawl.refresher.table.find(KEYS.of(url)) for url in PAGES}
    return {
        url for url, slot in slots.items() if crawl.policy.freshness(now_s, np.array([slot])) < 0.5
    }


def test_a_date_after_the_last_visit_is_a_hint_that_is_kept() -> None:
    crawl = crawled()
    crawl.clock._now_s = 20.0

    crawl.refresher.learn_list(
        sitemap(
            15,
            ListedUrl(KEYS.of(PAGES[0]), START_US + 9_000_000),
            ListedUrl(KEYS.of(PAGES[1]), START_US - 9_000_000),
            ListedUrl(KEYS.of(PAGES[2]), 0),
            ListedUrl(KEYS.of("http://a.example/unknown"), START_US + 9_000_000),
        )
    )
    commit(crawl.frontier, crawl.store)

    assert hinted(crawl) == {PAGES[0]}
    again = Crawl(crawl.store)
    again.clock._now_s = 20.0
    assert hinted(again) == {PAGES[0]}


def test_a_date_that_is_later_than_before_is_a_hint_even_on_the_day_of_the_visit() -> None:
    crawl = crawled()
    crawl.clock._now_s = 20.0
    day_us = 86_400_000_000
    key = KEYS.of(PAGES[0])
    crawl.refresher.learn_list(sitemap(1, ListedUrl(key, START_US - 2 * day_us)))
    assert hinted(crawl) == set()

    crawl.refresher.learn_list(sitemap(10, ListedUrl(key, START_US - day_us)))

    assert hinted(crawl) == {PAGES[0]}


def test_a_page_that_a_sitemap_no_longer_lists_may_be_gone() -> None:
    crawl = crawled()
    crawl.clock._now_s = 20.0
    both = [ListedUrl(KEYS.of(url), 0) for url in PAGES[:2]]
    crawl.refresher.learn_list(sitemap(1, *both))
    assert hinted(crawl) == set()

    crawl.refresher.learn_list(sitemap(10, both[0]))

    assert hinted(crawl) == {PAGES[1]}
