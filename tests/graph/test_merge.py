"""Merging changes nothing that anybody can ask, whatever is merged with what in which order."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.graph import manifest, sorted_files, tables
from gossamer.graph.arrow import pq
from gossamer.graph.degrees import degrees
from gossamer.graph.merge import merge
from gossamer.records import Edge
from support.a_graph import Captured, a_graph, capture, link, rows, unchanged

PAGES = ["http://a.example/", "http://b.example/x", "http://a.example/é", "http://c.example/"]
edges = st.builds(
    Edge,
    target=st.sampled_from([*PAGES, "http://never.example/", "http://[bad"]),
    key=st.just(b""),
    text=st.sampled_from(["", "words", "wörter 中"]),
    rel=st.sampled_from(["", "nofollow", "same"]),
    place=st.sampled_from(["body", "nav"]),
    kind=st.sampled_from(["a", "link", "redirect"]),
    line=st.just(0),
    fault=st.just(""),
).map(lambda e: e._replace(fault="host", line=7) if e.target == "http://[bad" else e)


@st.composite
def captured(draw: st.DrawFn) -> Captured:
    source, at_us = draw(st.sampled_from(PAGES)), draw(st.integers(1, 40))
    match draw(st.sampled_from(["capture", "unchanged", "older"])):
        case "capture":
            return capture(source, at_us, *draw(st.lists(edges, max_size=5)))
        case "unchanged":
            return unchanged(source, at_us)
        case _:
            return source, at_us, draw(st.lists(edges, min_size=1, max_size=5))


parts = st.lists(st.lists(captured(), min_size=1, max_size=5), min_size=1, max_size=8)


def everything(folder: Path) -> list[list[tuple[object, ...]]]:
    asked = (tables.links, tables.faults, tables.captures, degrees)
    return [rows(ask(folder)) for ask in asked]


def merge_some(folder: Path, names: list[str], name: str) -> None:
    merged = merge(folder, names, name)
    before = manifest.read(folder)
    manifest.replace(folder, before.with_merged(names, merged, at_us=5))


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_files, "SLICE_ROWS", 3)
    monkeypatch.setattr(sorted_files, "GROUP_ROWS", 2)


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 4)  # 0.5 s each
@given(parts=parts, data=st.data())
def test_merged_and_unmerged_graphs_answer_alike(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[Captured]], data: st.DataObject
) -> None:
    folder = a_graph(tmp_path_factory.mktemp("home"), *parts)
    before = everything(folder)
    for number in range(data.draw(st.integers(1, 2))):
        graph = manifest.read(folder)
        choices = [[part.name for part in graph.parts], [one.name for one in graph.sets]]
        names = data.draw(st.sampled_from([names for names in choices if names]))
        some = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))

        merge_some(folder, some, f"links-m{number}")

        assert everything(folder) == before


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("again", [False, True])
def test_sets_are_merged_in_slices_and_stay_in_order(tmp_path: Path, again: bool) -> None:
    pages = [
        capture(f"http://a/{i}", i, *(link(f"http://b/{j * 7 % 13}", str(j)) for j in range(9)))
        for i in range(30)
    ]
    newer = [capture(f"http://a/{i}", 100 + i, link("http://b/1", "1")) for i in range(0, 30, 3)]
    folder = a_graph(tmp_path, pages[:10], pages[10:20], pages[20:], newer)
    before = everything(folder)
    for number, part in enumerate(manifest.read(folder).parts):
        merge_some(folder, [part.name], f"links-m{number}")
    if again:
        merge_some(folder, ["links-m0", "links-m1"], "links-n0")
        merge_some(folder, ["links-m3", "links-m2"], "links-n1")
        merge_some(folder, ["links-n1", "links-n0"], "links-o")
    else:
        merge_some(folder, [f"links-m{number}" for number in range(4)], "links-o")

    (merged,) = manifest.read(folder).sets
    by_target = pq.read_table(folder / merged.by_target).to_pylist()
    by_source = pq.read_table(folder / merged.by_source).to_pylist()
    assert everything(folder) == before
    assert len(by_target) == len(by_source) == 30 * 9 + 10, "each link that ever was, once"
    assert [row["target"] for row in by_target] == sorted(row["target"] for row in by_target)
    assert [row["source"] for row in by_source] == sorted(row["source"] for row in by_source)
    assert pq.read_metadata(folder / merged.by_target).num_row_groups > 30
    captures = pq.read_table(folder / merged.captures_file).column("source").to_pylist()
    assert captures == sorted(f"http://a/{i}" for i in range(30))
    assert pq.read_metadata(folder / merged.captures_file).num_row_groups == 3, "in pieces"


def test_a_link_that_went_and_came_back_was_first_seen_before_it_went(tmp_path: Path) -> None:
    page, back = "http://a/", link("http://b/", "back")
    older = [capture(page, 1, back), capture(page, 2, link("http://c/"))]
    folder = a_graph(tmp_path, older, [capture(page, 3, back)])

    merge_some(folder, [manifest.read(folder).parts[0].name], "links-m0")

    ((_, target, *_, first, last),) = rows(tables.links(folder))
    assert (target, first, last) == ("http://b/", 1, 3)


def test_each_file_has_the_rows_that_the_set_says(tmp_path: Path) -> None:
    bad = Edge("http://[", b"", "x", "", "body", "a", 12, "host")
    folder = a_graph(tmp_path, [capture("http://a/", 1, link("http://b/"), bad)])

    merged = merge(folder, ["links-000000.parquet"], "links-m")

    assert (merged.links, merged.rows, merged.captures) == (1, 2, 1)
    for name, count in merged.files.items():
        assert pq.read_metadata(folder / name).num_rows == count
    assert not list(folder.glob("*.new"))


def test_a_graph_of_pages_without_links_can_be_merged(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture("http://a/", 1)], [capture("http://b/", 2)])
    before = everything(folder)

    merge_some(folder, ["links-000000.parquet"], "links-m0")
    merge_some(folder, ["links-000001.parquet"], "links-m1")
    merge_some(folder, ["links-m0", "links-m1"], "links-n")

    assert everything(folder) == before


def test_the_process_prints_the_set(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture("http://a/", 1, link("http://b/"))])
    command = [sys.executable, "-m", "gossamer.graph.merge", str(folder), "links-m"]

    ended = subprocess.run(
        [*command, "links-000000.parquet"],
        capture_output=True, text=True, check=True, env=os.environ,
    )  # fmt: skip

    assert ended.stdout == '{"name": "links-m", "links": 1, "rows": 1, "captures": 1}\n'
