"""What a worker tells the node of a page: its words, and those of its links to new URLs.

    4 bytes      number of words of the page
    4 bytes      relevance by a plug-in, as a float; -1 where our judge is to say it
    4 bytes each words of the page (`words.py`)
    64 bytes     for each new URL in the order of the report: words of anchor and URL, words around
                 the link

The context of a link is the text before and after it. It is found again in the text of the page by
the anchor, in the order of the links, so that the parser has nothing to do for it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from gossamer.policies.focus.words import (
    BUCKETS,
    LINK_WORDS,
    LinkWords,
    WordHasher,
    Words,
    link_rows,
)

CONTEXT_CHARS: Final = 60  # on each side of a link: some eight words
_LEAST_ANCHOR: Final = 3  # characters; shorter ones stand anywhere
_HEAD: Final = struct.Struct("<If")
NOT_JUDGED: Final = -1.0
_NO_CONTEXT: Final = ""


class PageWords(NamedTuple):
    """The words of a page and of its links to new URLs."""

    page: Words
    links: LinkWords
    contexts: LinkWords
    relevance: float = NOT_JUDGED  # by a plug-in

    def pack(self) -> bytes:
        rows = np.concatenate((self.links, self.contexts), axis=1).astype("<i4")
        return b"".join(
            (
                _HEAD.pack(len(self.page), self.relevance),
                self.page.astype("<u4").tobytes(),
                rows.tobytes(),
            )
        )

    @classmethod
    def unpack(cls, raw: bytes) -> PageWords:
        """Raises ValueError for other bytes."""
        many, relevance = _HEAD.unpack_from(raw)
        start = _HEAD.size + 4 * many
        page = np.frombuffer(raw, "<u4", many, _HEAD.size)
        rows = np.frombuffer(raw, "<i4", -1, start).reshape(-1, 2 * LINK_WORDS)
        if len(page) and int(page.max()) >> 8 >= BUCKETS:
            raise ValueError("a word is out of range")
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) <= BUCKETS:
            raise ValueError("a word of a link is out of range")
        return cls(page, rows[:, :LINK_WORDS], rows[:, LINK_WORDS:], relevance)


def words_of_links(
    hasher: WordHasher, text: str, anchors: Sequence[str], urls: Iterable[str]
) -> tuple[LinkWords, LinkWords]:
    """The words of links, and those around them, in the order of the page."""
    many = len(anchors)
    words = [hasher.link(anchor, url) for anchor, url in zip(anchors, urls, strict=True)]
    around = [hasher.context(context) for context in contexts_of(text, anchors)]
    return link_rows(words, many), link_rows(around, many)


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
