"""The context of links: the text before and after them.

It is found again in the text of the page by the anchor, in the order of the links, so that the
parser has nothing to do for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

CONTEXT_CHARS: Final = 60  # on each side of a link: some eight words
_LEAST_ANCHOR: Final = 3  # characters; shorter ones stand anywhere
_NO_CONTEXT: Final = ""


def contexts_of(text: str, anchors: Sequence[str]) -> list[str]:
    """The text around each link; empty for one that is not found again. `anchors` are in the
    order of the page."""
    at = 0
    contexts = []
    for anchor in anchors:
        found = text.find(anchor, at) if len(anchor) >= _LEAST_ANCHOR else -1
        if found < 0:
            contexts.append(_NO_CONTEXT)
            continue
        at = found + len(anchor)
        before = text[max(0, found - CONTEXT_CHARS) : found]
        after = text[at : at + CONTEXT_CHARS]
        contexts.append(f"{_whole(before, is_end=True)} {_whole(after, is_end=False)}")
    return contexts


def _whole(text: str, *, is_end: bool) -> str:
    """The text without the part of a word at its far end."""
    if len(text) < CONTEXT_CHARS:
        return text
    return text.partition(" ")[2] if is_end else text.rpartition(" ")[0]
