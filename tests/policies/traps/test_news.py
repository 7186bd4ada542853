"""What a page says that its host has not said before."""

from __future__ import annotations

import random

import pytest

from gossamer.policies.traps.grades import News
from gossamer.policies.traps.news import Vocabulary, pieces_of, text_in

HOST = "a.example"
FIRST = (
    "The river runs through a narrow valley and turns the wheels of three mills.",
    "Every mill grinds the corn of the farms around it, and pays its rent in flour.",
    "In winter the water freezes, so that the millers mend their stones and wait.",
)


@pytest.fixture
def words() -> Vocabulary:
    """The host has shown three pages."""
    vocabulary = Vocabulary()
    for number, text in enumerate(FIRST):
        assert vocabulary.judge(HOST, f"http://{HOST}/{number}", text) is News.UNKNOWN
    return vocabulary


def test_a_word_that_the_host_has_not_used_is_news(words: Vocabulary) -> None:
    text = FIRST[0] + "\nThe bridge below the mills was built by monks."

    assert words.judge(HOST, f"http://{HOST}/x", text) is News.NEW


def test_a_single_word_is_little_news(words: Vocabulary) -> None:
    text = "\n".join((*FIRST, "The millers wait in November"))

    assert words.judge(HOST, f"http://{HOST}/x", text) is News.KNOWN


def test_a_page_that_was_seen_before_is_repeated(words: Vocabulary) -> None:
    assert words.judge(HOST, f"http://{HOST}/x", FIRST[1]) is News.REPEATED


def test_known_words_in_a_new_line_are_a_grade_of_their_own(words: Vocabulary) -> None:
    text = "The farms wait in winter, and the millers mend the wheels of every mill."

    assert words.judge(HOST, f"http://{HOST}/x", text) is News.KNOWN


def test_numbers_dates_and_tokens_are_no_news(words: Vocabulary) -> None:
    text = FIRST[2] + "\n2026 11 18\n17:03\n3f9a17bc44e0\nab12cd34"

    assert words.judge(HOST, f"http://{HOST}/x", text) is News.REPEATED


def test_a_page_that_repeats_its_own_address_brings_nothing(words: Vocabulary) -> None:
    page = f"http://{HOST}/purple/zebra-17"
    text = FIRST[0] + "\nThere is no page /purple/zebra-17"
    words.judge(HOST, f"http://{HOST}/other", FIRST[0] + "\nThere is no page /other")

    assert words.judge(HOST, page, text) is News.REPEATED


def test_a_page_of_lines_that_were_repeated_before_is_stale(words: Vocabulary) -> None:
    text = "\n".join(FIRST)
    grades = [words.judge(HOST, f"http://{HOST}/{number}", text) for number in range(4)]

    assert grades == [News.REPEATED, News.REPEATED, News.STALE, News.STALE]


def test_one_new_line_between_stale_ones_is_no_news(words: Vocabulary) -> None:
    for number in range(3):
        words.judge(HOST, f"http://{HOST}/{number}", "\n".join(FIRST))
    month = "\n".join(["The wheels of November", *FIRST])

    assert words.judge(HOST, f"http://{HOST}/x", month) is News.REPEATED


def test_a_common_word_of_the_url_does_not_hide_what_a_line_says(words: Vocabulary) -> None:
    text = "The millers wait in the valley of the corn\nThe farms around it mend three wheels"

    assert words.judge(HOST, f"http://{HOST}/the-corn-in-winter", text) is News.NEW


def test_emptiness_is_no_evidence(words: Vocabulary) -> None:
    assert words.judge(HOST, f"http://{HOST}/x", "Next page") is News.UNKNOWN


def test_the_words_of_one_host_say_nothing_about_another(words: Vocabulary) -> None:
    assert words.judge("b.example", "http://b.example/", FIRST[0]) is News.UNKNOWN


def letters(rng: random.Random) -> str:
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(4, 9)))


def sentence(rng: random.Random, vocabulary: list[str]) -> str:
    """Words as in a language: pairs of them return. Each word has three that follow it."""
    at, words = rng.randrange(len(vocabulary)), []
    for _ in range(10):
        words.append(vocabulary[at])
        at = (at * 3 + rng.randrange(3)) % len(vocabulary)
    return " ".join(words)


def learned(rng: random.Random, vocabulary: list[str]) -> Vocabulary:
    """A host that has shown 300 pages in a language of so many words."""
    words = Vocabulary()
    for number in range(300):
        text = "\n".join(sentence(rng, vocabulary) for _ in range(12))
        words.judge(HOST, f"http://{HOST}/{number}", text)
    return words


def test_text_of_random_letters_is_odd() -> None:
    rng = random.Random(1)
    words = learned(rng, [letters(rng) for _ in range(2000)])
    text = "\n".join(" ".join(letters(rng) for _ in range(10)) for _ in range(10))

    assert words.judge(HOST, f"http://{HOST}/x", text) is News.ODD


def test_known_words_side_by_side_that_never_were_before_are_odd() -> None:
    rng = random.Random(2)
    vocabulary = [letters(rng) for _ in range(2000)]
    words = learned(rng, vocabulary)
    odd = "\n".join(" ".join(rng.choice(vocabulary) for _ in range(10)) for _ in range(10))
    usual = "\n".join(sentence(rng, vocabulary) for _ in range(10))

    assert words.judge(HOST, f"http://{HOST}/x", odd) is News.ODD
    assert words.judge(HOST, f"http://{HOST}/y", usual) is not News.ODD


def test_what_is_remembered_is_bounded() -> None:
    rng = random.Random(3)
    words = Vocabulary(max_facts=2_000)
    for number in range(200):
        text = " ".join(letters(rng) for _ in range(50))
        words.judge(f"h{number % 7}.example", "http://h.example/", text)

    held = [*words._hosts.values(), *words._before.values()]
    assert sum(one.size for one in held) < 3 * 2_000


def test_a_long_text_is_read_in_pieces_that_a_small_change_does_not_move() -> None:
    rng = random.Random(4)
    lines = [" ".join(letters(rng) for _ in range(12)) for _ in range(400)]
    text = "\n".join(lines)
    changed = "\n".join(["3 visitors", *lines])

    assert len(pieces_of(text)) < 4_000
    same = set(pieces_of(text).split("\n")) & set(pieces_of(changed).split("\n"))
    assert len(same) >= len(pieces_of(text).split("\n")) - 3


def test_the_text_of_a_page_without_a_parser_has_no_tags_and_no_scripts() -> None:
    html = b"<html><script>var secret = 1;</script><p class=x>Visible <b>words</b></p>"

    assert text_in(html).split() == ["Visible", "words"]
