"""One URL's links: the same as in the table of all links, from whichever files."""

from pathlib import Path

import pytest

from gossamer.errors import CorruptFile
from gossamer.graph import manifest, sorted_files, tables
from gossamer.graph.lookup import links_from, links_to
from gossamer.graph.merge import merge
from gossamer.records import Edge
from support.a_graph import a_graph, capture, link, rows, unchanged

BAD = Edge("http://[", b"", "x", "", "body", "a", 12, "host")


def with_url(table: list[tuple[object, ...]], column: int, url: str) -> list[tuple[object, ...]]:
    return [row for row in table if row[column] == url]


def without_kind(table: object) -> list[tuple[object, ...]]:
    listed = table.to_pylist()  # type: ignore[attr-defined]
    return [tuple(v for k, v in row.items() if k != "kind") for row in listed]


def a_history(home: Path) -> Path:
    """Pages with several captures, in parts and in sets of one and of two levels."""
    first = [
        capture(
            f"http://a/{i}", i, *(link(f"http://b/{(i + j) % 9}", str(j % 2)) for j in range(4))
        )
        for i in range(20)
    ]
    second = [capture(f"http://a/{i}", 100 + i, link("http://b/3", "new"), BAD) for i in range(9)]
    third = [unchanged(f"http://a/{i}", 200 + i) for i in range(4, 14)]
    fourth = [capture("http://a/7", 300), ("http://a/19", 301, [link("http://b/3", kind="area")])]
    return a_graph(home, first[:9], first[9:], second, third, fourth)


@pytest.mark.parametrize("merged", [[], [0], [0, 1], [2, 3], [0, 1, 2, 3, 4]])
def test_what_is_found_is_what_the_table_of_all_links_has(
    tmp_path: Path, merged: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_files, "GROUP_ROWS", 3)
    folder = a_history(tmp_path)
    graph = manifest.read(folder)
    if merged:
        names = [graph.parts[number].name for number in merged]
        new = merge(folder, names, "links-m")
        manifest.replace(folder, graph.with_merged(names, new, at_us=0))

    table = rows(tables.links(folder))
    for target in ("http://b/0", "http://b/3", "http://b/8", "http://b/none", "http://["):
        assert without_kind(links_to(folder, target)) == with_url(table, 1, target)
    for number in (0, 3, 7, 8, 13, 19, 20):  # of each number of captures; the last is nowhere
        source = f"http://a/{number}"
        assert without_kind(links_from(folder, source)) == with_url(table, 0, source)


def test_the_columns_are_there_when_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()

    found = links_to(tmp_path / "graph", "http://a/")

    assert found.num_rows == 0
    assert (
        " ".join(found.column_names) == "source target anchor rel place kind first_seen last_seen"
    )


def test_a_link_that_stands_twice_in_a_page_is_found_once(tmp_path: Path) -> None:
    folder = a_graph(tmp_path, [capture("http://a/", 1, link("http://b/"), link("http://b/"))])

    assert links_to(folder, "http://b/").num_rows == 1


def test_a_url_too_long_for_statistics_is_found(tmp_path: Path) -> None:
    long = "http://b/" + "x" * 9000
    folder = a_graph(tmp_path, [capture("http://a/", 1, link(long), link("http://c/"))])
    graph = manifest.read(folder)
    new = merge(folder, [graph.parts[0].name], "links-m")
    manifest.replace(folder, graph.with_merged([graph.parts[0].name], new, at_us=0))

    assert links_to(folder, long).num_rows == 1
    assert links_to(folder, "http://c/").num_rows == 1


@pytest.mark.parametrize("file", ["by_target", "captures_file", "part"])
@pytest.mark.parametrize("damage", ["gone", "cut", "text"])
def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path, file: str, damage: str) -> None:
    folder = a_history(tmp_path)
    graph = manifest.read(folder)
    new = merge(folder, [graph.parts[0].name], "links-m")
    manifest.replace(folder, graph.with_merged([graph.parts[0].name], new, at_us=0))
    name = graph.parts[2].name if file == "part" else getattr(new, file)
    whole = (folder / name).read_bytes()
    match damage:
        case "gone":
            (folder / name).unlink()
        case "cut":
            (folder / name).write_bytes(whole[: len(whole) // 2])
        case _:
            (folder / name).write_bytes(b"no links")

    with pytest.raises(CorruptFile, match=f"{name}.*gossamer rebuild graph"):
        links_to(folder, "http://b/3")
