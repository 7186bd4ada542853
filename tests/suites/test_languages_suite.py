"""Lists of stop words of 58 languages, as crude texts: which language are they taken for?

They are no prose: words in the order of the alphabet, without sentences. So this holds what must
hold anyway: with a declaration nearly all are right, and without one no further language may be
lost. `MISSED` are short lists, languages that the detector does not have (Breton, Galician,
Basque, Sotho, Yoruba and others), or that it holds for a sister (Malay, Norwegian).
"""

from __future__ import annotations

import json

import pytest

from gossamer.parse.language.language import language_of
from support.shared import suite

MISSED = frozenset("br eo et eu ga gl ha ku ms no ro sl so st sw tl yo".split())  # noqa: SIM905
MISLED = frozenset({"br", "so", "st"})  # though declared: English among it, or 30 words in all
_WORDS_A_LINE = 25
_MOST_WORDS = 500


def texts() -> dict[str, str]:
    held = json.loads((suite("lang-stopwords-iso") / "stopwords-iso.json").read_text())
    return {
        code: "\n".join(
            " ".join(words[at : at + _WORDS_A_LINE])
            for at in range(0, min(len(words), _MOST_WORDS), _WORDS_A_LINE)
        )
        for code, words in held.items()
    }


@pytest.mark.parametrize(("is_declared", "missed"), [(False, MISSED), (True, MISLED)])
def test_a_list_of_common_words_is_known_by_its_language(
    is_declared: bool, missed: frozenset[str]
) -> None:
    lists = texts()
    assert len(lists) == 58

    wrong = {
        code
        for code, text in lists.items()
        if language_of(text, code if is_declared else "", 1000) != code
    }

    assert wrong <= missed, sorted(wrong - missed)
