"""Ways to keep duplicates out of the buffer of new URLs (`lab/buffers/`)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gossamer.errors import UsageError
from gossamer.lab.buffers.compare import BufferLab, buffers_experiment, ways_for
from gossamer.lab.buffers.measure import (
    crawl_with,
    measure_way,
    random_web,
    read_links,
    write_graph,
)
from gossamer.lab.buffers.ways import built
from gossamer.lab.graph import graph_of
from gossamer.lab.parallel.reached import reachable
from support.killing import typed

PAGES = 300


@pytest.mark.parametrize("way", ways_for(PAGES))
def test_every_way_with_room_fetches_every_page(way: str, tmp_path: Path) -> None:
    graph = random_web(PAGES)
    write_graph(graph, tmp_path)
    (tmp_path / "state").mkdir()

    buffer = built(way, tmp_path / "state")
    fetched, given, _ = crawl_with(buffer, read_links(tmp_path), [0])

    has_room = not way.startswith("adding, in memory") or way.endswith(f" {PAGES}")
    assert (set(fetched) == set(range(PAGES))) == has_room
    is_once = len(fetched) == len(set(fetched))
    assert is_once == (not way.endswith("late"))
    assert given == sum(graph.out_degree[page] for page in fetched)


def test_a_random_web_can_be_reached_from_its_first_page() -> None:
    assert reachable(random_web(500), np.array([0], np.int32)).all()


def test_what_a_full_table_drops_is_counted_as_lost(tmp_path: Path) -> None:
    graph = random_web(PAGES)
    write_graph(graph, tmp_path)
    (tmp_path / "state").mkdir()

    measured = measure_way(
        "adding, in memory, 5", tmp_path / "state", read_links(tmp_path), [0], PAGES
    )

    assert measured.lost == PAGES - measured.fetched > 0
    assert measured.links_per_cpu_s > 0


def test_the_command_compares_all_ways() -> None:
    ended = typed("lab", "buffers", "--pages", "200", "--repeats", "1", "--json")

    told = json.loads(ended.out)
    assert ended.code == 0
    assert list(told["results"]) == ways_for(200)
    ours = told["results"]["ours"]
    assert (ours["lost"], ours["fetched_twice"]) == (0, 0)


def test_an_empty_graph_is_refused() -> None:
    empty = graph_of(np.empty(0, np.int32), np.empty(0, np.int32))

    with pytest.raises(UsageError, match="no pages"):
        buffers_experiment(empty, BufferLab())
