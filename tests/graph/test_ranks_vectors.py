"""PageRank, hubs and authorities against another's code, and on graphs whose answer is known."""

import gzip
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.graph.ranks import vectors as rank_vectors
from gossamer.graph.ranks.numbered_links import (
    InLinks,
    gather,
    in_links_of,
    packed,
)
from gossamer.graph.ranks.spool import Spool
from gossamer.graph.ranks.vectors import hits, pagerank
from support.shared import data

Pairs = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Pairs]:
    nodes = draw(st.integers(1, 30))
    node = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(node, node), max_size=120))


def links_of(nodes: int, pairs: Pairs) -> InLinks:
    sources, targets = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    return in_links_of(sources, targets, nodes)


def networkx_of(nodes: int, pairs: Pairs) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(pair for pair in pairs if pair[0] != pair[1])
    return graph


@given(graphs())
@settings(deadline=None)
def test_pagerank_is_that_of_networkx(graph: tuple[int, Pairs]) -> None:
    nodes, pairs = graph
    wanted = nx.pagerank(networkx_of(nodes, pairs), tol=1e-14, max_iter=1000)

    found = pagerank(links_of(nodes, pairs))

    assert found.values == pytest.approx([wanted[n] for n in range(nodes)], abs=1e-9)
    assert found.values.sum() == pytest.approx(1)


@given(graphs())
@settings(deadline=None)
def test_hubs_link_to_authorities_and_authorities_are_linked_by_hubs(
    graph: tuple[int, Pairs],
) -> None:
    nodes, pairs = graph
    matrix = nx.to_numpy_array(networkx_of(nodes, pairs), nodelist=range(nodes))

    found = hits(links_of(nodes, pairs), tolerance=0, rounds=500)

    for ranked, pull in ((found.authorities, matrix.T), (found.hubs, matrix)):
        other = found.hubs if ranked is found.authorities else found.authorities
        wanted = pull @ other.values
        share = wanted / max(wanted.sum(), 1e-300)
        assert ranked.values == pytest.approx(share, abs=1e-3)


def test_hubs_and_authorities_are_those_of_networkx() -> None:
    graph = nx.gnp_random_graph(200, 0.05, seed=4, directed=True)
    hubs, authorities = nx.hits(graph, max_iter=1000, tol=1e-12)

    found = hits(links_of(200, list(graph.edges)))

    assert found.hubs.values == pytest.approx([hubs[n] for n in range(200)], abs=1e-7)
    assert found.authorities.values == pytest.approx([authorities[n] for n in range(200)], abs=1e-7)


def test_links_named_twice_and_links_to_oneself_change_nothing() -> None:
    plain = pagerank(links_of(3, [(0, 1), (1, 2), (0, 2)]))

    repeated = pagerank(links_of(3, [(0, 2), (0, 1), (1, 1), (1, 2), (0, 1), (2, 2), (0, 1)]))

    assert list(repeated.values) == list(plain.values)


def test_a_page_without_links_gives_its_rank_to_all() -> None:
    assert list(pagerank(links_of(4, [])).values) == [0.25] * 4


def test_no_pages_have_no_ranks() -> None:
    assert len(pagerank(links_of(0, [])).values) == 0
    assert len(hits(links_of(0, [])).hubs.values) == 0


def test_without_links_there_are_no_hubs() -> None:
    assert list(hits(links_of(2, [])).authorities.values) == [0, 0]


def test_an_earlier_result_is_a_good_start() -> None:
    graph = nx.gnp_random_graph(500, 0.01, seed=1, directed=True)
    pairs = list(graph.edges)
    cold = pagerank(links_of(500, pairs))

    warm = pagerank(links_of(500, [*pairs, (3, 4)]), start=cold.values * 500)

    assert warm.rounds < cold.rounds
    again = pagerank(links_of(500, pairs), start=cold.values)
    assert again.rounds <= 2
    assert again.values == pytest.approx(cold.values, abs=1e-10)


def test_steps_that_are_alike_are_leapt_over() -> None:
    """Sites that hardly link to each other: rank goes from one to the other slowly."""
    sites = [nx.gnp_random_graph(60, 0.1, seed=seed, directed=True) for seed in range(4)]
    graph = nx.disjoint_union_all(sites)
    graph.add_edges_from([(0, 60), (61, 120), (121, 180), (181, 0)])
    wanted = nx.pagerank(graph, tol=1e-14, max_iter=1000)

    found = pagerank(links_of(len(graph), list(graph.edges)))

    assert found.rounds < 60  # 101 without
    assert found.values == pytest.approx([wanted[n] for n in graph], abs=1e-10)


def test_from_the_goal_nobody_leaps() -> None:
    found = pagerank(links_of(2, [(0, 1), (1, 0)]), tolerance=0, rounds=20)

    assert (list(found.values), found.rounds, found.change) == ([0.5, 0.5], 20, 0)


def test_steps_to_and_fro_are_not_leapt_over() -> None:
    graph = nx.star_graph(20).to_directed()
    start = np.array([1.0] + [1e-3] * 20)
    wanted = nx.pagerank(graph, tol=1e-14, max_iter=1000)

    found = pagerank(links_of(21, list(graph.edges)), start=start)

    assert found.rounds < 160
    assert found.values == pytest.approx([wanted[n] for n in graph], abs=1e-10)


def test_rounds_are_limited_and_the_result_says_so() -> None:
    found = pagerank(links_of(3, [(0, 1), (1, 2)]), rounds=2)

    assert found.rounds == 2
    assert found.change > 1e-10


@given(graphs(), st.integers(1, 9))
@settings(deadline=None)
def test_chunks_and_scipy_change_nothing_but_the_last_digits(
    graph: tuple[int, Pairs], chunk: int
) -> None:
    links = links_of(*graph)
    plain, plain_hits = pagerank(links), hits(links)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_vectors, "CHUNK_LINKS", chunk)
        patch.setattr(rank_vectors, "_FEW_LINKS", 0)
        chunked, chunked_hits = pagerank(links), hits(links)

    assert chunked.values == pytest.approx(plain.values, abs=1e-12)
    assert chunked_hits.hubs.values == pytest.approx(plain_hits.hubs.values, abs=1e-9)


def arrays_of(links: InLinks) -> list[list[int]]:
    sources = links.sources.read(0, links.links)
    columns = (links.place_of, links.starts, links.out_links, sources)
    return [[links.linking], *(column.tolist() for column in columns)]


@given(graphs(), st.integers(1, 40))
@settings(deadline=None)
def test_links_on_disk_are_the_same_links(
    tmp_path_factory: pytest.TempPathFactory, graph: tuple[int, Pairs], chunk: int
) -> None:
    nodes, pairs = graph
    folder = tmp_path_factory.mktemp("spill")
    spool = Spool(folder, "pairs", chunk)
    for source, target in pairs:
        spool.add(packed(np.array([source]), np.array([target])))

    found = gather(spool, nodes, folder, chunk)

    wanted = links_of(nodes, pairs)
    assert list(found.starts) == list(wanted.starts)
    assert list(found.out_links) == list(wanted.out_links)
    assert list(found.sources.read(0, found.links)) == list(wanted.sources.read(0, wanted.links))


def reference(sources: Any, targets: Any, nodes: int) -> Any:
    """PageRank by the definition, one line for each of its terms."""
    pairs = np.unique(sources * nodes + targets)
    sources, targets = pairs // nodes, pairs % nodes
    sources, targets = sources[sources != targets], targets[sources != targets]
    out_links = np.bincount(sources, minlength=nodes)
    ranks = np.full(nodes, 1 / nodes)
    for _ in range(200):
        along = np.bincount(targets, (ranks / np.maximum(out_links, 1))[sources], nodes)
        ranks = 0.85 * (along + ranks[out_links == 0].sum() / nodes) + 0.15 / nodes
    return ranks


@pytest.mark.slow
def test_a_real_graph_has_the_same_thousand_on_top() -> None:
    with gzip.open(data("graphs/cnr-2000.tsv.gz")) as lines:
        sources, targets = np.loadtxt(lines, np.int64, unpack=True)
    nodes = int(max(sources.max(), targets.max())) + 1
    assert (nodes, len(sources)) == (325_557, 3_216_152)  # as its readme says
    assert nodes - len(np.unique(sources)) == 78_056
    wanted = reference(sources, targets, nodes)

    found = pagerank(in_links_of(sources, targets, nodes)).values

    # In the order found, the wanted values fall; those that are equal to 1e-6 may change places.
    top = wanted[np.argsort(-found, kind="stable")[:1000]]
    assert np.all(np.diff(top) <= 1e-6 * top[1:])
    assert found == pytest.approx(wanted, rel=1e-5)
    assert top.min() >= np.sort(wanted)[-1000] * (1 - 1e-6)
