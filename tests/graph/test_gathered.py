"""Rows gathered page by page, and their columns with each value once."""

import time

from hypothesis import given
from hypothesis import strategies as st

from gossamer.graph.gathered import Gathered
from gossamer.records import Edge, LinkKind, Place

words = st.sampled_from(["", "a", "b", "ä", "x\ud800y", "a" * 300])
edges = st.builds(
    Edge,
    target=words,
    key=st.just(b""),
    text=words,
    rel=words,
    place=st.sampled_from([*Place, "main", "elsewhere"]),
    kind=st.sampled_from(list(LinkKind)),
    line=st.integers(0, 3),
    fault=words,
)


def an_edge(target: str, text: str = "b") -> Edge:
    return Edge(target, b"", text, "", "body", "a")


@st.composite
def pages_of_shared_edges(draw: st.DrawFn) -> list[list[Edge]]:
    """Links as pages have them: many of them the very same edge."""
    distinct = draw(st.lists(edges, min_size=1, max_size=8))
    return draw(st.lists(st.lists(st.sampled_from(distinct), max_size=20), max_size=5))


@given(pages=pages_of_shared_edges())
def test_columns_hold_every_row_and_each_value_once(pages: list[list[Edge]]) -> None:
    gathered, rows = Gathered(), [edge for page in pages for edge in page]

    chars = [gathered.add(page) for page in pages]

    assert chars == [sum(len(edge.target) for edge in page) for page in pages]
    assert len(gathered) == len(rows)
    for field, (codes, values) in zip((0, 2, 3, 4, 5, 6, 7), gathered.columns(), strict=True):
        numbers = memoryview(codes).cast("i")
        assert [values[number] for number in numbers] == [edge[field] for edge in rows]
        assert values == list(dict.fromkeys(edge[field] for edge in rows))


def test_lines_that_a_page_chose_cost_what_others_do() -> None:
    gathered = Gathered()
    chosen = [first + (block << 19) for block in range(19) for first in range(2000)]
    faulty = [Edge("http://[", b"", "", "", "body", "a", line, "fault") for line in chosen]

    began_s = time.process_time()
    gathered.add(faulty)

    assert gathered.columns()[5][1] == chosen
    assert time.process_time() - began_s < 0.5  # 0.01; where all are neighbours, 1


def test_columns_can_be_asked_for_twice_and_rows_added_between() -> None:
    gathered = Gathered()
    edge = an_edge("http://b/")
    gathered.add([edge])
    before = gathered.columns()

    gathered.add([edge, an_edge("http://c/")])

    assert before[0][1] == ["http://b/"]
    assert gathered.columns()[0][1] == ["http://b/", "http://c/"]
    assert gathered.columns()[1] == (bytes(12), ["b"])
