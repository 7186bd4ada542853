"""Two texts are compared word by word; what the masks explain is marked."""

from __future__ import annotations

import random
from time import process_time

from gossamer.compare.text import DatedText, Piece, TextComparison, compare_texts
from support.rows import each_row

DAY_US = 86_400_000_000
THEN, NOW = 1_794_300_000_000_000, 1_794_300_000_000_000 + 8 * DAY_US


def compared(old: str, new: str) -> TextComparison:
    return compare_texts(DatedText(old, THEN), DatedText(new, NOW))


def marked(found: TextComparison) -> list[str]:
    """Changed lines: [-removed-], {+added+}, and ~in tildes~ what a mask explains."""
    return [
        " ".join(map(mark, line))
        for block in found.blocks
        if not block.is_same
        for line in block.lines
    ]


def mark(piece: Piece) -> str:
    text = f"~{piece.text}~" if piece.is_masked else piece.text
    return {"same": text, "removed": f"[-{text}-]", "added": f"{{+{text}+}}"}[piece.kind]


def test_the_same_text_has_no_blocks() -> None:
    assert compared("a\n\nb", "a\nb ") == TextComparison()


def test_changed_words_are_marked_in_their_line() -> None:
    found = compared("x\nThe shop is open on Monday.\ny", "x\nThe shop is closed on Monday.\ny")

    assert marked(found) == ["The shop is [-open-] {+closed+} on Monday."]


def test_an_inserted_line_does_not_hide_the_edit_below_it() -> None:
    old = "top\nThe shop is open on every Monday.\nend"
    new = "top\nWe are pleased to see you!\nThe shop is closed on every Monday.\nend"

    assert marked(compared(old, new)) == [
        "{+We are pleased to see you!+}",
        "The shop is [-open-] {+closed+} on every Monday.",
    ]


def test_words_that_are_the_same_by_chance_are_no_islands() -> None:
    old = "shared words: one two three the four five six"
    new = "shared words: un deux trois the quatre cinq sei"

    assert marked(compared(old, new)) == [
        "shared words: [-one two three the four five six-] {+un deux trois the quatre cinq sei+}"
    ]


def test_what_a_mask_explains_is_marked_apart() -> None:
    found = compared("Posted 3 hours ago by Ann\nz", "Posted 2 days ago by Bob\nz")

    assert marked(found) == [
        "Posted [-~3 hours~-] {+~2 days~+} ago by [-Ann-] {+Bob+}",
    ]


def test_a_language_without_spaces_is_compared_letter_by_letter() -> None:
    found = compared("博物馆周一开放", "博物馆周二开放")

    assert marked(found) == ["博物馆周 [-一-] {+二+} 开放"]


def test_a_spot_is_the_same_on_pages_of_one_template() -> None:
    spots = []
    for page in ("The first article ends.", "Quite another story."):
        old = f"{page}\nAdvertisement: buy shoes now\nAbout us"
        new = f"{page}\nAdvertisement: holidays in Spain\nAbout us"
        spots.append({piece.spot for piece in compared(old, new).changed()})

    assert spots[0] == spots[1]


def test_a_spot_at_the_end_of_an_article_is_known_by_what_follows() -> None:
    afters = set()
    for page in ("The first article ends.", "Quite another story."):
        old, new = (f"{page}\n{text}\nAbout us" for text in ("Buy shoes now", "Fly to Spain"))
        afters |= {piece.spot.after for piece in compared(old, new).changed() if piece.spot}

    assert len(afters) == 1


def test_every_word_is_there_once() -> None:
    chance = random.Random(7)
    for _ in range(200):
        old = "\n".join(
            " ".join(chance.choices("abcdefgh", k=chance.randrange(9)))
            for _ in range(chance.randrange(12))
        )
        lines = old.splitlines()
        chance.shuffle(lines)
        new = "\n".join(line.replace("a", "x y") for line in lines[: chance.randrange(12)])
        found = compared(old, new)
        if not found.blocks:
            assert old.split() == new.split()
            continue
        for kind, text in (("removed", old), ("added", new)):
            kept = [
                piece.text
                for block in found.blocks
                for line in block.lines
                for piece in line
                if piece.kind in ("same", kind)
            ]
            left_out = sum(block.left_out for block in found.blocks)
            lines_in = [line for line in text.splitlines() if line.strip()]
            if not left_out:
                assert " ".join(kept).split() == " ".join(lines_in).split()


@each_row(
    ("old", "new"),
    [
        ("same\n" * 50_000, "other\n" * 50_000),
        ("a\nb\n" * 30_000, "b\na\n" * 30_001),
        ("a " * 1_000_000, "b " * 1_000_001),
        ("a b " * 400_000, "b a " * 400_000),
        (
            "\n".join(f"{n} a b c d e f g" for n in range(20_000)),
            "\n".join(f"{n} g f e d c b a" for n in range(20_000)),
        ),
    ],
)
def test_texts_made_to_be_slow_take_a_second_at_most(old: str, new: str) -> None:
    began_s = process_time()
    compared(old, new)

    assert process_time() - began_s < 2.0


def test_a_change_beyond_the_part_of_a_line_that_is_compared_is_not_overlooked() -> None:
    line = "the quick brown fox jumps over the lazy dog " * 100
    edited = line[:-50] + "and a cat sleeps " + line[-50:]

    assert compare_texts(DatedText(line), DatedText(edited)).is_cut
    assert compare_texts(DatedText(f"1 view\n{line}"), DatedText(f"2 views\n{edited}")).is_cut
    assert not compare_texts(DatedText(f"1 view\n{line}"), DatedText(f"2 views\n{line}")).is_cut
