"""The best passage in C, and the same in Python."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.native import extensions
from gossamer.search.passages import Look, passage_for, passage_in_python
from gossamer.search.seekers import How, SeekGroup, Sought, groups_of, is_simple
from gossamer.search.snippets import fold

_c = extensions.load("gossamer.native._search")
needs_c = pytest.mark.skipif(_c is None, reason="not built; `make native` builds it")

LETTERS = "aabbé_ .!?\n\t。！中国日0\u0301\u200b\u3000ÆЖ\U00020000"
WORD = st.text("abe中国жа0", min_size=1, max_size=3)


@st.composite
def sought(draw: st.DrawFn) -> Sought:
    word, weight = draw(WORD), draw(st.floats(0.1, 9))
    match draw(st.integers(0, 3)):
        case 0:
            return Sought((word, *draw(st.lists(WORD, min_size=1, max_size=3))), weight)
        case 1:
            return Sought((word,), weight, is_prefix=True)
        case 2:
            return Sought((word,), weight, variants=tuple(draw(st.lists(WORD, max_size=4))))
        case _:
            return Sought((word,), weight)


@needs_c
@given(
    text=st.text(LETTERS, max_size=600),
    every=st.lists(sought(), max_size=4),
    look=st.integers(0, 600),
    wanted=st.integers(0, 4),
    is_last=st.booleans(),
    width=st.integers(0, 300),
)
@settings(max_examples=1_000)
def test_a_passage_is_the_same_in_both_forms(
    text: str, every: list[Sought], look: int, wanted: int, is_last: bool, width: int
) -> None:
    things = tuple((one.weight, groups_of(one)) for one in every)
    asked = (text, fold(text[:look]), things, wanted, is_last, width)
    look_in_c = passage_for(things)

    assert look_in_c is not passage_in_python
    assert look_in_c(*asked) == passage_in_python(*asked)


@needs_c
@pytest.mark.parametrize("count", [99, 100, 101, 250])
def test_a_thing_is_found_so_often_and_no_more(count: int) -> None:
    for every in ([Sought(("a",))], [Sought(("a",)), Sought(("x",), variants=("x", "b"))]):
        text = "a " * count + "b x " * count
        things = tuple((one.weight, groups_of(one)) for one in every)
        asked = (text, text, things, 0, True, len(text) * 4)

        found = passage_for(things)(*asked)

        assert found == passage_in_python(*asked)
        assert found is not None
        assert len(found[1]) == min(100, count) + (100 if len(every) == 2 else 0)


@pytest.mark.parametrize("form", [passage_in_python, None])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a" * 199_000 + " zzz", [("a" * 2_400,), ("a" * 2_500,), ("zzz",)]),
        ("a" * 199_000 + " zzz", [("a" * 30,), ("zzz",)]),
        ("a " * 99_000 + "zzz", [("a",) * 4_000 + ("b",), ("zzz",)]),
    ],
)
def test_a_hostile_page_is_looked_through_in_bounded_time(
    form: Look | None, text: str, words: list[tuple[str, ...]]
) -> None:
    things = tuple((1.0, groups_of(Sought(one))) for one in words)
    look = form or passage_for(things)
    start_s = time.process_time()

    found = look(text, text, things, 2, True, 240)

    assert time.process_time() - start_s < 1.0
    assert found is not None
    assert found[0].endswith("zzz") or "a a" in found[0]


def test_a_word_that_begins_with_a_mark_is_looked_for_by_expressions() -> None:
    groups = groups_of(Sought(("ab", "\u0301c")))
    things = ((1.0, groups),)

    assert not any(map(is_simple, groups))
    assert passage_for(things) is passage_in_python
    assert passage_in_python("ab \u0301c", "ab \u0301c", things, 1, True, 99) == (
        "ab \u0301c",
        ((0, 5),),
    )


@needs_c
@pytest.mark.parametrize(
    "things",
    [
        [],
        (1.0,),
        ((1, ()),),
        ((1.0, (("a", True, How.PLAIN),)),),
        ((1.0, (SeekGroup("", True, How.PLAIN),)),),
        ((1.0, (SeekGroup("a", True, 5, ()),)),),  # type: ignore[arg-type]
        ((1.0, (SeekGroup("a", True, 2**70, ()),)),),  # type: ignore[arg-type]
        ((1.0, (SeekGroup("a", 1, How.PLAIN),)),),  # type: ignore[arg-type]
        ((1.0, (SeekGroup("a", True, How.ENDS, ((1, "b"),)),)),),
        ((1.0, (SeekGroup("a", True, How.BESIDE, ("b",)),)),),
        ((1.0, (SeekGroup("a", True, How.BESIDE, ((10, "b"),)),)),),
        ((1.0, (SeekGroup("a", True, How.BESIDE, ((-(2**70), "b"),)),)),),
    ],
)
def test_what_is_no_thing_is_refused(things: Any) -> None:
    assert _c is not None
    with pytest.raises(TypeError, match="things are"):
        _c.passage("a", "a", things, 0, True, 9)


@needs_c
def test_a_text_is_as_long_as_its_folded_form_and_a_width_is_one() -> None:
    assert _c is not None
    for asked in (("a", "ab", (), 0, True, 9), ("a", "a", (), 0, True, -1)):
        with pytest.raises(ValueError, match="no text"):
            _c.passage(*asked)
    with pytest.raises(TypeError):
        _c.passage(b"a", "a", (), 0, True, 9)
