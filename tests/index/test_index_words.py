"""One spelling for pages and queries."""

import sys
import unicodedata
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.base import native
from gossamer.index.words import (
    _HIDDEN_MARKS,
    _RUNS,
    _TABLE,
    _TABLE_WITH_GAPS,
    GAP,
    distinct,
    distinct_in_python,
    normal,
    normal_all,
    prepared_in_python,
    spelled_in_python,
    words_of,
)

_c = native.load("gossamer.index._words")
needs_c = pytest.mark.skipif(
    _c is None, reason="gossamer.index._words is not built (`make native`)"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Five ＦＩＶＥ ﬁve", ["five", "five", "five"]),
        ("can't my_name 3.11", ["can", "t", "my", "name", "3", "11"]),
        ("Café Łódź Ærø naïve", ["cafe", "lodz", "aero", "naive"]),
        ("groß GROSS İstanbul", ["gross", "gross", "istanbul"]),
        ("Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", ["οδυσσευσ", "οδυσσευσ"]),
        ("Ёлка йод", ["елка", "йод"]),
        ("مُحَمَّد", ["محمد"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("soft\u00adhyphen zero\u200bwidth", ["softhyphen", "zero", "width"]),
        ("“quoted”—dashed…", ["quoted", "dashed"]),
        ("half \ud800 a pair", ["half", "a", "pair"]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_words_of_one_spelling(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京都 Tokyo", ["東", "京", "都", "tokyo"]),
        ("Pythonの使い方", ["python", "の", "使", "い", "方"]),
        ("ｶﾞｲﾄﾞ ガイド", ["ガ", "イ", "ド", "ガ", "イ", "ド"]),
        ("한국어는", ["한", "국", "어", "는"]),
        ("ภาษาไทย", ["ภ", "า", "ษ", "า", "ไ", "ท", "ย"]),
    ],
)
def test_scripts_without_spaces_are_cut_into_characters(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@settings(deadline=None)
@given(st.text())
def test_words_in_normal_form_stay_as_they_are(text: str) -> None:
    once = words_of(text)

    assert words_of(" ".join(once)) == once


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=0x24F)))
def test_a_text_has_the_same_words_composed_or_not(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)

    assert words_of(unicodedata.normalize("NFD", composed)) == words_of(composed)


@settings(deadline=None)
@given(st.text(), st.text())
def test_the_words_of_two_texts_are_those_of_each(one: str, other: str) -> None:
    assert words_of(f"{one}\n{other}") == words_of(one) + words_of(other)


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\x1f"))))
def test_between_two_texts_there_is_a_gap(texts: list[str]) -> None:
    parts = " ".join(normal_all(texts).split()).split(GAP)

    assert [part.split() for part in parts] == [words_of(text) for text in texts or [""]]


def test_no_word_is_a_gap() -> None:
    assert normal(f"a {GAP} b\x1fc").split() == ["a", "b", "c"]


@needs_c
@settings(deadline=None)
@given(st.text() | st.text("aB .\xe9\xdf\u2019\u6771\uff76\uff9e\ud800\U0001f600"))
def test_both_forms_spell_alike(text: str) -> None:
    assert _c is not None

    assert _c.spelled(text, _TABLE, _RUNS) == spelled_in_python(text, _TABLE, _RUNS)


@needs_c
@pytest.mark.parametrize("table", [_TABLE, _TABLE_WITH_GAPS, bytes(range(256))])
def test_both_forms_spell_every_character_of_ascii_alike(table: bytes) -> None:
    assert _c is not None
    text = "".join(map(chr, range(128)))
    for start in range(20):
        for given_ in (text[start:], text[start:] * 3 + "\xe9" + text):
            assert _c.spelled(given_, table, _RUNS) == spelled_in_python(given_, table, _RUNS)


def bytes_and_level(data: bytes, level: int) -> bytes:
    """In place of a compressor."""
    return b"%d %b" % (level, data)


@needs_c
@settings(deadline=None)
@given(
    st.text()
    | st.lists(
        st.sampled_from(["a", "Words of ASCII, 30 characters.", *"\xa0\xc0\u2019\ud800\U0001f600"])
    ).map("".join)
)
def test_both_forms_prepare_alike(text: str) -> None:
    assert _c is not None
    given_ = (text, _TABLE, _RUNS, bytes_and_level, 3)

    assert _c.prepared(*given_) == prepared_in_python(*given_)


@needs_c
@pytest.mark.parametrize("text", ["plain", "caf\xe9", "\u2019tis", "\U0001f600"])
def test_what_a_compressor_says_is_heard(text: str) -> None:
    assert _c is not None

    with pytest.raises(zlib.error, match="Bad compression level"):
        _c.prepared(text, _TABLE, _RUNS, zlib.compress, 10)


@needs_c
@pytest.mark.parametrize("given_", [("a", b"short", {}), (b"a", _TABLE, {}), ("a",)])
def test_the_compiled_form_takes_nothing_else(given_: tuple[object, ...]) -> None:
    assert _c is not None

    with pytest.raises(TypeError):
        _c.spelled(*given_)
    with pytest.raises(TypeError):
        _c.prepared(*given_)


def test_words_are_had_once_and_in_order() -> None:
    words = distinct(normal_all(["The Manual", "manual of \u6771 and Zo\xeb", "the"]))

    assert words.decode().split(" ") == ["and", "manual", "of", "the", "zoe", "\u6771"]
    assert distinct("") == distinct(normal_all(["...", "!"])) == b""


@needs_c
@settings(deadline=None)
@given(st.lists(st.text() | st.sampled_from(["a", "ab", "b", "\u6771", "\xe9", "\U0001f600"])))
def test_both_forms_have_words_once_alike(texts: list[str]) -> None:
    assert _c is not None
    words = normal_all(texts * 40)

    assert _c.distinct(words) == distinct_in_python(words)
    assert words.split() == [word for word in words.split(" ") if word]


MARKS = "\u0301\u0323"  # in an order that is not the normal one


@pytest.mark.parametrize("marks", [MARKS, "\u0f73\u0f71", "\uff9e\u0323"])
def test_marks_without_end_take_time_by_their_number(marks: str) -> None:
    assert normal("a" + marks * 500_000 + " b").split()[-1] == "b"  # at once: minutes


def test_a_letter_may_have_more_marks_than_any_language_gives_it() -> None:
    assert words_of("xé" + MARKS * 20 + "y") == ["xey"]
    assert words_of("文" * 100 + "é" + MARKS * 100 + "ô") == [*"文" * 100, "eo"]


def test_what_falls_apart_into_marks_is_known_as_one() -> None:
    hidden = [
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if not unicodedata.combining(char)
        and unicodedata.combining(unicodedata.normalize("NFKD", char)[0])
    ]

    assert "".join(hidden) == _HIDDEN_MARKS
