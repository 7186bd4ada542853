"""Graphs in the format of the WebGraph project, without their offsets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.lab.graphs import read_graph
from gossamer.lab.inputs.bv_graph import BvReader
from support.bv_writer import write_bv_graph
from support.killing import typed

PAGES = 40
# Runs of pages and single ones, and rows that are much alike.
RUNS = st.lists(st.tuples(st.integers(0, PAGES - 1), st.integers(1, 9)), max_size=4)
GRAPHS = st.lists(RUNS, min_size=PAGES, max_size=PAGES)
SETTINGS = st.sampled_from(
    [
        {},
        {"window": 0},
        {"least": 0},
        {"window": 0, "least": 0, "flags": "RESIDUALS_GAMMA"},
        {"k": 2, "flags": "OUTDEGREES_DELTA"},
    ]
)


def row_of(runs: list[tuple[int, int]]) -> list[int]:
    return sorted({one for at, many in runs for one in range(at, min(PAGES, at + many))})


@given(GRAPHS, SETTINGS)
def test_links_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory,
    graph: list[list[tuple[int, int]]],
    settings: dict[str, object],
) -> None:
    rows = [row_of(runs) for runs in graph]
    base = tmp_path_factory.mktemp("bv") / "g"
    write_bv_graph(base, rows, **settings)  # type: ignore[arg-type]

    assert list(BvReader(base).rows()) == rows


def test_the_bits_are_those_of_the_format(tmp_path: Path) -> None:
    """Two pages by hand: 0 -> 1 and 1 -> 0, without references and intervals, in gamma codes."""
    (tmp_path / "g.graph").write_bytes(bytes([0b010_011_01, 0b0_010_0000]))
    (tmp_path / "g.properties").write_text(
        "nodes=2\nwindowsize=0\nminintervallength=0\ncompressionflags=RESIDUALS_GAMMA\n"
    )

    assert list(BvReader(tmp_path / "g").rows()) == [[1], [0]]


def test_lab_order_replays_a_bv_graph(tmp_path: Path) -> None:
    rows = [[(page * 7 + step) % 200 for step in (1, 2, 3, 50)] for page in range(200)]
    write_bv_graph(tmp_path / "web", [sorted({*row}) for row in rows])

    told = typed(
        "lab", "order", tmp_path / "web", "--repeats", "1", "--orders", "breadth", "--json"
    )

    assert told.code == 0, told.err
    assert read_graph(tmp_path / "web.graph").pages == 200


@pytest.mark.parametrize(
    ("graph", "properties", "expected"),
    [
        (b"", "nodes=3\n", "ends within"),
        (b"\xff" * 9, "nodes=many\n", "nodes in its properties"),
        (b"\x00" * 99, "nodes=3\n", "too long"),
        (b"\xff", "nodes=3\ncompressionflags=RESIDUALS_GOLOMB\n", "RESIDUALS_GOLOMB"),
        (b"\xff", "nodes=3\nendianness=little\n", "little-endian"),
        (b"\x01\x00\x00\x00", "nodes=3\n", "more links than there are pages"),
    ],
)
def test_a_damaged_graph_is_refused_in_one_sentence(
    tmp_path: Path, graph: bytes, properties: str, expected: str
) -> None:
    (tmp_path / "g.graph").write_bytes(graph)
    (tmp_path / "g.properties").write_text(properties)

    with pytest.raises(UsageError, match=expected):
        read_graph(tmp_path / "g")


@given(st.binary(max_size=300))
def test_any_bytes_give_links_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    base = tmp_path_factory.mktemp("bv") / "g"
    base.with_suffix(".graph").write_bytes(content)
    base.with_suffix(".properties").write_text("nodes=20\n")
    try:
        graph = read_graph(base)
    except UsageError:
        return
    assert graph.pages == 20
