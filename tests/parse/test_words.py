"""The commonest words of a text, and when they speak clearly enough."""

import pytest

from gossamer.parse.words import is_heard, spoken


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("text", ["", "the of and", "x = y + z", "int main void return", "猫と犬"])
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
