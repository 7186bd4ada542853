"""The tables that people see: distinct, in a fixed order, from named parts only."""

from pathlib import Path
from typing import Any

import pytest

from gossamer.errors import CorruptFile
from gossamer.graph import tables
from gossamer.graph.parts import PartWriter
from gossamer.records import Edge
from support.a_graph import a_graph, capture, link, rows, unchanged


def test_a_link_seen_twice_is_one_row_with_its_first_and_last_time(tmp_path: Path) -> None:
    folder = a_graph(
        tmp_path,
        [("http://a/", 20, [link("http://b/", "b"), link("http://b/", "b")])],
        [("http://a/", 10, [link("http://b/", "b")]), ("http://a/", 30, [link("http://b/", "b")])],
    )

    assert rows(tables.links(folder)) == [("http://a/", "http://b/", "b", "", "body", 10, 30)]


def test_a_newer_capture_supersedes_the_links_of_the_older(tmp_path: Path) -> None:
    folder = a_graph(
        tmp_path,
        [capture("http://a/", 10, link("http://gone/"), link("http://stays/"))],
        [capture("http://a/", 20, link("http://stays/"), link("http://new/"))],
    )

    assert rows(tables.links(folder)) == [
        ("http://a/", "http://new/", "", "", "body", 20, 20),
        ("http://a/", "http://stays/", "", "", "body", 10, 20),
    ]
    assert rows(tables.in_links(folder)) == [("http://new/", 1), ("http://stays/", 1)]


def test_a_page_that_has_lost_all_its_links_has_none(tmp_path: Path) -> None:
    folder = a_graph(
        tmp_path, [capture("http://a/", 10, link("http://b/"))], [capture("http://a/", 20)]
    )

    assert rows(tables.links(folder)) == []
    assert rows(tables.captures(folder)) == [("http://a/", 10, 20, 20)]


def test_an_unchanged_capture_moves_the_last_time_seen_alone(tmp_path: Path) -> None:
    folder = a_graph(
        tmp_path,
        [capture("http://a/", 10, link("http://b/")), capture("http://c/", 11, link("http://b/"))],
        [unchanged("http://a/", 20)],
        [unchanged("http://a/", 30)],
    )

    assert rows(tables.links(folder)) == [
        ("http://a/", "http://b/", "", "", "body", 10, 30),
        ("http://c/", "http://b/", "", "", "body", 11, 11),
    ]
    assert rows(tables.captures(folder))[0] == ("http://a/", 10, 10, 30)


def test_malformed_links_of_an_older_capture_are_forgotten(tmp_path: Path) -> None:
    bad = Edge("http://[", b"", "x", "", "body", "a", 12, "host")
    folder = a_graph(
        tmp_path, [capture("http://a/", 10, bad)], [capture("http://a/", 20, link("http://b/"))]
    )

    assert rows(tables.faults(folder)) == []


def test_links_that_differ_in_words_or_place_or_kind_are_told_apart(tmp_path: Path) -> None:
    kinds = [
        link("http://b/", "one"),
        link("http://b/", "two"),
        link("http://b/", "two", place="nav"),
        link("http://b/", "two", rel="next"),
        link("http://b/", "two", kind="link"),
    ]
    folder = a_graph(tmp_path, [("http://a/", 1, kinds)])

    assert len(rows(tables.links(folder))) == 5


def test_the_order_does_not_depend_on_the_parts(tmp_path: Path) -> None:
    pages = [(f"http://a/{i % 7}", i, [link(f"http://b/{i % 5}", str(i % 3))]) for i in range(200)]

    one = rows(tables.links(a_graph(tmp_path / "one", pages)))
    two = rows(tables.links(a_graph(tmp_path / "two", pages[100:][::-1], pages[:100])))

    assert one == two == sorted(one)


def test_malformed_links_are_in_their_own_table_only(tmp_path: Path) -> None:
    bad = Edge("http://[", b"", "x", "", "body", "a", 12, "host")
    folder = a_graph(tmp_path, [("http://a/", 1, [bad, bad, link("http://b/")])])

    assert rows(tables.faults(folder)) == [("http://a/", "http://[", "host", 12)]
    assert [row[1] for row in rows(tables.links(folder))] == ["http://b/"]
    assert rows(tables.in_links(folder)) == [("http://b/", 1)]


def test_in_links_count_other_pages_once_each(tmp_path: Path) -> None:
    folder = a_graph(
        tmp_path,
        [
            ("http://a/", 1, [link("http://b/", "x"), link("http://b/", "y")]),
            ("http://c/", 1, [link("http://b/")]),
            ("http://b/", 1, [link("http://b/")]),
        ],
    )

    assert rows(tables.in_links(folder)) == [("http://b/", 2)]


@pytest.mark.parametrize("ask", [tables.links, tables.faults, tables.in_links, tables.captures])
def test_an_empty_graph_has_columns_and_no_rows(tmp_path: Path, ask: Any) -> None:
    table = tables.table_of(ask(tmp_path))

    assert table.num_rows == 0
    assert table.num_columns > 1


def test_the_columns_of_links_are_those_of_the_export(tmp_path: Path) -> None:
    names = tables.table_of(tables.links(tmp_path)).column_names

    assert " ".join(names) == "source target anchor rel place first_seen last_seen"


def test_a_part_that_no_manifest_names_is_not_read(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [("http://a/", 1, [link("http://b/")])])
    stray = PartWriter(folder)
    stray.add("http://x/", 1, [link("http://y/")])
    stray.write("links-999999")

    assert [row[0] for row in rows(tables.links(folder))] == ["http://a/"]


@pytest.mark.parametrize("damage", ["cut", "flip", "missing", "text"])
def test_a_damaged_part_is_named(tmp_path: Path, damage: str) -> None:
    pages = [(f"http://a/{i}", i, [link(f"http://b/{i}", f"words {i}")]) for i in range(300)]
    folder = a_graph(tmp_path, pages[:5], pages)
    path = folder / "links-000001.parquet"
    whole = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(whole[: len(whole) // 2])
        case "flip":
            path.write_bytes(whole[:20] + bytes(b ^ 0xFF for b in whole[20:400]) + whole[400:])
        case "missing":
            path.unlink()
        case _:
            path.write_bytes(b"not a part")

    with pytest.raises(CorruptFile, match=r"links-000001\.parquet.*gossamer rebuild graph"):
        rows(tables.links(folder))


def test_a_large_graph_is_answered_in_bounded_batches(tmp_path: Path) -> None:
    pages = [(f"http://a/{i}", 1, [link(f"http://b/{j}") for j in range(100)]) for i in range(1200)]
    folder = a_graph(tmp_path, pages)

    sizes = [batch.num_rows for batch in tables.links(folder)]

    assert sum(sizes) == 120_000
    assert max(sizes) <= tables.BATCH_ROWS


def test_what_memory_does_not_hold_is_beside_the_graph_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MEMORY", "64MB")
    (tmp_path / "run").mkdir()
    words = "long words " * 20
    pages = [
        capture(
            f"http://a/{i}", 1, *(link(f"http://b/{i}/{j}", words + str(j)) for j in range(100))
        )
        for i in range(1500)
    ]
    folder = a_graph(tmp_path, pages)

    assert sum(batch.num_rows for batch in tables.links(folder)) == 150_000
    assert list((tmp_path / "run").iterdir()) == []
