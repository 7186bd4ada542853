"""Match the brackets and quotation marks of a query.

Those without a partner are not syntax. They are removed before the query is parsed, so that the
words around them are read as if they were not there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class Balanced(NamedTuple):
    """A query whose brackets and quotation marks have partners, and what was removed."""

    text: str
    has_open_quote: bool
    has_open_bracket: bool
    has_stray_close: bool
    is_too_deep: bool


@dataclass(slots=True)
class _Scan:
    lone: set[int]  # positions of characters without a partner
    has_open_quote: bool = False
    has_open_bracket: bool = False
    has_stray_close: bool = False
    is_too_deep: bool = False


def end_of_word(text: str, start: int) -> int:
    """A word ends at a space, a quotation mark, or a bracket that it did not open."""
    opened = 0
    for at in range(start, len(text)):
        char = text[at]
        if char.isspace() or char == '"' or (char == ")" and not opened):
            return at
        opened += (char == "(") - (char == ")")
    return len(text)


def balanced(text: str, max_depth: int, field_end: Callable[[int], int]) -> Balanced:
    """The query without unmatched characters, in one pass.

    `field_end` returns the end of the `title:` at a position, or the position itself if there is
    none. Brackets deeper than `max_depth` count as unmatched.
    """
    scan, opened, at = _Scan(set()), list[int](), 0
    while at < len(text):
        char = text[at]
        if char == '"':
            closed = text.find('"', at + 1)
            if closed < 0:
                scan.lone.add(at)
                scan.has_open_quote = True
                closed = at
            at = closed + 1
        elif char == "(":
            opened.append(at)
            at += 1
        elif char == ")":
            _close(scan, opened, at, max_depth)
            at += 1
        elif char.isspace() or char == "-":
            at += 1
        else:
            after = field_end(at)
            at = after if after > at else end_of_word(text, at)
    scan.has_open_bracket = bool(opened)
    scan.lone.update(opened)
    return Balanced(
        _without(text, scan.lone),
        scan.has_open_quote,
        scan.has_open_bracket,
        scan.has_stray_close,
        scan.is_too_deep,
    )


def _close(scan: _Scan, opened: list[int], at: int, max_depth: int) -> None:
    if not opened:
        scan.lone.add(at)
        scan.has_stray_close = True
        return
    start = opened.pop()
    if len(opened) >= max_depth:
        scan.lone.update((start, at))
        scan.is_too_deep = True


def _without(text: str, lone: set[int]) -> str:
    """Replace each by a space, so that words stay separate; by nothing after `title:` or `-`, which
    would otherwise stand alone.
    """
    if not lone:
        return text
    kept: list[str] = []
    for at, char in enumerate(text):
        if at not in lone:
            kept.append(char)
        elif char == ")" or not kept or kept[-1] not in ":-":
            kept.append(" ")
    return "".join(kept)
