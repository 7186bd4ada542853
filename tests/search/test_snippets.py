"""The best passage of a page, and where the query's words are in it."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.native import extensions
from gossamer.search.snippets import WIDTH, Highlighter, Snippet, fold, fold_in_python
from gossamer.search.term_patterns import Term
from support.rows import each_row

FILLER = "Some words that nobody has asked for, and more of the same kind. " * 20


def words(*every: str) -> Highlighter:
    return Highlighter([Term((word,)) for word in every])


def marked(snippet: Snippet) -> str:
    return snippet.marked("[", "]")


def test_the_passage_with_most_of_the_words_is_shown() -> None:
    text = f"A rose. {FILLER} The rose stands in the garden. {FILLER} A garden."

    snippet = words("rose", "garden").snippet(text)

    assert "The [rose] stands in the [garden]." in marked(snippet)
    assert len(snippet.text) <= WIDTH


def test_a_rare_word_outweighs_a_common_one() -> None:
    text = f"the page, the page, the page. {FILLER} Here is the xylophone."
    highlighter = Highlighter(
        [Term(("the",), 0.1), Term(("page",), 0.2), Term(("xylophone",), 5.0)]
    )

    assert "[xylophone]" in marked(highlighter.snippet(text))


def test_a_page_without_the_words_shows_its_beginning() -> None:
    snippet = words("absent").snippet(f"It begins so. {FILLER}")

    assert snippet.text.startswith("It begins so.")
    assert snippet.marks == ()
    assert words("absent").snippet("") == Snippet("")


def test_only_whole_words_are_marked() -> None:
    assert marked(words("art").marks("art artful smart ART art_work")) == (
        "[art] artful smart [ART] [art]_work"
    )


def test_kin_phrases_and_beginnings_are_marked() -> None:
    highlighter = Highlighter([
        Term(("connect",), variants=("connect", "connected", "connection")),
        Term(("open", "access")),
        Term(("gard",), is_prefix=True),
    ])  # fmt: skip

    assert marked(highlighter.marks("Connected open-access gardens, not connector or access.")) == (
        "[Connected] [open-access] [gardens], not connector or access."
    )


def test_words_of_one_stem_need_not_begin_alike() -> None:
    highlighter = Highlighter([Term(("one",), variants=("one", "two"))])

    assert marked(highlighter.marks("one, two, three")) == "[one], [two], three"


def test_case_accents_and_full_width_letters_do_not_hide_a_word() -> None:
    assert (
        marked(words("cafe").marks("Café, CAFÉ, ＣＡＦＥ, cafés"))
        == "[Café], [CAFÉ], [ＣＡＦＥ], cafés"
    )
    assert marked(words("москва").marks("В МОСКВА!")) == "В [МОСКВА]!"


def test_chinese_words_are_marked_within_a_run() -> None:
    highlighter = Highlighter([Term(("中", "国"))])

    assert marked(highlighter.marks("我爱中国人和中 国。")) == "我爱[中国]人和[中 国]。"


def test_white_space_is_folded_and_marks_follow() -> None:
    snippet = words("rose").snippet("  a\n\n  rose\t\tis   a rose ")

    assert snippet.text == "a rose is a rose"
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["rose", "rose"]


def test_text_of_a_page_is_no_markup_of_ours() -> None:
    snippet = words("x").marks('<script>"x"</script>')

    assert snippet.as_html() == "&lt;script&gt;&quot;<b>x</b>&quot;&lt;/script&gt;"


@each_row("piece", ["a", "a ", "中", "\n", "é", "a中"])
def test_a_huge_page_is_shown_in_bounded_time(piece: str) -> None:
    highlighter = Highlighter([Term(("a",)), Term(("中", "中")), Term(("e",))])
    start_s = time.process_time()
    snippet = highlighter.snippet(piece * 10**6)

    assert len(snippet.text) <= 2 * WIDTH
    assert time.process_time() - start_s < 2.0


@given(
    st.text(alphabet=st.sampled_from("ab éß中国_ .\n\tÆ\u0301\u200b"), max_size=400),
    st.lists(st.sampled_from(["a", "ab", "b", "e", "中", "ss"]), min_size=1, max_size=3),
)
def test_marks_are_in_order_and_inside_the_passage(text: str, asked: list[str]) -> None:
    snippet = words(*asked).snippet(text)

    places = [place for mark in snippet.marks for place in mark]
    assert places == sorted(places)
    assert all(0 <= place <= len(snippet.text) for place in places)
    assert all(snippet.text[start:end].strip() for start, end in snippet.marks)
    assert "  " not in snippet.text


def test_no_more_of_a_page_is_read_than_a_passage_needs() -> None:
    taken = []

    def pieces() -> Iterator[str]:
        for number in range(30):
            taken.append(number)
            yield f"rose {FILLER * 8}"  # 10 kB

    words("rose").snippet_from(pieces())

    assert len(taken) == 2


def test_a_word_that_the_page_has_not_is_not_looked_for_to_the_end() -> None:
    pieces = iter(["rose " + FILLER * 20, *[FILLER * 20] * 5])

    snippet = words("rose", "absent").snippet_from(pieces, has=1)

    assert marked(snippet).startswith("[rose] Some words")
    assert len(list(pieces)) == 5


@given(
    st.lists(st.text(alphabet="ab é.\n", max_size=9_000), max_size=5),
    st.lists(st.sampled_from(["a", "ab", "e"]), min_size=1, max_size=3),
)
def test_a_text_in_pieces_has_the_passage_of_the_whole(pieces: list[str], asked: list[str]) -> None:
    highlighter = words(*asked)

    assert highlighter.snippet_from(iter(pieces)) == highlighter.snippet("".join(pieces))


@given(st.text())
def test_folding_keeps_the_length(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(text=st.text() | st.text(st.sampled_from("aZ09_ ,\t\x1f\x7fé中"), min_size=40))
@pytest.mark.parametrize("beside", ["µ", "\u0130 ﬁ", "中", "\U0002f81a", "\udc80"])
def test_folding_is_the_same_in_both_forms(text: str, beside: str) -> None:
    assert fold(text + beside) == fold_in_python(text + beside)
    assert fold(text + beside) == fold_in_python(text + beside)  # all is known by now


def test_what_a_table_lacks_is_not_folded_by_it() -> None:
    c = extensions.load("gossamer.native._search")
    if c is None:
        pytest.skip("gossamer.native._search is not built; `make native` builds it")
    table = array("I", [0, 0x110000, *range(2, 0x80), 0x20AC, ord("~")])

    assert c.folded("a\x80b", table) == "a€b"
    assert c.folded("a\U0010ffff", table) == "a~"
    assert c.folded("a\0", table) is c.folded("a\1", table) is c.folded("", table) is None
    for wrong in (b"", b"abc", array("I", bytes(4 * 0x110001))):
        with pytest.raises(ValueError, match="32 bits"):
            c.folded("a", wrong)
