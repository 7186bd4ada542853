"""Format numbers and outcomes for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gossamer.base.answer_class import AnswerClass
from gossamer.base.plurals import counted
from gossamer.cli.show.colours import painted
from gossamer.fetch.request import hidden
from gossamer.node.session import CrawlPlan


def reasons_text(counts: dict[str, int]) -> str:
    """`robots 12, scope 3`, the most common first."""
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{reason} {count}" for reason, count in ordered)


_NOUNS: Final[dict[str, tuple[str, str]]] = {
    AnswerClass.SUCCESS: ("success", "successes"),
    AnswerClass.REDIRECT: ("redirect", "redirects"),
    AnswerClass.CLIENT_ERROR: ("client error", "client errors"),
    AnswerClass.SERVER_ERROR: ("server error", "server errors"),
    AnswerClass.OTHER_STATUS: ("unusual status", "unusual statuses"),
}
_ALWAYS: Final = (AnswerClass.SUCCESS, AnswerClass.CLIENT_ERROR, AnswerClass.SERVER_ERROR)


def answers_text(by_class: Mapping[str, int], *, is_coloured: bool = False) -> str:
    """`120 successes (2xx), 19 client errors (4xx), 0 server errors (5xx)`: the responses by status
    class. Error classes are listed even if their count is 0."""
    parts = []
    for one, nouns in _NOUNS.items():
        count = by_class.get(one, 0)
        if count or one in _ALWAYS:
            text = (
                f"{counted(count, *nouns)} ({one})"
                if one.endswith("xx")
                else counted(count, *nouns)
            )
            parts.append(painted(text, one, is_on=is_coloured and count > 0))
    return ", ".join(parts)


def change_text(plan: CrawlPlan, key: str, old: object, new: object) -> str:
    """`--delay is 0.5 (was 1.0)`: a setting that differs from the last run, by its typed name.
    Credentials are not shown."""
    name = plan.typed_as.get(key, key)
    return f"{name} is {_value_text(key, new)} (was {_value_text(key, old)})"


def _value_text(key: str, value: object) -> str:
    if isinstance(value, tuple):
        shown = map(hidden, value) if key == "fetch.headers" else map(str, value)
        return ", ".join(shown) or "empty"
    return repr(value)


def harvest_text(focus: Mapping[str, Any]) -> str:
    """`312 of 460 pages relevant (harvest rate 68 %)`, of a crawl for a topic."""
    relevant, judged = focus["relevant"], focus["judged"]
    return f"{relevant:,} of {counted(judged, 'page')} relevant ({focus['harvest_rate']:.0%})"


def retry_text(urls: int, in_s: float) -> str:
    """`retrying 1 URL in 20 s`: shown if only retries are left."""
    when = f"in {in_s:.0f} s" if in_s >= 1 else "now"
    return f"retrying {counted(urls, 'URL')} {when}"
