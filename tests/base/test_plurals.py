"""Counts with their nouns."""

from gossamer.base.plurals import counted


def test_one_is_singular_and_all_else_is_plural() -> None:
    assert [counted(n, "page") for n in (0, 1, 2, 1650)] == [
        "0 pages",
        "1 page",
        "2 pages",
        "1,650 pages",
    ]


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(3, "entry", "entries") == "3 entries"
