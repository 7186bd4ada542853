"""Which URLs look like a trap, or like a button that changes something?

Pure: told the URL and the settings, answers with a sentence or None. These rules look at one URL
alone; what a host does over many pages is the budgets' business.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from gossamer.records import Reason
from gossamer.settings import Frontier
from gossamer.urls.canonical import target_of

# A whole path segment or a whole value of a parameter: `/logout`, `?action=sign-off`. Words inside
# a longer name (`/how-to-logout.html`) are pages about it.
_UNSAFE: Final = re.compile(
    r"(?:^|[/?&=;])(?:log|sign)[-_]?(?:out|off)(?:\.\w{2,5})?(?=$|[/?&=;#])"
    r"|[?&](?:action|do|op|cmd)=(?:delete|remove|vote|rate|addtocart|add_to_cart|unsubscribe)\b",
    re.IGNORECASE,
)


def trap_in(url: str, limits: Frontier) -> tuple[Reason, str] | None:
    """The rule that a URL breaks, with a sentence for people, or None."""
    if len(url) > limits.max_url_chars:
        return Reason.TRAP, f"{len(url)} characters, more than frontier.max_url_chars"
    target = target_of(url)
    path, _, query = target.partition("?")
    if path.count("/") > min(limits.max_path_depth, limits.max_repeats):
        trap = _trap_in_path([segment for segment in path.split("/") if segment], limits)
        if trap is not None:
            return trap
    if query and query.count("&") >= limits.max_query_parameters:
        return Reason.TRAP, f"{query.count('&') + 1} parameters in the query"
    if limits.avoid_unsafe and _may_be_unsafe(target) and _UNSAFE.search(target):
        return Reason.UNSAFE, "the link may change something on the server"
    return None


def _trap_in_path(segments: list[str], limits: Frontier) -> tuple[Reason, str] | None:
    if len(segments) > limits.max_path_depth:
        return Reason.TRAP, f"{len(segments)} path segments, more than frontier.max_path_depth"
    # One that stands n times leaves n - 1 fewer different ones; counting takes ten times as long.
    if len(segments) - len(set(segments)) >= limits.max_repeats:
        segment, times = Counter(segments).most_common(1)[0]
        if times > limits.max_repeats:
            return Reason.TRAP, f"segment {segment[:40]!r} occurs {times} times in the path"
    return None


def _may_be_unsafe(target: str) -> bool:
    """Whether it has what every match of `_UNSAFE` has: to look for that takes a tenth as long."""
    lower = target.lower()
    return "out" in lower or "off" in lower or "=" in lower
