"""Rows gathered page by page: in C as in Python, all of a page or nothing."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.base import native
from gossamer.graph.gathered import Gathered, GatheredInPython
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


@pytest.fixture(scope="module")
def in_c() -> Any:
    module = native.load("gossamer.graph._rows")
    if module is None:
        pytest.skip("gossamer.graph._rows is not built; `make native` builds it")
    return module.Gathered


@given(pages=pages_of_shared_edges())
def test_c_gathers_what_python_gathers(in_c: Any, pages: list[list[Edge]]) -> None:
    one, other = in_c(), GatheredInPython()

    for page in pages:
        assert one.add(page) == other.add(page)

    assert len(one) == len(other)
    assert list(one.columns()) == list(other.columns())


def test_c_gathers_more_than_fits_in_where_it_begins(in_c: Any) -> None:
    one, other = in_c(), GatheredInPython()
    many = [an_edge(f"http://a/{number % 700}", f"{number % 50}") for number in range(5000)]

    for gathered in (one, other):
        gathered.add(many)
        gathered.add(tuple(many[::-3]))

    assert list(one.columns()) == list(other.columns())


def test_lines_that_a_page_chose_cost_what_others_do(in_c: Any) -> None:
    gathered = in_c()
    chosen = [first + (block << 19) for block in range(19) for first in range(2000)]
    faulty = [Edge("http://[", b"", "", "", "body", "a", line, "fault") for line in chosen]

    began_s = time.process_time()
    gathered.add(faulty)

    assert gathered.columns()[5][1] == chosen
    assert time.process_time() - began_s < 0.5  # 0.01; where all are neighbours, 1


@pytest.mark.parametrize("form", ["c", "python"])
def test_columns_can_be_asked_for_twice_and_rows_added_between(in_c: Any, form: str) -> None:
    gathered: Gathered = in_c() if form == "c" else GatheredInPython()
    edge = an_edge("http://b/")
    gathered.add([edge])
    before = gathered.columns()

    gathered.add([edge, an_edge("http://c/")])

    assert before[0][1] == ["http://b/"]
    assert gathered.columns()[0][1] == ["http://b/", "http://c/"]
    assert gathered.columns()[1] == (bytes(12), ["b"])


@pytest.mark.parametrize("wrong", [7, [()], [("a",) * 7], [7], [["a"] * 8], [(b"a", *"abcdefg")]])
def test_c_takes_nothing_but_edges(in_c: Any, wrong: object) -> None:
    with pytest.raises(TypeError):
        in_c().add(wrong)


def test_of_a_page_with_what_is_no_edge_no_row_is_gathered(in_c: Any) -> None:
    gathered = in_c()
    gathered.add([an_edge("http://a/")])

    with pytest.raises(TypeError):
        gathered.add([an_edge("http://b/"), 7])

    assert len(gathered) == 1
    assert gathered.columns()[0][0] == bytes(4)


def test_a_value_that_calls_while_it_is_compared_is_refused(in_c: Any) -> None:
    gathered = in_c()

    class Caller(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            gathered.add([an_edge("http://c/")])
            return str.__eq__(self, other)

    gathered.add([an_edge("http://a/", "x")])

    with pytest.raises(RuntimeError, match="just being added"):
        gathered.add([an_edge("http://b/", Caller("x"))])
    assert len(gathered) == 1
