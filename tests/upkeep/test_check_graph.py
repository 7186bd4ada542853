"""verify looks at every file of the graph, merged or not."""

from dataclasses import replace
from pathlib import Path

import pytest

from gossamer.collection.checksums import Before, end_writing
from gossamer.collection.directory import CollectionPaths
from gossamer.graph import manifest
from gossamer.graph.arrow import pq
from gossamer.graph.manifest import MergedSet
from gossamer.graph.merge import merge
from gossamer.upkeep.verify import Problem, verify
from support.a_crawl import crawl
from support.a_site import page, site_in_thread

PAGES = {
    "/": page("<a href=/a>a</a> <a href=/b>b</a>"),
    "/a": page("<a href=/b>b</a> <a href='http://[bad'>bad</a>"),
    "/b": page("<a href=/>home</a>"),
}


@pytest.fixture
def home(collection: Path) -> CollectionPaths:
    """A collection whose links are merged."""
    with site_in_thread(PAGES) as site:
        crawl(collection, [site.url()])
    folder = collection / "graph"
    graph = manifest.read(folder)
    names = [part.name for part in graph.parts]
    manifest.replace(folder, graph.with_merged(names, merge(folder, names, "links-m"), at_us=1))
    sealed(CollectionPaths(collection))
    return CollectionPaths(collection)


def problems(home: CollectionPaths) -> list[Problem]:
    return list(verify(home))


def sealed(home: CollectionPaths) -> None:
    """What a writer does that lets go of the collection."""
    end_writing(home.path, Before())


def merged_set(home: CollectionPaths) -> MergedSet:
    (merged,) = manifest.read(home.graph).sets
    return merged


def test_a_merged_graph_is_well(home: CollectionPaths) -> None:
    assert problems(home) == []


@pytest.mark.parametrize("file", ["by_target", "by_source", "captures_file"])
def test_each_file_of_a_set_is_read(home: CollectionPaths, file: str) -> None:
    path = home.graph / getattr(merged_set(home), file)
    path.write_bytes(path.read_bytes()[:-8])

    (problem,) = problems(home)

    assert problem.where == str(path)
    assert "it cannot be read" in problem.what
    assert "gossamer rebuild graph" in problem.todo


def test_a_sorted_file_that_is_not_in_order_is_found(home: CollectionPaths) -> None:
    path = home.graph / merged_set(home).by_target
    table = pq.read_table(path)
    pq.write_table(table.take(list(range(table.num_rows))[::-1]), path, row_group_size=1)
    sealed(home)

    assert ["not in order" in problem.what for problem in problems(home)] == [True]


def test_a_count_that_is_wrong_is_found(home: CollectionPaths) -> None:
    graph = manifest.read(home.graph)
    wrong = replace(merged_set(home), captures=99)
    manifest.replace(home.graph, replace(graph, sets=(wrong,)))
    sealed(home)

    assert ["the manifest says 99" in problem.what for problem in problems(home)] == [True]


def test_a_graph_beyond_the_archive_is_found(home: CollectionPaths) -> None:
    graph = manifest.read(home.graph)
    (file,) = graph.covered
    manifest.replace(home.graph, graph.with_covered({file: 10**9}))

    assert [f"covers {file} up to byte 1000000000" in p.what for p in problems(home)] == [True]


def test_a_damaged_manifest_is_said_once_with_what_to_do(home: CollectionPaths) -> None:
    (home.graph / "manifest.json").write_text("{")

    (problem,) = problems(home)

    assert "rebuild" not in problem.what
    assert "gossamer rebuild graph" in problem.todo
