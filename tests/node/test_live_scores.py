"""The node scores queued URLs again when the scores of their order have changed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from frontier.frontier_model import KEYS, ShiftingOrder, found, judge
from frontier.test_frontier import commit
from gossamer.base.clock import ManualClock
from gossamer.errors import PluginError
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.store import MemoryStore, Store
from gossamer.node import rescoring
from gossamer.node.rescoring import LiveScores
from gossamer.policies.order import BreadthFirst
from gossamer.policies.policies import Policies
from gossamer.settings import Frontier as FrontierSettings
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.plugins import installed

HOST = KEYS.host("a.example")
FAILING = """
class Order:
    uses_link_counts = False
    is_newest_first = False
    reads = 0
    @property
    def revision(self):
        self.reads += 1
        if self.reads > 1:
            raise RuntimeError("lost count")
        return 0
    def score(self, candidate):
        return 1
"""


def opened(store: Store, order: ShiftingOrder) -> Frontier:
    return Frontier(store, FrontierSettings(), judge, policies=Policies(order=order))


async def keep_up(frontier: Frontier, order: ShiftingOrder, change: dict[str, int]) -> int:
    """Let scores change while the node keeps up; how often it was told that a URL was moved."""
    clock, told = ManualClock(), []
    live = LiveScores(frontier, order, clock)
    keeping = asyncio.ensure_future(live.keep_up(lambda: told.append(1)))
    await asyncio.sleep(0)
    order.shifts = change
    for _ in range(20):
        await clock.advance(0.3)
        await asyncio.sleep(0)
    keeping.cancel()
    return len(told)


def first(frontier: Frontier) -> str:
    entry = frontier.peek(HOST)
    assert entry is not None
    return entry[1].url


def test_another_url_comes_first_soon_after_the_scores_have_changed() -> None:
    order = ShiftingOrder(BreadthFirst())
    frontier = opened(MemoryStore(), order)
    frontier.admit([found(f"http://a.example/{number}") for number in range(20)], 1)

    told = asyncio.run(keep_up(frontier, order, {"a.example": 50 - 13}))

    assert first(frontier) == "http://a.example/13"
    assert told == 1
    assert not frontier.rescoring.is_running


def test_while_no_score_changes_nothing_is_read() -> None:
    order = ShiftingOrder(BreadthFirst())
    frontier = opened(MemoryStore(), order)
    frontier.admit([found("http://a.example/1")], 1)

    assert asyncio.run(keep_up(frontier, order, {})) == 0
    assert first(frontier) == "http://a.example/1"


def test_the_node_finishes_what_a_killed_one_began() -> None:
    store = MemoryStore()
    order = ShiftingOrder(BreadthFirst())
    frontier = opened(store, order)
    frontier.admit([found(f"http://a.example/{number}") for number in range(20)], 1)
    order.shifts = {"a.example": 50 - 13}
    frontier.rescoring.start()
    commit(frontier, store)

    again = opened(store, order)
    asyncio.run(keep_up(again, order, order.shifts))

    assert first(again) == "http://a.example/13"


def test_it_waits_for_a_commit_while_much_is_uncommitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescoring, "_PENDING_ROWS", 5)
    order = ShiftingOrder(BreadthFirst())
    frontier = opened(MemoryStore(), order)
    frontier.admit([found(f"http://a.example/{number}") for number in range(20)], 1)

    assert asyncio.run(keep_up(frontier, order, {"a.example": 50 - 13})) == 0
    assert frontier.rescoring.is_running


def test_an_order_that_fails_here_stops_the_crawl_with_its_sentence(tmp_path: Path) -> None:
    groups = {"gossamer.order": {"frail": "a_failing_package:Order"}}
    with (
        installed(tmp_path, "a-failing-package", groups, FAILING),
        site_in_thread({"/": page("")}) as site,
        pytest.raises(PluginError, match=r"'frail' of a-failing-package 1\.0 failed to give its"),
    ):
        crawl(tmp_path / "c", [site.url()], frontier__order="frail")
