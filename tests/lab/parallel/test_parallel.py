"""Parallel crawls of a stored graph (`lab/parallel/`), checked against plain loops."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.lab.graph import LinkGraph, graph_of
from gossamer.lab.parallel.compare import ParallelLab, ParallelRow, compare, importance_of
from gossamer.lab.parallel.lockstep import CrawlOrder, ProcessGroup
from gossamer.lab.parallel.measures import crawl, quality_of
from gossamer.lab.parallel.modes import MODES
from gossamer.lab.parallel.owners import PageOwners
from gossamer.lab.parallel.reached import messages, reachable, reached_by_each
from gossamer.lab.parallel.tables import parallel_experiment
from lab.parallel.plain_simulator import PlainCrawl
from support.rows import each_row

SITES, PAGES_A_SITE = 20, 30


def small_web(number: int = 1) -> LinkGraph:
    """600 pages on 20 sites; most links stay on the site, and few pages are popular."""
    chance = random.Random(number)
    pages = SITES * PAGES_A_SITE
    links = []
    for page in range(pages):
        site = page // PAGES_A_SITE
        for _ in range(chance.randrange(8)):
            if chance.random() < 0.8:
                links.append((page, site * PAGES_A_SITE + int(30 * chance.random() ** 2)))
            else:
                links.append((page, int(pages * chance.random() ** 3)))
    sources, targets = np.array(links).T
    graph = graph_of(sources, targets, pages)
    return replace(graph, site=(np.arange(pages) // PAGES_A_SITE).astype(np.int32))


def rows_of(graph: LinkGraph) -> list[list[int]]:
    return [
        graph.targets[graph.offsets[page] : graph.offsets[page + 1]].tolist()
        for page in range(graph.pages)
    ]


def owners(graph: LinkGraph, partition: str, mode: str, count: int) -> np.ndarray:
    return PageOwners(graph).by(partition, 8 * count if mode == "dynamic" else count)


SEEDS = np.array([3, 77, 222, 401, 599], np.int32)


@each_row("order", ["breadth", "backlinks"])
@each_row("mode", MODES)
@each_row("partition", ["url-hash", "site-hash", "hierarchical"])
@each_row(("count", "most"), [(2, 1000), (5, 1000), (5, 200)])
def test_figures_agree_with_plain_loops(
    partition: str, mode: str, order: CrawlOrder, count: int, most: int
) -> None:
    graph = small_web()
    owned = owners(graph, partition, mode, count)
    pieces = 8 * count if mode == "dynamic" else 0

    group = ProcessGroup(count, MODES[mode], owned, pieces, order, in_flight=4, batch_pages=10)
    quick = crawl(graph, group, SEEDS, most)
    plain = PlainCrawl(rows_of(graph), owned.tolist(), count, mode, order)
    plain.run(SEEDS.tolist(), most)

    assert quick.fetched == pytest.approx(plain.fetches, rel=0.01)
    assert quick.distinct == pytest.approx(len(plain.distinct()), rel=0.01)
    assert quick.messages == pytest.approx(plain.messages, rel=0.01)
    expected = [len(worker.fetched) for worker in plain.workers]
    assert quick.by_process.tolist() == pytest.approx(expected, rel=0.01)
    both = set(np.flatnonzero(quick.is_fetched).tolist()) & plain.distinct()
    assert len(both) >= 0.99 * quick.distinct


@given(number=st.integers(1, 1000), count=st.integers(1, 9))
def test_whole_crawls_need_no_steps(number: int, count: int) -> None:
    graph = small_web(number)
    owned = PageOwners(graph).by("site-hash", count)
    seeds = np.random.default_rng(number).choice(graph.pages, 6, replace=False).astype(np.int32)

    def stepped(mode: str) -> PlainCrawl:
        plain = PlainCrawl(rows_of(graph), owned.tolist(), count, mode)
        plain.run(seeds.tolist(), graph.pages + 1)
        return plain

    firewall, crossing = stepped("firewall"), stepped("cross-over")
    once, every = stepped("exchange"), stepped("exchange-all")
    is_reached = reachable(graph, seeds)
    assert set(np.flatnonzero(is_reached).tolist()) == once.distinct() == crossing.distinct()
    walled = np.flatnonzero(reachable(graph, seeds, owned))
    assert set(walled.tolist()) == firewall.distinct()
    assert messages(graph, is_reached, owned, count) == (every.messages, once.messages)
    each = reached_by_each(graph, seeds, owned[seeds], count)
    assert each == [len(worker.fetched) for worker in crossing.workers]


def compared(lab: ParallelLab | None = None) -> dict[tuple[str, str, int], ParallelRow]:
    lab = lab or ParallelLab(processes=(2, 8), seeds=16, repeats=2, in_flight=4, fraction=0.2)
    return {(row.partition, row.mode, row.processes): row for row in compare(small_web(), lab)}


def test_an_exchange_fetches_every_page_once() -> None:
    for (_, mode, _), row in compared().items():
        if mode.startswith("exchange") or mode == "dynamic":
            assert row.span("overlap") == (0.0, 0.0)
            assert row.span("coverage") == (1.0, 1.0)
            assert row.mean("urls_per_page") > 0


def test_a_firewall_sends_nothing_and_loses_pages_the_more_the_more_processes() -> None:
    rows = compared()

    for partition in ("url-hash", "site-hash", "hierarchical"):
        few, many = rows[partition, "firewall", 2], rows[partition, "firewall", 8]
        assert many.mean("coverage") < few.mean("coverage") < 1
        assert few.mean("urls_per_page") == few.mean("overlap") == 0


def test_a_cross_over_reaches_all_and_fetches_pages_twice() -> None:
    rows = compared()

    few, many = rows["site-hash", "cross-over", 2], rows["site-hash", "cross-over", 8]
    assert few.mean("coverage") == many.mean("coverage") == 1
    assert 0 < few.mean("overlap") < many.mean("overlap")
    levels = [value or 0.0 for value in many.runs[0].overlap_at.values()]
    assert levels == sorted(levels)


def test_fewer_urls_are_sent_when_sites_stay_together_and_urls_are_sent_once() -> None:
    rows = compared()

    def urls(partition: str, mode: str) -> float:
        return rows[partition, mode, 8].mean("urls_per_page")

    assert urls("site-hash", "exchange") < urls("url-hash", "exchange") / 2
    for partition in ("url-hash", "site-hash", "hierarchical"):
        assert urls(partition, "exchange") <= urls(partition, "exchange-batch")
        assert urls(partition, "exchange-batch") <= urls(partition, "exchange-all")


def test_one_process_is_as_good_as_any_and_never_better_than_the_ideal() -> None:
    rows = compared()

    single = rows["none", "independent", 1]
    assert single.mean("overlap") == 0
    assert single.mean("coverage") == 1
    assert all(0 < row.mean("quality") <= 1 for row in rows.values())


def test_a_coordinator_balances_better_than_a_hash_of_sites() -> None:
    rows = compared()

    dynamic, static = rows["site-hash", "dynamic", 8], rows["site-hash", "exchange", 8]
    assert dynamic.mean("balance") < static.mean("balance")


def test_the_same_seed_gives_the_same_figures() -> None:
    assert compared() == compared()


def test_quality_compares_with_the_best_pages_of_the_same_number() -> None:
    worth = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    fetched = np.array([True, False, False, True, False])

    found = quality_of(fetched, np.ones(5, bool), worth)

    assert found.importance == pytest.approx(7 / 9)
    assert found.hot == 0.5


def test_pages_without_sites_are_divided_by_urls_alone() -> None:
    graph = replace(small_web(), site=np.zeros(600, np.int32))

    rows = compare(graph, ParallelLab(processes=(2,), seeds=4))

    assert {row.partition for row in rows} == {"none", "url-hash"}
    with pytest.raises(UsageError, match="needs sites"):
        compare(graph, ParallelLab(partitions=("site-hash",)))


def test_plots_have_a_curve_for_each_partition_and_mode() -> None:
    lab = ParallelLab(processes=(1, 2, 4), seeds=16, in_flight=4)

    walled, crossing, sent, quality = parallel_experiment(small_web(), lab).plots

    assert list(walled.curves) == ["url-hash", "site-hash", "hierarchical"]
    assert list(crossing.curves) == ["url-hash", "site-hash", "hierarchical", "independent"]
    assert sent.y_scale == "log"
    assert [x for x, _ in sent.curves["site-hash"]] == [2, 4]
    assert set(quality.curves) == MODES.keys() - {"independent"}


def test_names_that_are_urls_say_which_site_a_page_belongs_to() -> None:
    names = [f"http://www.s{page // 30}.it/{page}" for page in range(600)]
    graph = replace(small_web(), site=np.zeros(600, np.int32), names=names)

    owned = PageOwners(graph).by("site-hash", 4)

    assert PageOwners(graph).has_sites
    assert all(len(set(owned[at : at + 30].tolist())) == 1 for at in range(0, 600, 30))
    assert len(set(owned.tolist())) == 4


def test_an_empty_graph_is_refused() -> None:
    empty = graph_of(np.empty(0, np.int32), np.empty(0, np.int32))

    with pytest.raises(UsageError, match="no pages"):
        compare(empty, ParallelLab())


def test_importance_by_backlinks_is_the_number_of_links() -> None:
    graph = small_web()

    assert importance_of(graph, "backlinks").tolist() == graph.in_degree.tolist()
