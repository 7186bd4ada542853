"""Raw parts: what is added is in the file, and a part is there whole or not at all."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.graph import manifest, tables
from gossamer.graph.arrow import pa, pq
from gossamer.graph.manifest import LinkPart
from gossamer.graph.parts import SCHEMA, PartWriter
from gossamer.records import Edge

words = st.text(st.characters(codec="utf-8"), max_size=12)
edges = st.lists(
    st.builds(
        Edge,
        target=words,
        key=st.just(b""),
        text=words,
        rel=words,
        place=words,
        kind=words,
        line=st.integers(0, 2**31 - 1),
        fault=words,
    ),
    max_size=6,
)


def an_edge(target: str = "http://b/", text: str = "b", line: int = 3, fault: str = "") -> Edge:
    return Edge(target, b"", text, "", "body", "a", line, fault)


def test_a_part_holds_the_documented_columns(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    writer.add("http://a/", 17, [Edge("http://b/", b"k", "to b", "next", "nav", "a", 9)])

    path = writer.write("000001")

    assert path == tmp_path / "000001.parquet"
    assert pq.read_table(path).to_pylist() == [
        {
            "source": "http://a/",
            "target": "http://b/",
            "anchor": "to b",
            "rel": "next",
            "place": "nav",
            "kind": "a",
            "line": 9,
            "fault": "",
            "seen_us": 17,
        }
    ]


@given(pages=st.lists(st.tuples(words, st.integers(0, 2**60), edges), max_size=5))
def test_every_row_added_is_in_the_part_in_order(
    tmp_path_factory: pytest.TempPathFactory, pages: list[tuple[str, int, list[Edge]]]
) -> None:
    writer = PartWriter(tmp_path_factory.mktemp("graph"))
    for source, at_us, found in pages:
        writer.add(source, at_us, found)

    rows = pq.read_table(writer.write("p")).to_pylist()

    wanted = [
        (source, e.target, e.text, e.rel, e.place, e.kind, e.line, e.fault, at_us)
        for source, at_us, found in pages
        for e in found
    ]
    assert [tuple(row.values()) for row in rows] == wanted


def test_a_reader_sees_plain_columns(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    writer.add("http://a/", 17, [an_edge(), an_edge(fault="no host")])

    assert pq.read_schema(writer.write("one")).equals(SCHEMA)


def test_parts_with_and_without_faults_and_of_older_releases_are_read_alike(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    writer.add("http://a/", 1, [an_edge("http://b/")])
    whole = writer.write("whole")
    writer.add("http://a/", 2, [an_edge("http://b/"), an_edge("http://", fault="no host")])
    faulty = writer.write("faulty")
    older = tmp_path / "older.parquet"
    row = ["http://c/", "http://b/", "b", "", "body", "a", 3, "", 3]
    columns = [pa.array([value], field.type) for value, field in zip(row, SCHEMA, strict=True)]
    pq.write_table(pa.Table.from_arrays(columns, schema=SCHEMA), older, compression="zstd")
    parts = tuple(LinkPart(path.name, 1) for path in (whole, faulty, older))
    manifest.replace(tmp_path, manifest.Manifest(parts))

    rows = tables.table_of(tables.links(tmp_path)).to_pylist()

    assert [(row["source"], row["first_seen"], row["last_seen"]) for row in rows] == [
        ("http://a/", 1, 2),
        ("http://c/", 3, 3),
    ]
    assert tables.table_of(tables.faults(tmp_path)).column("fault").to_pylist() == ["no host"]


def test_a_line_beyond_all_bounds_is_the_last_one(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    writer.add("http://a/", 1, [an_edge(line=2**40), an_edge(line=7)])

    assert pq.read_table(writer.write("one")).column("line").to_pylist() == [2**31 - 1, 7]


def test_a_page_without_links_leaves_no_row(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    writer.add("http://a/", 1, [])
    writer.add("http://b/", 2, [an_edge()])

    assert pq.read_table(writer.write("one")).column("source").to_pylist() == ["http://b/"]


def test_a_writer_begins_anew_after_each_part(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    writer.add("http://a/", 1, [an_edge(), an_edge()])
    assert writer.rows == 2

    writer.write("one")
    assert writer.rows == 0
    writer.add("http://c/", 2, [an_edge()])
    second = writer.write("two")

    assert pq.read_table(second).column("source").to_pylist() == ["http://c/"]


def test_rows_are_kept_when_a_part_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    writer = PartWriter(folder)
    writer.add("http://a/", 1, [an_edge()])

    with pytest.raises(FileNotFoundError):
        writer.write("one")
    folder.mkdir()

    assert pq.read_table(writer.write("one")).num_rows == 1


def test_half_a_surrogate_pair_becomes_a_question_mark(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    writer.add("http://a/", 1, [an_edge(text="x\ud800y")])

    assert pq.read_table(writer.write("one")).column("anchor").to_pylist() == ["x?y"]


def test_nothing_half_written_stays_behind(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    writer.add("http://a/", 1, [an_edge()])

    writer.write("one")

    assert [p.name for p in tmp_path.iterdir()] == ["one.parquet"]


def test_a_captured_page_has_a_row_of_its_own_before_its_links(tmp_path: Path) -> None:
    writer = PartWriter(tmp_path)
    writer.add_capture("http://a/", 1, [an_edge()])
    writer.add_capture("http://c/", 2, [])

    rows = pq.read_table(writer.write("one")).to_pylist()

    assert [(row["source"], row["target"], row["kind"], row["seen_us"]) for row in rows] == [
        ("http://a/", "http://a/", "capture", 1),
        ("http://a/", "http://b/", "a", 1),
        ("http://c/", "http://c/", "capture", 2),
    ]
