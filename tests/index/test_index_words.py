"""One spelling for pages and queries."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.index.words import (
    _HIDDEN_MARKS,
    GAP,
    distinct,
    normal,
    normal_all,
    words_of,
)
from support.rows import each_row


@each_row(
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


@each_row(
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


def test_words_are_had_once_and_in_order() -> None:
    words = distinct(normal_all(["The Manual", "manual of \u6771 and Zo\xeb", "the"]))

    assert words.decode().split(" ") == ["and", "manual", "of", "the", "zoe", "\u6771"]
    assert distinct("") == distinct(normal_all(["...", "!"])) == b""


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
