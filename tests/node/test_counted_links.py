"""The node learns of every link while it crawls, if its order counts links."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from frontier.test_rescoring import MostLinked
from gossamer.base.clock import ManualClock
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.store import StateTable
from gossamer.policies.policies import Policies
from gossamer.records import Purpose
from gossamer.urls.keys import Keys
from gossamer.workers.process import ProcessedPage
from workers.crash_bench import SEED, CrashBench, Web


def a_web() -> Web:
    """Ten pages that link to all others, to themselves, and three times to the most linked one."""
    menu = "".join(f"<a href=/{number}>{number}</a>" for number in range(10))
    extra = "<a href=/9>more</a><a href=/9#end>end</a>"
    pages = {f"{SEED}{number}": f"page {number} {menu}{extra}" for number in range(10)}
    return Web({**pages, SEED: "<a href=/0>start</a><a href=/5>five</a><a href=/9>last</a>"})


def opened(path: Path, *, counts_links: bool) -> CrashBench:
    policies = Policies(order=MostLinked()) if counts_links else None
    return CrashBench(path, a_web(), ManualClock(), policies=policies)


def carried(bench: CrashBench, pages: int) -> list[str]:
    """The URLs of so many pages, in the order in which they were requested."""
    urls: list[str] = []
    while len(urls) < pages:
        lease = bench.lease()
        assert lease is not None
        bench.carry(lease)
        urls += [lease.url] if lease.purpose is Purpose.PAGE else []
    return urls


def test_the_node_knows_how_many_links_lead_to_a_queued_url(tmp_path: Path) -> None:
    bench = opened(tmp_path / "c", counts_links=True)
    carried(bench, 3)  # the seed and two pages
    keys = Keys(bench.committer._store.find(StateTable.META, SALT_KEY) or b"")
    links = bench.parts.frontier.queues._links
    assert links is not None

    queued = {
        number: links.of(keys.of(f"{SEED}{number}"))
        for number in range(10)
        if bench.parts.frontier.find(keys.of(f"{SEED}{number}")).outcome == "queued"  # type: ignore[union-attr]
    }
    bench.close()

    seed_links = Counter({0: 1, 9: 1, 5: 1})
    assert len(queued) == 8
    assert queued == {
        number: seed_links[number] + 2 * (3 if number == 9 else 1) for number in queued
    }


def test_the_most_linked_url_is_requested_before_older_ones(tmp_path: Path) -> None:
    bench = opened(tmp_path / "c", counts_links=True)
    urls = carried(bench, 3)
    bench.close()

    assert urls == [SEED, f"{SEED}0", f"{SEED}9"]


@pytest.mark.parametrize("counts_links", [True, False])
def test_repeated_links_travel_only_where_they_are_counted(
    tmp_path: Path, *, counts_links: bool
) -> None:
    bench = opened(tmp_path / "c", counts_links=counts_links)
    sizes: list[int] = []

    def note(processed: ProcessedPage) -> None:
        sizes.append(len(processed.report.repeated))

    bench.opened.node.on_processed = note
    carried(bench, 4)
    bench.close()

    assert any(sizes) == counts_links
