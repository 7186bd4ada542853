"""Anchor text and context of links, for orders that look at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gossamer.policies.contexts import contexts_of
from gossamer.records import Edge, Found

MOST_CHARS: Final = 200  # of an anchor text


def link_texts(
    text: str, edges: Sequence[Edge], found: Sequence[Found]
) -> tuple[tuple[str, str], ...]:
    """Anchor and context of the first link to each of `found`. `text` is that of the page."""
    anchors = {edge.key: edge.text for edge in reversed(edges)}
    ordered = [anchors.get(one.key, "") for one in found]
    contexts = contexts_of(text, ordered)
    return tuple(
        (anchor[:MOST_CHARS], near) for anchor, near in zip(ordered, contexts, strict=True)
    )
