"""The terminal view of a running crawl: a few lines, none wider than the terminal.

    Running for 0:12 · 76 of 150 pages · 12.3 pages/s · 340.2 kB/s · about 6 s left
    2xx 70 · 3xx 4 · 4xx 6 · 5xx 0 · failed 1 · refused 13 · reasons: robots 10, scope 3, timeout 1
    120 URLs queued · 1 request in flight · 1 host waiting
      example.org: 120 queued, next request in 0.6 s (delay)
    Last
      200 https://example.org/guide/
      404 https://example.org/a-very-long-…-name.html

Items are never truncated: a full line continues below. URLs are shortened in the middle. Pure: the
moment and the size of the terminal are arguments. A line is a list of pieces, each a text and its
Rich style.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.cells import cell_len

from gossamer.base.answer_class import AnswerClass, class_of
from gossamer.base.plurals import counted
from gossamer.base.sizes import size_text
from gossamer.cli.show.colours import STYLES
from gossamer.cli.show.printable import printable
from gossamer.cli.show.text import harvest_text, reasons_text, retry_text
from gossamer.node.figures.moment import CrawlMoment, Recent
from gossamer.node.figures.progress import Progress
from gossamer.schedule.holdups import Holdup

StyledText = tuple[str, str]
ScreenLine = list[StyledText]

_SEPARATOR: Final = " · "
_INDENT: Final = "  "
_LEAST_WIDTH: Final = 20
_ALWAYS: Final = (AnswerClass.SUCCESS, AnswerClass.CLIENT_ERROR, AnswerClass.SERVER_ERROR)
_CLASSES: Final = tuple(one for one in AnswerClass if one != AnswerClass.QUEUED)


def view(moment: CrawlMoment, width: int, height: int) -> list[ScreenLine]:
    """Return at most `height` lines; the least important ones are left out first."""
    width = max(width, _LEAST_WIDTH)
    progress = moment.progress
    lines = [
        *flow(_first(moment), width),
        *flow(_answers(progress), width),
        *flow(_queue(moment), width),
    ]
    for text in reasons_to_wait(moment):
        lines += _hanging(text, width)
    room = height - len(lines) - 1
    if moment.recent and room > 0:
        lines.append([("Last", "dim")])
        lines += [_recent(one, width) for one in moment.recent[-room:]]
    return lines[:height]


def reasons_to_wait(moment: CrawlMoment) -> list[str]:
    """Return the hosts that hold the crawl up, and why; if there are none, other problems."""
    progress = moment.progress
    if progress.state != "running" or moment.closed_hours:
        return []
    if moment.holdups:
        return [holdup_text(holdup) for holdup in moment.holdups]
    return [printable(one) for one in progress.troubles[:3]] if not progress.pages_per_s else []


def headline(moment: CrawlMoment) -> list[StyledText]:
    """Return the items of the first lines, for a log without a terminal."""
    return [*_first(moment), *_answers(moment.progress), *_queue(moment)]


# -- the items


def _first(moment: CrawlMoment) -> list[StyledText]:
    progress = moment.progress
    items = [_state(moment), _pages(moment)]
    if moment.limits.max_matches:
        items.append((f"{moment.matches:,} of {moment.limits.max_matches:,} matches", "bold"))
    if moment.limits.threshold:
        items.append((counted(progress.hot, "hot page"), "bold"))
    if progress.evicted:
        items.append((f"{progress.evicted:,} left for better ones", ""))
    items.append((f"{progress.pages_per_s:.1f} pages/s", ""))
    size = f"{size_text(progress.bytes_per_s)}/s"
    if moment.limits.max_bytes:
        size = f"{size_text(progress.bytes)} of {size_text(moment.limits.max_bytes)}, {size}"
    items.append((size, ""))
    left = moment.seconds_left()
    if left is not None:
        seconds, is_known = left
        items.append((f"{'about' if is_known else 'at least'} {span_text(seconds)} left", ""))
    return items


def _state(moment: CrawlMoment) -> StyledText:
    progress = moment.progress
    if progress.state == "paused":
        return "PAUSED (resume with `gossamer resume`)", "bold yellow"
    if progress.state == "stopping":
        doing = "Stopping" if progress.under_way else "Finishing: writing links, index and ranks"
        return doing, "bold yellow"
    if moment.closed_hours:
        return f"Waiting for the hours {moment.closed_hours}", "bold yellow"
    return f"Running for {clock_text(progress.wall_s)}", "bold"


def _pages(moment: CrawlMoment) -> StyledText:
    fetched, most = moment.progress.fetched, moment.limits.max_pages
    return f"{fetched:,} of {counted(most, 'page')}" if most else counted(fetched, "page"), "bold"


def _answers(progress: Progress) -> list[StyledText]:
    items: list[StyledText] = []
    for one in _CLASSES:
        count = progress.by_class.get(one, 0)
        if count or one in (*_ALWAYS, AnswerClass.FAILED, AnswerClass.REFUSED):
            items.append((f"{one} {count:,}", STYLES[one] if count else "dim"))
    if progress.refused_by:
        items.append((f"reasons: {reasons_text(progress.refused_by)}", "dim"))
    return items


def _queue(moment: CrawlMoment) -> list[StyledText]:
    progress = moment.progress
    items: list[StyledText] = []
    if progress.retrying:
        items.append((retry_text(progress.retrying, progress.retry_in_s), "bold yellow"))
    items += [
        *_harvest(progress.focus),
        *_visits(progress.visited),
        (f"{counted(progress.queued, 'URL')} queued", STYLES[AnswerClass.QUEUED]),
        (f"{counted(progress.under_way, 'request')} in flight", ""),
        (f"{counted(progress.hosts_waiting, 'host')} waiting", ""),
    ]
    return items


def _harvest(focus: Mapping[str, Any] | None) -> list[StyledText]:
    """Of a crawl for a topic: how many of its pages are relevant."""
    return [(harvest_text(focus), "bold")] if focus else []


def _visits(visited: Mapping[str, int]) -> list[StyledText]:
    """What visits of known pages have found, while some wait or this run made some."""
    if not visited.get("revisits"):
        return []
    names = ("unchanged", "changed", "gone", "missed")
    found = ", ".join(f"{visited[name]:,} {name}" for name in names if visited.get(name))
    waiting = f"{counted(visited['revisits'], 'page')} to visit again"
    return [(f"{waiting} ({found})" if found else waiting, STYLES[AnswerClass.QUEUED])]


def holdup_text(holdup: Holdup) -> str:
    """`example.org: 120 queued, next request in 0.6 s (delay)`."""
    if holdup.wait_s is not None:
        soon = f"in {span_text(holdup.wait_s)}" if holdup.wait_s else "now"
        when = f"next request {soon} ({holdup.why})"
    else:
        when = holdup.why
    return printable(f"{holdup.host}: {holdup.queued:,} queued, {when}")


def _recent(one: Recent, width: int) -> ScreenLine:
    kind = class_of(one.outcome, one.status)
    mark = str(one.status) if one.outcome == "fetched" else f"{one.outcome} ({one.reason})"
    mark = shortened(mark, width - len(_INDENT) - 2)
    room = width - len(_INDENT) - cell_len(mark) - 1
    return [(_INDENT, ""), (mark, STYLES[kind]), (f" {shortened(printable(one.url), room)}", "")]


# -- times


def clock_text(seconds: float) -> str:
    """`0:07`, `12:30`, `2:03:04`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def span_text(seconds: float) -> str:
    """`0.6 s`, `45 s`, `12 min`, `3.5 h`, `2.1 days`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"


# -- lines


def flow(items: Sequence[StyledText], width: int) -> Iterator[ScreenLine]:
    """Join items with dots, on as many lines as they need. An item wider than a line is wrapped at
    its words."""
    line: ScreenLine = []
    used = 0
    for text, style in items:
        for number, part in enumerate(wrapped(text, width)):
            gap = cell_len(_SEPARATOR) if line else 0
            if line and (number or used + gap + cell_len(part) > width):
                yield line
                line, used, gap = [], 0, 0
            if gap:
                line.append((_SEPARATOR, "dim"))
            line.append((part, style))
            used += gap + cell_len(part)
    if line:
        yield line


def _hanging(text: str, width: int) -> Iterator[ScreenLine]:
    """Yield a text on its own indented lines."""
    for part in wrapped(text, width - len(_INDENT)):
        yield [(_INDENT, ""), (part, "")]


def wrapped(text: str, width: int) -> list[str]:
    """Wrap the text at spaces to lines of at most `width` cells; a longer word is broken."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        pieces = _broken(word, width)
        lines = (
            [*lines, *pieces] if lines[-1] else pieces if len(lines) == 1 else lines[:-1] + pieces
        )
    return lines


def _broken(word: str, width: int) -> list[str]:
    pieces = [""]
    for char in word:
        if cell_len(pieces[-1] + char) > width:
            pieces.append("")
        pieces[-1] += char
    return pieces


def shortened(text: str, width: int) -> str:
    """Shorten a text wider than `width` cells with an ellipsis in the middle."""
    if cell_len(text) <= width:
        return text
    room = max(width - 1, 0)
    return f"{_fitting(text, room - room // 2)}…{_fitting(text[::-1], room // 2)[::-1]}"


def _fitting(text: str, width: int) -> str:
    """Return the beginning of a text that fits."""
    used = 0
    for number, char in enumerate(text):
        used += cell_len(char)
        if used > width:
            return text[:number]
    return text
