"""Find jobs that take unexpectedly long, and the URL pattern that is the likely cause. Pure.

A job is long if it has run a number of times longer than the median of jobs of its kind that are
done (or, before there are five, of those that run). A job in which a URL pattern brings most URLs
and little that is new is shown before that. The pattern comes from the unit; if it tells none, it
is found in the URLs that were fetched lately.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from gossamer.fleet.protocol import JobProgress, UrlLoop

_ENOUGH: Final = 5  # jobs that are done, for a median
_LOOP_URLS: Final = 500  # fewer URLs of one pattern are nothing special
_LOOP_SHARE: Final = 0.5
_VARIABLE: Final = re.compile(r"\d+|[0-9a-f]{8,}", re.IGNORECASE)


class AllocatedJob(NamedTuple):
    """A job that a unit works on."""

    job: str
    kind: str
    ran_s: float
    progress: JobProgress | None


class LongJob(NamedTuple):
    """A job that takes long: why, and what to ban."""

    job: str
    ran_s: float
    expected_s: float
    loops: tuple[UrlLoop, ...]
    why: str


def find_long(
    running: Sequence[AllocatedJob],
    done_s: Iterable[tuple[str, float]],
    *,
    factor: float,
    least_s: float,
) -> list[LongJob]:
    """The long jobs, the longest first. `done_s`: kind and duration of jobs that are done."""
    times: dict[str, list[float]] = {}
    for kind, seconds in done_s:
        times.setdefault(kind, []).append(seconds)
    found = []
    for one in running:
        expected_s = _expected(one, running, times.get(one.kind, []))
        loops = loops_of(one.progress)
        is_long = one.ran_s >= max(least_s, factor * expected_s) and expected_s > 0
        has_loop = any(loop.urls >= _LOOP_URLS for loop in loops) and _is_most(one, loops)
        if is_long or has_loop:
            why = _why(one, expected_s, loops, is_long=is_long)
            found.append(LongJob(one.job, one.ran_s, expected_s, loops, why))
    return sorted(found, key=lambda long: -long.ran_s)


def _expected(one: AllocatedJob, running: Sequence[AllocatedJob], done_s: Sequence[float]) -> float:
    if len(done_s) >= _ENOUGH:
        return median(done_s)
    others = [other.ran_s for other in running if other.kind == one.kind and other.job != one.job]
    both = [*done_s, *others]
    return median(both) if len(both) >= _ENOUGH - 1 else 0.0


def loops_of(progress: JobProgress | None) -> tuple[UrlLoop, ...]:
    """The patterns that a unit tells, or the one that most of its recent URLs have."""
    if progress is None:
        return ()
    if progress.loops:
        return tuple(sorted(progress.loops, key=lambda loop: -loop.urls))
    shapes = Counter(map(shape_of, progress.recent))
    if not shapes:
        return ()
    shape, count = shapes.most_common(1)[0]
    if "*" not in shape or count < max(5, 0.8 * len(progress.recent)):
        return ()
    example = next(url for url in progress.recent if shape_of(url) == shape)
    return (UrlLoop(pattern=shape, urls=0, fetched=count, example=example),)


def shape_of(url: str) -> str:
    """A URL with its numbers and values as `*`: the pattern that bans all like it."""
    parts = urlsplit(url)
    path = _VARIABLE.sub("*", parts.path)
    names = [pair.partition("=")[0] for pair in parts.query.split("&") if pair]
    query = "?" + "&".join(f"{name}=*" for name in names) if names else ""
    return re.sub(r"\*+", "*", f"{parts.scheme}://{parts.netloc}{path}{query}")


def _is_most(one: AllocatedJob, loops: Sequence[UrlLoop]) -> bool:
    progress = one.progress
    known = (progress.fetched + progress.queued) if progress else 0
    return bool(known) and loops[0].urls >= _LOOP_SHARE * known


def _why(one: AllocatedJob, expected_s: float, loops: Sequence[UrlLoop], *, is_long: bool) -> str:
    parts = []
    if is_long:
        parts.append(f"runs for {one.ran_s:,.0f} s, the median of others is {expected_s:,.0f} s")
    if loops:
        count = f"{loops[0].urls:,} URLs" if loops[0].urls else "most of the URLs fetched lately"
        parts.append(f"{count} of the form {loops[0].pattern}")
    elif one.progress is not None and one.progress.queued:
        parts.append(f"{one.progress.queued:,} URLs are queued")
    return "; ".join(parts)
