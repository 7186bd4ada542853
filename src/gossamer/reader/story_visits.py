"""When a page is visited next, and by which estimate, as sentences. Pure: told the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from gossamer.base.plurals import counted
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.reader.story import Story

_SPANS: Final = (
    (2 * 365.25 * 86_400, 365.25 * 86_400, "year"),
    (2 * 86_400, 86_400, "day"),
    (2 * 3600, 3600, "hour"),
    (2 * 60, 60, "minute"),
    (0, 1, "second"),
)


def visit_sentences(
    story: Story, row: UrlRow, when: Callable[[int], str], now_us: int = 0
) -> Iterator[str]:
    """What is known of how often a fetched page changes, and of its next visit. Nothing of a
    collection that is not visited again. `when` writes a time."""
    yield from _last_visits(row, when)
    if row.standing != Standing.FETCHED:
        return
    if row.hint_us > row.at_us:
        yield f"A sitemap or feed says that it was changed {when(row.hint_us)}, after that visit."
    if row.place:
        yield "It waits for its next visit."
        return
    if 0 < row.next_us <= now_us:
        due = when(row.next_us)
        yield f"{_estimate(story, row)} Its next visit was due {due}; `crawl --forever` makes it."
    elif row.next_us > 0:
        yield f"{_estimate(story, row)} Its next visit is about {when(row.next_us)}."
    elif row.next_us < 0:
        yield (
            f"{_estimate(story, row)} That is too often for the rate of requests, so no visit is "
            "planned; a higher --rate would change that."
        )


def _last_visits(row: UrlRow, when: Callable[[int], str]) -> Iterator[str]:
    """What visits after the first one found."""
    if row.standing == Standing.REFUSED and row.body_us:
        yield (
            f"It was fetched before. The version captured {when(row.body_us)} stays in the "
            "archive; it is no longer in the search index."
        )
    if row.standing != Standing.FETCHED:
        return
    if row.gone_us:
        yield (
            f"The page is gone: this was first seen {when(row.gone_us)}. Earlier versions stay in "
            "the archive; it is no longer in the search index."
        )
    elif row.redirect and row.changed_us:
        yield f"The page has moved: this was seen {when(row.changed_us)}. Earlier versions stay."
    elif row.changed_us:
        yield f"It was last seen to change {when(row.changed_us)}."
    if row.body_us:
        yield f"It was unchanged then: its version was captured {when(row.body_us)}."
    if row.missed_us:
        failed = "The last visit" if row.missed < 2 else f"The last {row.missed} visits"
        why = f"{row.missed_reason}: {row.missed_detail}"
        yield f"{failed} failed {when(row.missed_us)} ({why}). The stored version was kept."
    if row.due_us:
        yield f"The visit is repeated {when(row.due_us)}."


def changes_every_s(row: UrlRow) -> float | None:
    """The mean time between two changes, as the visits saw it; None while none was seen."""
    return row.rate_scale / row.rate_shape if row.rate_shape > 0 else None


def span_text(seconds: float) -> str:
    """`9 days`, `36 hours`."""
    _, unit_s, unit = next(one for one in _SPANS if seconds >= one[0])
    return counted(round(seconds / unit_s), unit)


def _estimate(story: Story, row: UrlRow) -> str:
    times = [capture.at_us for capture in story.captures] or [row.at_us]
    span = span_text(max(1.0, (row.at_us - times[0]) / 1e6))
    digests = [capture.digest for capture in story.captures if capture.digest]
    changes = sum(before != after for before, after in pairwise(digests))
    every_s = changes_every_s(row)
    if every_s is None or not changes:
        if not row.visits:
            return "It was visited once, so it is taken to change as often as other pages."
        return f"No change was seen in {span} ({counted(row.visits + 1, 'visit')})."
    seen = f"{counted(changes, 'change')} seen in {span}"
    return f"It changes about every {span_text(every_s)} ({seen}; recent ones count more)."
