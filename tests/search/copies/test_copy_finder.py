"""Where else a text stands: what is found in small collections, and what is not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.index.words import words_of
from gossamer.search.copies.results import Copies, CopiesRequest
from gossamer.search.engine import Engine
from search.small_collection import build, built_of, entry

VOCABULARY = [
    f"{first}{second}{third}" for first in "bdfgk" for second in "aeiou" for third in "lmnr"
]


def prose(count: int, seed: int, vocabulary: Sequence[str] = VOCABULARY) -> str:
    """So many words, in an order that stands nowhere else."""
    chance = random.Random(seed)
    return " ".join(chance.choice(vocabulary) for _ in range(count))


def copies(engine: Engine, text: str, **more: object) -> Copies:
    request = replace(CopiesRequest(text=text), **more)  # type: ignore[arg-type]
    return engine.copies(request)


def found_paths(found: Copies) -> list[str]:
    return [copy.url.split("/", 3)[3] for copy in found]


def test_a_paragraph_is_found_wherever_it_stands_in_a_page(tmp_path: Path) -> None:
    paragraph = prose(30, 1)
    pages = {f"other{n}": prose(300, 100 + n) for n in range(20)}
    pages |= {
        "first": f"{paragraph} {prose(200, 2)}",
        "middle": f"{prose(200, 3)}\n{paragraph}\n{prose(200, 4)}",
        "last": f"{prose(200, 5)} {paragraph}",
    }

    found = copies(built_of(tmp_path, pages), paragraph)

    assert sorted(found_paths(found)) == ["first", "last", "middle"]
    assert {copy.share for copy in found} == {1.0}
    assert {copy.words for copy in found} == {30}
    assert found.total == 3


def test_case_and_punctuation_do_not_hide_a_copy(tmp_path: Path) -> None:
    paragraph = prose(30, 1)
    shouted = ", ".join(paragraph.upper().split())

    found = copies(built_of(tmp_path, {"shouted": shouted}), paragraph)

    passage = found[0].passages[0]
    assert passage.in_page.passage.text == shouted
    assert passage.in_text.passage.text == paragraph
    assert passage.is_exact


def test_the_passage_says_where_it_stands_on_both_sides(tmp_path: Path) -> None:
    before, shared, after = prose(50, 2), prose(40, 3), prose(50, 4)
    text = f"{prose(12, 5)} — {shared}. {prose(5, 6)}"
    engine = built_of(tmp_path, {"page": f"{before} «{shared}» {after}"})

    (copy,) = copies(engine, text)

    (passage,) = copy.passages
    assert passage.first_word == 13
    assert passage.words == 40
    assert text[passage.in_text.start : passage.in_text.end] == shared
    start = len(before) + 2
    assert (passage.in_page.start, passage.in_page.end) == (start, start + len(shared))
    assert copy.share == pytest.approx(40 / 57)


def test_a_changed_word_does_not_end_a_passage_and_is_not_marked(tmp_path: Path) -> None:
    words = prose(45, 1).split()
    changed = [*words[:15], "zebra", *words[16:30], "new", "words", "here", *words[30:]]

    (copy,) = copies(built_of(tmp_path, {"page": " ".join(changed)}), " ".join(words))

    (passage,) = copy.passages
    assert passage.words == 44
    assert not passage.is_exact
    marked = passage.in_page.passage.marked("<", ">")
    assert "> zebra <" in marked
    assert "> new words here <" in marked
    assert len(passage.in_text.passage.marks) == 3


def test_the_page_with_most_of_the_text_comes_first_and_its_longest_passage(tmp_path: Path) -> None:
    one, two, three = prose(30, 1), prose(60, 2), prose(25, 3)
    pages = {
        "little": f"{prose(90, 4)} {three}",
        "most": f"{one} {prose(50, 5)} {two} {prose(50, 6)}",
    }

    found = copies(built_of(tmp_path, pages), f"{one} {prose(40, 7)} {two} {prose(40, 8)} {three}")

    assert found_paths(found) == ["most", "little"]
    assert [passage.words for passage in found[0].passages] == [60, 30]


def test_shorter_passages_than_wanted_are_not_shown(tmp_path: Path) -> None:
    shared = prose(18, 1)
    engine = built_of(tmp_path, {"page": f"{prose(90, 2)} {shared} {prose(90, 3)}"})
    text = f"{prose(90, 4)} {shared} {prose(90, 5)}"

    assert found_paths(copies(engine, text)) == []
    assert found_paths(copies(engine, text, min_words=15)) == ["page"]


def test_texts_of_the_same_words_in_another_order_are_no_copies(tmp_path: Path) -> None:
    paragraph = prose(200, 1)
    shuffled = paragraph.split()
    random.Random(2).shuffle(shuffled)
    pieces = paragraph.split()
    pieces = [word for at in range(180, -1, -6) for word in pieces[at : at + 6]]
    engine = built_of(tmp_path, {"page": paragraph})

    assert len(copies(engine, " ".join(shuffled))) == 0
    assert len(copies(engine, " ".join(pieces))) == 0


def test_two_characters_of_a_script_without_spaces_count_as_a_word(tmp_path: Path) -> None:
    chance = random.Random(1)
    chinese = "".join(chr(chance.randrange(0x4E00, 0x4F00)) for _ in range(400))
    thai = "".join(chr(chance.randrange(0x0E01, 0x0E2E)) for _ in range(400))
    engine = built_of(tmp_path, {"zh": chinese, "th": thai})

    for name, text in (("zh", chinese), ("th", thai)):
        (copy,) = copies(engine, text[200:260])
        assert copy.url.endswith(f"/{name}")
        assert copy.words == 30
        assert copy.passages[0].in_page.start == 200
        assert copy.passages[0].in_page.end == 260
        assert len(copies(engine, text[200:236])) == 0


def test_a_page_can_be_left_out_and_nosnippet_hides_the_text_of_a_page(tmp_path: Path) -> None:
    shared = prose(40, 1)
    itself, hidden = entry("itself", shared), replace(entry("hidden", shared), has_snippet=False)
    engine = Engine(build(tmp_path, [itself, hidden]))

    (copy,) = copies(engine, shared, but=itself.key)

    assert copy.url == hidden.url
    assert copy.passages[0].in_page.passage.text == ""
    assert copy.passages[0].in_text.passage.text == shared


def test_a_passage_on_very_many_pages_is_found_and_the_limit_is_told(tmp_path: Path) -> None:
    shared = prose(40, 1)
    engine = built_of(tmp_path, {f"p{n:03}": f"{shared} {prose(30, n)}" for n in range(130)})

    found = copies(engine, shared, limit=5)
    more = copies(engine, shared, limit=200)

    assert len(found) == 5
    assert found.total >= 50
    assert "raise the limit" in found.hint
    assert (len(more), more.hint) == (130, "")


def test_repeated_words_without_end_take_bounded_time(tmp_path: Path) -> None:
    engine = built_of(tmp_path, {"page": "spam " * 20_000, "two": "spam eggs " * 10_000})

    assert len(copies(engine, "spam " * 200_000)) == 1
    assert len(copies(engine, "eggs spam " * 100_000)) == 1
    assert len(copies(engine, "x" * 1_000_000)) == 0


def test_a_long_text_is_searched_and_says_what_may_be_missing(tmp_path: Path) -> None:
    shared = prose(400, 1)
    engine = built_of(tmp_path, {"page": shared, "other": prose(400, 2)})
    long = f"{prose(400_000, 3)} {shared} {prose(100, 4)}"

    found = copies(engine, long)

    assert found_paths(found) == ["page"]
    assert "passages of less than" in found.hint


def test_a_text_that_is_too_short_says_so(tmp_path: Path) -> None:
    found = copies(built_of(tmp_path, {"page": prose(50, 1)}), "three words only")

    assert found.hint == "the text has 3 words, and passages of at least 20 words were wanted"
    assert len(copies(built_of(tmp_path / "b", {"page": "x"}), "")) == 0


@pytest.mark.parametrize(("name", "value"), [("min_words", 7), ("limit", 0), ("limit", 1001)])
def test_an_invalid_number_is_an_error_that_names_it(name: str, value: int) -> None:
    with pytest.raises(UsageError, match=name):
        CopiesRequest(text="", **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(15))
def test_every_run_of_twenty_words_is_found_as_by_brute_force(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    few = VOCABULARY[: chance.choice([3, 10, 100])]
    text = prose(chance.randint(20, 300), seed, few)
    words = text.split()
    pages = {}
    for number in range(12):
        start = chance.randrange(len(words))
        piece = " ".join(words[start : start + chance.randint(10, 60)])
        pages[f"p{number}"] = f"{prose(chance.randint(0, 50), 99 + number, few)} {piece}"

    found = copies(built_of(tmp_path, pages), text, limit=100)

    grams = {tuple(words[at : at + 20]) for at in range(len(words) - 19)}
    expected = {
        path
        for path, page in pages.items()
        if any(tuple(page.split()[at : at + 20]) in grams for at in range(len(page.split()) - 19))
    }
    assert expected <= set(found_paths(found))
    for copy in found:
        for passage in copy.passages:
            for side in (passage.in_text.passage, passage.in_page.passage):
                assert all(side.text[start:end] for start, end in side.marks)
            runs = [
                [words_of(side.text[start:end]) for start, end in side.marks]
                for side in (passage.in_text.passage, passage.in_page.passage)
            ]
            assert runs[0] == runs[1]
