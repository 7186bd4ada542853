"""Where words stand in a text, for all scripts."""

from __future__ import annotations

import random

from gossamer.index.words import words_of
from gossamer.search.copies.words import LocatedWords
from support.rows import each_row

TEXTS = (
    "Plain words, and (some) signs.",
    "can't my_name e-mail 3.14",
    "Café Łódź naïve — «Größe» ﬁve ﬂag",
    "soft\u00adhyphen zero\u200bwidth non\u00a0breaking",
    "e\u0301te\u0301 decomposed",
    "中文字符, mixed 中文 with English日本語テスト",
    "ภาษาไทย และ ลาว",
    "한국어 문장 \u1112\u1161\u11ab",
    "½ ① ² Ⅷ ㎏",
    "שָׁלוֹם عَرَبِيّ ё й",
    "a\x00b\x1fc\td\u3000e",
    "",
)


@each_row("text", TEXTS)
def test_the_characters_of_each_word_spell_it(text: str) -> None:
    located = LocatedWords(text)

    assert located.words == words_of(text)
    for number, word in enumerate(located.words):
        start, end = located.span(number, number + 1)
        assert word in words_of(text[start:end])


@each_row("seed", range(20))
def test_the_same_holds_for_any_mixture_in_long_texts(seed: int) -> None:
    chance = random.Random(seed)
    pieces = [piece for text in TEXTS for piece in text.split()]
    text = chance.choice([" ", "\n", "  "]).join(chance.choice(pieces) for _ in range(3_000))

    located = LocatedWords(text)

    assert located.words == words_of(text)
    for number in chance.sample(range(len(located)), 200):
        start, end = located.span(number, number + 1)
        assert located.words[number] in words_of(text[start:end])


def test_words_behind_the_limit_are_left_out() -> None:
    located = LocatedWords("word " * 10_000, most_words=1_000)

    assert 1_000 <= len(located) < 2_000
    assert located.end < len(located.text)
    assert located.span(len(located) - 1, len(located))[1] <= located.end
