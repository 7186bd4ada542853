"""Kills of the node while pages leave a collection of limited size: afterwards all parts agree."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase
from typing import Final

import pytest

from faults.test_kill_campaign import FLAGS, Campaign
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.frontier.meta_keys import CLEAN_KEY
from gossamer.frontier.store import StateTable
from gossamer.graph import manifest as manifests
from gossamer.graph import tables
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_site import Pages, page, robots, site_in_thread
from support.agreement import assert_all_parts_agree, kept_of, left_of

PAGES: Final = 500
ROOM: Final = 60
KILLS: Final = 8


def links_of(number: int) -> list[int]:
    """A tree, and links to numbers with many zeros: these become important."""
    round_ones = {number // 10 * 10, number // 100 * 100}
    names = {2 * number + 1, 2 * number + 2, number + 1, *round_ones} - {number}
    return sorted(name for name in names if name < PAGES)


def web() -> Pages:
    pages: dict[str, bytes] = {"/robots.txt": robots("")}
    for number in range(PAGES):
        links = "".join(f"<a href=/{name}>page {name}</a>" for name in links_of(number))
        pages[f"/{number}"] = page(f"<title>{number}</title>{links}<p>{text_of(number)}</p>")
    return pages


def text_of(number: int) -> str:
    """Other words on each page: pages with the same text look like a trap."""
    chance = random.Random(number)
    return " ".join("".join(chance.choices(ascii_lowercase, k=7)) for _ in range(80))


@pytest.mark.slow
def test_a_crawl_that_is_killed_while_pages_leave_keeps_the_best(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with site_in_thread(web()) as site:
        command = (
            "crawl", site.url("/0"), "-c", home, "--workers", "2", "--keep-best", str(ROOM),
            *FLAGS, "--set", "node.part_every_s=1",
        )  # fmt: skip
        campaign = Campaign(home, site, command, seed=11)
        summary = campaign.run(KILLS, (20, 60))
        worth = {site.url(f"/{number}"): 0 for number in range(PAGES)}
        for number in range(PAGES):
            for name in links_of(number):
                worth[site.url(f"/{name}")] += 1

    kept, left = kept_of(home), left_of(home)
    assert (summary["fetched"], len(kept)) == (ROOM, ROOM)
    assert len(kept) + len(left) == PAGES
    assert sum(worth[url] for url in kept) >= 0.95 * sum(sorted(worth.values())[-ROOM:])
    assert_all_parts_agree(home)
    rebuild(CollectionPaths(home), "all", SystemClock(), lambda _said: None)
    assert (kept_of(home), left_of(home)) == (kept, left)
    assert_all_parts_agree(home)


def test_a_graph_that_missed_who_left_is_told_by_the_next_start(collection: Path) -> None:
    """What a kill between two parts leaves: the state knows, and the graph does not."""

    with site_in_thread(web()) as site:
        limits = {"limits__keep_best": 5, "limits__max_pages": 40}
        crawl(collection, [site.url("/0")], node__commit_every_s=0.05, **limits)
        _forget_who_left(collection)
        assert any(row["source"] not in kept_of(collection) for row in _links(collection))
        crawl(collection, [site.url("/0")], **limits)

    assert manifests.read(collection / "graph").links
    assert_all_parts_agree(collection)
    assert list(verify(collection)) == []


def _links(collection: Path) -> list[dict[str, str]]:
    return [row for batch in tables.links(collection / "graph") for row in batch.to_pylist()]


def _forget_who_left(collection: Path) -> None:
    """Take the parts about pages that left out of the graph, as if the process had been killed."""

    folder = collection / "graph"
    graph = manifests.read(folder)
    assert not graph.sets, "the test needs parts that are not merged"
    parts = tuple(part for part in graph.parts if "-left-" not in part.name)
    assert len(parts) < len(graph.parts)
    manifests.replace(folder, replace(graph, parts=parts))
    store = open_to_write(CollectionPaths(collection), 16)
    store.write({StateTable.META: {CLEAN_KEY: b"0"}})
    store.close()
    with CollectionReader.open(collection) as reader:
        assert reader.counts().evicted
