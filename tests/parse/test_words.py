"""The commonest words of a text, and when they speak clearly enough."""

import pytest

from gossamer.parse.words import spoken


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
