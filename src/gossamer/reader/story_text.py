"""Format the story of a URL as sentences. Pure: the time is an argument."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gossamer.base.answer_class import LABELS, answer_text, class_of_status, status_text
from gossamer.base.clock import iso_of
from gossamer.base.plurals import counted
from gossamer.frontier.rows import HostRow, UrlRow
from gossamer.reader.story import Judged, RobotsView, Story
from gossamer.reader.story_visits import visit_sentences
from gossamer.records import Outcome, Reason

_STEPS: Final = 10  # shown from each end of a long chain
_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def story_sentences(story: Story, now_us: int) -> list[str]:
    """Return the story, one sentence per line."""
    if story.row is None:
        assert story.judged is not None, "a story has a row or a judgement"
        return list(_unknown(story, story.judged, now_us))
    return [
        f"{story.url} is {answer_text(story.row.outcome.value, story.row.status)}.",
        *_outcome(story, story.row, now_us),
        *_duplicates(story),
        *story.traps,
        *_finding(story, story.row, now_us),
        *_captures(story, now_us),
        *visit_sentences(story, story.row, lambda at_us: when(at_us, now_us), now_us),
        *_robots(story.robots, now_us),
        *_host(story.host, now_us),
    ]


def when(at_us: int, now_us: int) -> str:
    """`on 2026-01-31T12:00:00Z, 3 minutes ago`."""
    distance_s = abs(now_us - at_us) // 1_000_000
    if distance_s == 0:
        return f"on {iso_of(at_us)}, just now"
    size_s, unit = next(pair for pair in _UNITS if distance_s >= pair[0])
    count = distance_s // size_s
    span = counted(count, unit)
    return f"on {iso_of(at_us)}, " + (f"in {span}" if at_us > now_us else f"{span} ago")


def _unknown(story: Story, judged: Judged, now_us: int) -> Iterator[str]:
    yield f"{story.url} is unknown: no fetched page links to it."
    if judged.is_in:
        yield f"If a page linked to it, it would be queued: {judged.because}."
    else:
        yield f"If a page linked to it, it would be refused ({judged.reason}): {judged.because}."
    if story.dropped:
        yield (
            f"This crawl dropped {story.dropped} links, because they led to more hosts than one "
            "page or site may have (frontier.hosts_per_page, frontier.hosts_per_site). This URL "
            "may be one of them."
        )
    yield from _robots(story.robots, now_us)
    yield from _host(story.host, now_us)


def _duplicates(story: Story) -> Iterator[str]:
    facts = story.duplicates
    if facts.of:
        share = f" ({facts.similarity:.1%} of the HTML is the same)" if facts.similarity < 1 else ""
        yield f"It is a duplicate of {facts.of}{share}."
    if facts.copies:
        yield f"It has {counted(facts.copies, 'duplicate')}."


def _outcome(story: Story, row: UrlRow, now_us: int) -> Iterator[str]:
    detail = f" ({row.detail})" if row.detail else ""
    tries = f", after {story.tries} tries" if story.tries > 1 else ""
    match row.outcome:
        case Outcome.FETCHED:
            size = f"{counted(row.size_bytes, 'byte')} of {row.type or 'unknown type'}"
            answer = f"{status_text(row.status)} ({LABELS[class_of_status(row.status)]})"
            yield f"The server responded {answer} with {size} {when(row.at_us, now_us)}{tries}."
            if row.redirect:
                yield f"It redirects to {row.redirect}."
            if row.is_cut:
                yield "The body was truncated at the size limit."
            if row.title:
                yield f"Its title is {row.title!r}."
            if row.robots:
                yield f"Its robots directives are: {row.robots}."
        case Outcome.FAILED | Outcome.REFUSED:
            asked = f" The server responded {status_text(row.status)}." if row.status else ""
            yield f"Reason: {story.because} [{row.reason}]{detail}{tries}.{asked}"
            if row.reason == Reason.EVICTED and row.body_us:
                yield f"It was fetched {when(row.body_us, now_us)}."
                yield f"It left the collection {when(row.at_us, now_us)}."
            else:
                yield f"This was decided {when(row.at_us, now_us)}."
        case Outcome.QUEUED:
            yield from _waiting(story, row, now_us)


def _waiting(story: Story, row: UrlRow, now_us: int) -> Iterator[str]:
    if row.reason:
        detail = f" ({row.detail})" if row.detail else ""
        yield f"Attempt {row.tries} failed: {story.because} [{row.reason}]{detail}."
    if row.due_us:
        yield f"The next attempt is {when(row.due_us, now_us)}."
    else:
        yield "It will be requested when its turn comes and the delay of its host has passed."


def _finding(story: Story, row: UrlRow, now_us: int) -> Iterator[str]:
    seen = f", first seen {when(row.first_us, now_us)}" if row.first_us else ""
    if not story.via:
        yield f"It is a seed{seen}." if story.is_seed else f"Its source page is unknown{seen}."
        if story.point is not None:
            point, at = story.point, when(story.point.at_us, now_us)
            yield (
                f"A search for {point.query!r} in {point.source} found it {at}: result "
                f"{point.place}."
            )
        return
    links = counted(row.depth, "link")
    yield f"It was found on {story.via[0].url}{seen}; it is {links} from a seed."
    if len(story.via) > 1:
        steps = [step.url for step in reversed(story.via)]
        if len(steps) > 2 * _STEPS:
            steps = [*steps[:_STEPS], "...", *steps[-_STEPS:]]
        yield "Path from the seed: " + " -> ".join([*steps, story.url]) + "."


def _captures(story: Story, now_us: int) -> Iterator[str]:
    if len(story.captures) == 1:
        yield f"It was captured once, {when(story.captures[0].at_us, now_us)}."
    elif story.captures:
        newest = when(story.captures[-1].at_us, now_us)
        yield f"It was captured {len(story.captures)} times, the last time {newest}."


def _robots(robots: RobotsView | None, now_us: int) -> Iterator[str]:
    if robots is None:
        yield "The robots.txt of its origin has not been fetched."
        return
    verdict = "allows" if robots.is_allowed else "disallows"
    line = f" in line {robots.line}" if robots.line else ""
    if robots.detail:
        rule = f": {robots.detail}"
    else:
        rule = f": {robots.rule}{line}" if robots.rule else ": no rule matches"
    at = when(robots.at_us, now_us)
    yield f"robots.txt of {robots.origin}, fetched {at}, {verdict} it{rule}."
    if robots.crawl_delay_s:
        yield f"It sets a Crawl-delay of {robots.crawl_delay_s:g} seconds."


def _host(host: HostRow | None, now_us: int) -> Iterator[str]:
    if host is None or not host.name:
        yield "Nothing else is known about its host."
        return
    yield (
        f"Its host {host.name} has {counted(host.known, 'known URL')}: {host.fetched} fetched, "
        f"{host.queued} queued, {host.waiting} waiting for a retry, {host.failed} failed, "
        f"{host.refused} refused."
    )
    if host.trouble:
        yield f"The host has a problem: {host.trouble}."
    if host.free_us > now_us:
        yield f"The next request to the host is allowed {when(host.free_us, now_us)}."
