"""When a page is visited next, and by which estimate, as sentences."""

from __future__ import annotations

from gossamer.frontier.rows import Standing, UrlRow
from gossamer.reader.pages import StoredCapture
from gossamer.reader.story import Story
from gossamer.reader.story_visits import span_text, visit_sentences

DAY_US = 86_400_000_000
URL = "https://example.org/"


def captures(*digests: str, every_us: int) -> tuple[StoredCapture, ...]:
    return tuple(
        StoredCapture(at, "f", 0, 1, 200, "text/html", digest, 1)
        for at, digest in enumerate_times(digests, every_us)
    )


def enumerate_times(digests: tuple[str, ...], every_us: int) -> list[tuple[int, str]]:
    return [(number * every_us, digest) for number, digest in enumerate(digests)]


def sentences(row: UrlRow, *found: StoredCapture) -> list[str]:
    return list(visit_sentences(Story(URL, row, captures=found), row, lambda us: f"<{us}>"))


def fetched(**values: object) -> UrlRow:
    row = UrlRow(Standing.FETCHED, 0, URL)
    for name, value in values.items():
        setattr(row, name, value)
    return row


def test_a_page_says_how_often_it_changes_and_when_it_is_next_due() -> None:
    found = captures("a", "a", "b", "c", every_us=9 * DAY_US)
    row = fetched(
        at_us=27 * DAY_US, visits=3, rate_shape=3.0, rate_scale=27 * 86_400.0, next_us=31 * DAY_US
    )

    (told,) = sentences(row, *found)
    assert told == (
        "It changes about every 9 days (2 changes seen in 27 days; recent ones count more). Its "
        f"next visit is about <{31 * DAY_US}>."
    )


def test_a_visit_that_is_overdue_is_told_as_such() -> None:
    row = fetched(at_us=DAY_US, visits=1, rate_shape=1.0, rate_scale=86_400.0, next_us=2 * DAY_US)

    story = Story(URL, row, captures=captures("a", "a", every_us=DAY_US))
    told = list(visit_sentences(story, row, lambda us: f"<{us}>", 3 * DAY_US))

    assert told[-1].endswith(f"Its next visit was due <{2 * DAY_US}>; `crawl --forever` makes it.")


def test_a_page_that_never_changed_says_so() -> None:
    found = captures("a", "a", every_us=2 * DAY_US)
    row = fetched(at_us=2 * DAY_US, visits=1, rate_scale=2 * 86_400.0, next_us=9 * DAY_US)

    assert sentences(row, *found)[0].startswith("No change was seen in 2 days (2 visits). Its next")


def test_a_page_that_changes_too_often_is_said_to_be_given_up() -> None:
    found = captures("a", "b", "c", every_us=60_000_000)
    row = fetched(at_us=120_000_000, visits=2, rate_shape=2.0, rate_scale=120.0, next_us=-1)

    assert "too often for the rate of requests" in sentences(row, *found)[0]


def test_a_hint_and_a_waiting_visit_are_told() -> None:
    row = fetched(at_us=5, hint_us=9, place=b"p", next_us=7)

    assert sentences(row) == [
        "A sitemap or feed says that it was changed <9>, after that visit.",
        "It waits for its next visit.",
    ]


def test_a_collection_that_is_not_visited_again_has_nothing_to_say() -> None:
    assert sentences(fetched(at_us=5)) == []
    assert sentences(UrlRow(Standing.QUEUED, 0, URL)) == []


def test_a_span_has_the_unit_that_fits() -> None:
    spans = (0.4, 1, 90, 4000, 100_000, 9 * 86_400, 3e8)
    assert [span_text(s) for s in spans] == [
        "0 seconds", "1 second", "90 seconds", "67 minutes", "28 hours", "9 days", "10 years",
    ]  # fmt: skip


def test_a_page_says_what_its_last_visits_found() -> None:
    assert sentences(fetched(at_us=9, body_us=5, visits=1)) == [
        "It was unchanged then: its version was captured <5>."
    ]
    assert sentences(fetched(at_us=9, changed_us=9, visits=1)) == [
        "It was last seen to change <9>."
    ]
    (gone,) = sentences(fetched(at_us=9, changed_us=7, gone_us=7, status=404, visits=1))
    assert gone.startswith("The page is gone: this was first seen <7>.")
    (moved,) = sentences(fetched(at_us=9, changed_us=9, redirect="https://e.org/", visits=1))
    assert moved.startswith("The page has moved: this was seen <9>.")


def test_a_page_says_that_visits_failed() -> None:
    row = fetched(at_us=5, missed=2, missed_us=9, missed_reason="timeout", missed_detail="30 s")
    assert sentences(row) == [
        "The last 2 visits failed <9> (timeout: 30 s). The stored version was kept."
    ]
    row.missed, row.due_us = 0, 12
    assert sentences(row)[-1] == "The visit is repeated <12>."


def test_a_page_that_is_refused_now_says_what_stays() -> None:
    row = fetched(at_us=9, body_us=5)
    row.standing, row.reason = Standing.REFUSED, "robots"

    (told,) = sentences(row)
    assert told.startswith("It was fetched before. The version captured <5> stays in the archive")
