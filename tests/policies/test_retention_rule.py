"""The rule that says which old captures of a page may be deleted."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import SettingsError
from gossamer.policies.retention import PastCapture, RetentionRule
from support.rows import each_row

DAY = 86_400_000_000
NOW = round(datetime(2026, 6, 15, tzinfo=UTC).timestamp() * 1e6)
RULES = [
    "versions",
    "last 1",
    "last 3",
    "90 days",
    "12 hours",
    "one a month",
    "one a week after 30 days",
    "one a month after a year",
    "last 3 or 90 days",
    "last 2 or one a year or 10 d",
]


def days(*ages: tuple[int, str]) -> list[PastCapture]:
    """Captures so many days ago, each with its content."""
    return [PastCapture(NOW - age * DAY, digest, 200) for age, digest in ages]


def ages_kept(rule: str, captures: list[PastCapture], changed_us: int = 0) -> list[int]:
    kept = RetentionRule.read(rule).kept(captures, NOW, changed_us)
    return sorted(((NOW - at) // DAY for at in kept), reverse=True)


captures_of_a_page = st.lists(
    st.builds(
        PastCapture,
        st.integers(NOW - 900 * DAY, NOW),
        st.sampled_from(["a", "b", "c", ""]),
        st.sampled_from([200, 200, 200, 304, 404, 301]),
    ),
    unique_by=lambda one: one.at_us,
    min_size=1,
    max_size=40,
)


def test_all_keeps_everything() -> None:
    captures = days((400, "a"), (300, "a"), (200, "a"), (2, "b"))

    assert ages_kept("all", captures) == [400, 300, 200, 2]
    assert ages_kept("last 1 or all", captures) == [400, 300, 200, 2]


def test_versions_keeps_the_first_and_last_visit_of_each() -> None:
    captures = days((9, "a"), (8, "a"), (7, "a"), (6, "b"), (5, "c"), (4, "c"), (3, "c"))

    assert ages_kept("versions", captures) == [9, 7, 6, 5, 3]


def test_last_counts_versions_and_not_visits() -> None:
    captures = days((9, "a"), (8, "b"), (7, "c"), (6, "d"), (5, "d"), (4, "d"))

    assert ages_kept("last 3", captures) == [8, 7, 6, 4]


def test_an_age_keeps_what_was_current_at_that_time() -> None:
    """The page had the content `b` 90 days ago, although it was found 100 days ago."""
    captures = days((200, "a"), (100, "b"), (50, "c"), (1, "d"))

    assert ages_kept("90 days", captures) == [100, 50, 1]


def test_one_a_month_keeps_the_last_version_found_in_it() -> None:
    captures = days((75, "a"), (74, "b"), (40, "c"), (39, "d"), (8, "e"), (2, "f"), (1, "g"))

    assert ages_kept("one a month", captures) == [74, 39, 2, 1]


def test_one_a_month_after_a_year_keeps_all_of_the_last_year() -> None:
    captures = days((480, "a"), (479, "b"), (478, "c"), (364, "d"), (363, "e"), (1, "f"))

    assert ages_kept("one a month after a year", captures) == [478, 364, 363, 1]


def test_the_version_before_the_last_change_that_counts_is_kept() -> None:
    """The versions after it differ in their date only."""
    captures = days((9, "real"), (8, "new"), (7, "noise1"), (6, "noise2"), (5, "noise3"))

    assert ages_kept("last 1", captures) == [6, 5]
    assert ages_kept("last 1", captures, changed_us=NOW - 8 * DAY) == [9, 6, 5]


def test_a_visit_answered_with_not_modified_belongs_to_its_version() -> None:
    captures = [
        PastCapture(NOW - 3 * DAY, "a", 200),
        PastCapture(NOW - 2 * DAY, "a", 304),
        PastCapture(NOW - 1 * DAY, "a", 304),
    ]

    assert ages_kept("versions", captures) == [3, 1]


def test_redirects_with_the_same_body_may_lead_to_different_pages() -> None:
    captures = [PastCapture(NOW - age * DAY, "empty", 301) for age in (3, 2, 1)]

    assert ages_kept("versions", captures) == [3, 2, 1]


def test_a_page_that_alternates_between_two_versions_is_thinned() -> None:
    captures = days(*((age, "ab"[age % 2]) for age in range(100, 0, -1)))

    assert ages_kept("last 3", captures) == [3, 2, 1]


@pytest.mark.parametrize("rule", RULES)
@given(captures=captures_of_a_page, data=st.data())
@settings(max_examples=settings().max_examples)
def test_what_every_rule_promises(
    rule: str, captures: list[PastCapture], data: st.DataObject
) -> None:
    """The newest capture stays, so does the version before the last change; the order of the
    captures means nothing; a second time frees nothing more."""
    changed_us = data.draw(st.sampled_from([0, *(one.at_us for one in captures)]))
    read = RetentionRule.read(rule)
    kept = read.kept(captures, NOW, changed_us)
    shuffled = random.Random(1).sample(captures, len(captures))
    left = [one for one in captures if one.at_us in kept]
    newest = max(captures)
    before = [one for one in sorted(captures) if one.at_us < changed_us]
    other = [one for one in sorted(captures) if not one.has_content_of(newest)]

    assert newest.at_us in kept
    assert read.kept(shuffled, NOW, changed_us) == kept
    assert read.kept(left, NOW, changed_us) == kept
    assert kept <= {one.at_us for one in captures}
    if before:
        last = max(one for one in left if one.at_us < changed_us)
        assert last == before[-1] or last.has_content_of(before[-1])
    if other:
        assert any(one == other[-1] or one.has_content_of(other[-1]) for one in left)


@given(captures=captures_of_a_page, age=st.integers(0, 90))
@settings(max_examples=3 * settings().max_examples)
def test_every_moment_within_the_age_has_the_content_it_had(
    captures: list[PastCapture], age: int
) -> None:
    at_us = NOW - age * DAY
    kept = RetentionRule.read("90 days").kept(captures, NOW)
    before = [one for one in sorted(captures) if one.at_us <= at_us]
    left = [one for one in before if one.at_us in kept]

    if before:
        assert left[-1] == before[-1] or left[-1].has_content_of(before[-1])


@each_row(
    "text",
    ["", "last", "last 0", "3", "last three", "a fortnight", "one a decade", "90 days and last 3",
     "one a month after", "-1 days"],
)  # fmt: skip
def test_a_text_that_is_no_rule_names_the_rules(text: str) -> None:
    with pytest.raises(SettingsError, match=r"archive\.keep is .*one a month after a year"):
        RetentionRule.read(text)


@each_row(
    ("text", "same"),
    [
        ("LAST 3", "last 3 versions"),
        ("90d", "90 days"),
        ("a week", "7 days"),
        ("1 year", "365 d"),
        ("one per month", "one a month"),
    ],
)
def test_a_rule_may_be_written_in_several_ways(text: str, same: str) -> None:
    assert RetentionRule.read(text).clauses == RetentionRule.read(same).clauses
