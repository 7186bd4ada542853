"""The commonest words of a text, and when they speak clearly enough."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.native.extensions import PAGE, load
from gossamer.parse.language.common_words import (
    _COMMON,
    _OWNERS,
    FEWEST_HITS,
    is_heard,
    said,
    said_in_python,
    spoken,
    spoken_in_python,
)
from support.rows import each_row

# What parts words, and what only looks like it.
SPACES = " \n\t\x0b\x1c\x1f\x85\xa0\u2003\u2028\u3000"
NO_SPACES = "\u200b\ufeff.\x00\ud800\U0001f600"
A_PIECE = st.sampled_from([*_OWNERS, *SPACES, *NO_SPACES]) | st.text(max_size=3)


def counted(sample: str, least_share: float, fewest_hits: int) -> str:
    """What `spoken` promises, by a dictionary of votes."""
    hits = [_OWNERS[word].split() for word in sample.split() if word in _OWNERS]
    votes = Counter(language for owners in hits for language in owners)
    (first, own), *others = [*votes.most_common(), ("", 0)]
    is_clear = own >= max(fewest_hits, least_share * len(hits)) and own not in dict(others).values()
    return first if is_clear else ""


@each_row(
    ("text", "language"),
    [
        ("it is said that the cat and the dog are not of this house", "en"),
        ("der Hund und die Katze sind nicht mit dem Haus auf der Straße", "de"),
        ("os gatos não são dos vizinhos, mas uma casa também é de todos; você pode ver", "pt"),
        ("собака и кошка не живут в доме, если его хозяин так не хочет, что делать", "ru"),
        ("yang ini adalah rumah untuk kucing dan anjing dari kota itu", "id"),
    ],
)
def test_a_sentence_speaks_for_its_language(text: str, language: str) -> None:
    assert spoken(text, 0.9) == language


@each_row("text", ["", "the of and", "x = y + z", "int main void return", "猫と犬"])
def test_where_common_words_are_few_nothing_is_said(text: str) -> None:
    assert spoken(text, 0.5) == ""


def test_a_quotation_takes_the_certainty_but_not_the_majority() -> None:
    text = "der Hund ist nicht mit dem Fuchs und das ist wird auch: the cat is of"

    assert spoken(text, 0.6) == "de"
    assert spoken(text, 0.9) == ""


def test_words_that_two_languages_share_speak_for_both_and_others_decide() -> None:
    shared = "que de se para por como este esta"

    assert spoken(shared, 0.5) == ""
    assert spoken(f"{shared} los las más y", 0.5) == "es"
    assert spoken(f"{shared} os não você são", 0.5) == "pt"


def test_a_language_is_heard_by_any_of_its_words_where_they_are_known() -> None:
    assert is_heard("de", "int main und void")
    assert not is_heard("fr", "std::pair operator bool const noexcept")
    assert is_heard("eu", "std::pair operator bool const noexcept"), "nobody knows its words here"


def test_a_text_says_its_language_where_it_is_long_enough() -> None:
    text = f"{'x ' * 400}{_COMMON['en']}{' y' * 400}"

    assert said(text, "en", 0.75, (10, 100, 400), (12, 10))
    assert said(text, "de", 0.75, (10, 100, 400), (12, 10)) is False
    assert said(f"{text} {'日本' * 400}", "en", 0.75, (10, 2000, 400), (12, 10)) is None


@settings(deadline=None)
@given(
    st.lists(A_PIECE, max_size=60).map(" ".join) | st.lists(A_PIECE, max_size=60).map("".join),
    st.floats(0, 1),
    st.integers(1, 6),
)
def test_the_language_with_most_votes_is_spoken(
    sample: str, least_share: float, fewest_hits: int
) -> None:
    expected = counted(sample, least_share, fewest_hits)

    assert spoken(sample, least_share, fewest_hits) == expected
    assert spoken_in_python(sample, least_share, fewest_hits) == expected


@each_row("language", _COMMON)
def test_a_language_is_spoken_wherever_a_sample_is_cut(language: str) -> None:
    text = f"{_COMMON[language]} x {_COMMON['en']}"
    cuts = [text[start:end] for start in range(0, len(text), 7) for end in range(start, 300, 5)]

    found = [spoken(cut, 0.6) for cut in cuts]

    assert found == [spoken_in_python(cut, 0.6, FEWEST_HITS) for cut in cuts]
    assert found == [counted(cut, 0.6, FEWEST_HITS) for cut in cuts]
    assert language in found


@given(
    st.lists(A_PIECE, max_size=60).map(" ".join),
    st.sampled_from([*_COMMON, "ja"]),
    st.tuples(*[st.integers(0, 200)] * 3),
)
def test_both_forms_say_alike_what_the_middle_of_a_text_speaks(
    text: str, language: str, lengths: tuple[int, int, int]
) -> None:
    asked = text, language, 0.5, lengths, (12, 10)

    assert said(*asked) is said_in_python(*asked)


@each_row("words", [{"a": -1}, {"a": 1 << 64}, {"a" * 17: 1}, {b"a": 1}, ["a"]])
def test_the_extension_knows_words_and_bits_alone(words: object) -> None:
    module = load(PAGE)
    if module is None:
        pytest.skip(f"{PAGE} is not built; `make native` builds it")

    with pytest.raises((TypeError, OverflowError)):
        module.known_of(words)
    with pytest.raises((TypeError, ValueError)):
        module.spoken("a", None, 0.5, 1)
