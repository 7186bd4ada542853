"""What a worker tells the node of a page: its words, and those of its links to new URLs.

4 bytes      number of words of the page
4 bytes      relevance by a plug-in, as a float; -1 where our judge is to say it
4 bytes each words of the page (`words.py`)
64 bytes     for each new URL in the order of the report: words of anchor and URL, words around
             the link
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from gossamer.policies.contexts import contexts_of
from gossamer.policies.focus.words import (
    BUCKETS,
    LINK_WORDS,
    LinkWords,
    WordHasher,
    Words,
    link_rows,
)

_HEAD: Final = struct.Struct("<If")
NOT_JUDGED: Final = -1.0


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
