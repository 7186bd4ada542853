"""The best passage in C, and the same in Python."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.native import extensions
from gossamer.search.passages import FindPassage, passage_for, passage_in_python
from gossamer.search.snippets import fold
from gossamer.search.term_patterns import Tail, Term, TermPattern, groups_of, is_simple
from support.rows import each_row

_c = extensions.load("gossamer.native._search")
needs_c = pytest.mark.skipif(_c is None, reason="not built; `make native` builds it")

LETTERS = "aabbé_ .!?\n\t。！中国日0\u0301\u200b\u3000ÆЖ\U00020000"
WORD = st.text("abe中国жа0", min_size=1, max_size=3)


@st.composite
def a_term(draw: st.DrawFn) -> Term:
    word, weight = draw(WORD), draw(st.floats(0.1, 9))
    match draw(st.integers(0, 3)):
        case 0:
            return Term((word, *draw(st.lists(WORD, min_size=1, max_size=3))), weight)
        case 1:
            return Term((word,), weight, is_prefix=True)
        case 2:
            return Term((word,), weight, variants=tuple(draw(st.lists(WORD, max_size=4))))
        case _:
            return Term((word,), weight)


@needs_c
@given(
    text=st.text(LETTERS, max_size=600),
    every=st.lists(a_term(), max_size=4),
    find_passage=st.integers(0, 600),
    wanted=st.integers(0, 4),
    is_last=st.booleans(),
    width=st.integers(0, 300),
)
@settings(max_examples=8 * settings().max_examples)
def test_a_passage_is_the_same_in_both_forms(
    text: str, every: list[Term], find_passage: int, wanted: int, is_last: bool, width: int
) -> None:
    terms = tuple((one.weight, groups_of(one)) for one in every)
    asked = (text, fold(text[:find_passage]), terms, wanted, is_last, width)
    look_in_c = passage_for(terms)

    assert look_in_c is not passage_in_python
    assert look_in_c(*asked) == passage_in_python(*asked)


@needs_c
@pytest.mark.parametrize("count", [99, 100, 101, 250])
def test_a_thing_is_found_so_often_and_no_more(count: int) -> None:
    for every in ([Term(("a",))], [Term(("a",)), Term(("x",), variants=("x", "b"))]):
        text = "a " * count + "b x " * count
        terms = tuple((one.weight, groups_of(one)) for one in every)
        asked = (text, text, terms, 0, True, len(text) * 4)

        found = passage_for(terms)(*asked)

        assert found == passage_in_python(*asked)
        assert found is not None
        assert len(found[1]) == min(100, count) + (100 if len(every) == 2 else 0)


@each_row("form", [passage_in_python, None])
@each_row(
    ("text", "words"),
    [
        ("a" * 199_000 + " zzz", [("a" * 2_400,), ("a" * 2_500,), ("zzz",)]),
        ("a" * 199_000 + " zzz", [("a" * 30,), ("zzz",)]),
        ("a " * 99_000 + "zzz", [("a",) * 4_000 + ("b",), ("zzz",)]),
    ],
)
def test_a_hostile_page_is_looked_through_in_bounded_time(
    form: FindPassage | None, text: str, words: list[tuple[str, ...]]
) -> None:
    terms = tuple((1.0, groups_of(Term(one))) for one in words)
    find_passage = form or passage_for(terms)
    start_s = time.process_time()

    found = find_passage(text, text, terms, 2, True, 240)

    assert time.process_time() - start_s < 1.0
    assert found is not None
    assert found[0].endswith("zzz") or "a a" in found[0]


def test_a_word_that_begins_with_a_mark_is_looked_for_by_expressions() -> None:
    groups = groups_of(Term(("ab", "\u0301c")))
    terms = ((1.0, groups),)

    assert not any(map(is_simple, groups))
    assert passage_for(terms) is passage_in_python
    assert passage_in_python("ab \u0301c", "ab \u0301c", terms, 1, True, 99) == (
        "ab \u0301c",
        ((0, 5),),
    )


@needs_c
@pytest.mark.parametrize(
    "terms",
    [
        [],
        (1.0,),
        ((1, ()),),
        ((1.0, (("a", True, Tail.PLAIN),)),),
        ((1.0, (TermPattern("", True, Tail.PLAIN),)),),
        ((1.0, (TermPattern("a", True, 5, ()),)),),  # type: ignore[arg-type]
        ((1.0, (TermPattern("a", True, 2**70, ()),)),),  # type: ignore[arg-type]
        ((1.0, (TermPattern("a", 1, Tail.PLAIN),)),),  # type: ignore[arg-type]
        ((1.0, (TermPattern("a", True, Tail.ENDS, ((1, "b"),)),)),),
        ((1.0, (TermPattern("a", True, Tail.ADJACENT, ("b",)),)),),
        ((1.0, (TermPattern("a", True, Tail.ADJACENT, ((10, "b"),)),)),),
        ((1.0, (TermPattern("a", True, Tail.ADJACENT, ((-(2**70), "b"),)),)),),
    ],
)
def test_an_invalid_term_is_refused(terms: Any) -> None:
    assert _c is not None
    with pytest.raises(TypeError, match="things are"):
        _c.passage("a", "a", terms, 0, True, 9)


@needs_c
def test_a_text_is_as_long_as_its_folded_form_and_a_width_is_one() -> None:
    assert _c is not None
    for asked in (("a", "ab", (), 0, True, 9), ("a", "a", (), 0, True, -1)):
        with pytest.raises(ValueError, match="no text"):
            _c.passage(*asked)
    with pytest.raises(TypeError):
        _c.passage(b"a", "a", (), 0, True, 9)
