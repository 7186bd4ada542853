"""Texts become numbers that do not depend on the process."""

from __future__ import annotations

import numpy as np

from gossamer.policies.focus.words import (
    BUCKETS,
    LINK_WORDS,
    NO_WORD,
    WordHasher,
    link_rows,
    numbers_of,
    weights_of,
)


def numbers(text: str) -> set[int]:
    return set(numbers_of(WordHasher().page("", text)).tolist())


def test_a_word_has_the_same_number_in_every_case_and_in_every_process() -> None:
    assert numbers("Mozart") == numbers("mozart,") == {4613}


def test_a_word_counts_by_the_logarithm_of_its_times() -> None:
    once, thrice = WordHasher().page("", "horn"), WordHasher().page("", "horn horn horn")

    assert weights_of(once).tolist() == [1.0]
    assert np.isclose(weights_of(thrice), 1.0 + np.log(3.0)).all()


def test_the_title_is_part_of_the_page() -> None:
    assert set(numbers_of(WordHasher().page("horn", "flute")).tolist()) == numbers("horn flute")


def test_numbers_and_single_letters_are_no_words() -> None:
    assert numbers("1756 a 27 _") == set()
    assert len(WordHasher().page("", "")) == 0


def test_a_text_without_spaces_is_read_by_pairs_of_characters() -> None:
    assert numbers("東京都") & numbers("東京") != set()
    assert numbers("東京都") & numbers("京都") != set()


def test_any_text_gives_numbers_below_the_limit() -> None:
    text = "".join(map(chr, range(32, 0x3000))) + "\ud800x \U0001f600ab"

    assert max(numbers(text)) < BUCKETS


def test_a_link_has_the_words_of_its_anchor_then_those_of_its_path() -> None:
    hasher = WordHasher()

    found = hasher.link("The Magic Flute", "https://mozart.example/operas/K%2E620_flute?by=year")

    assert found == [
        *hasher.context("the magic flute operas by year"),
    ]


def test_words_of_links_are_rows_of_one_length() -> None:
    rows = link_rows([[1, 2], []], 2)

    assert rows.shape == (2, LINK_WORDS)
    assert rows[0, :3].tolist() == [1, 2, NO_WORD]
    assert set(rows[1].tolist()) == {NO_WORD}


def test_the_memory_of_words_is_bounded_and_forgetting_changes_nothing() -> None:
    hasher = WordHasher()
    before = hasher.context("horn")

    hasher.page("", " ".join(f"w{number}" for number in range(3_000)))
    for start in range(0, 260_000, 2_000):
        hasher.page("", " ".join(f"x{number}" for number in range(start, start + 2_000)))

    assert hasher.context("horn") == before
