"""Texts as hashed words: what a focused crawl knows of a page and of a link.

A word has a number from 0 to `BUCKETS` - 1. Two words may share one; with 2^18 numbers that is rare
enough not to matter, and no dictionary has to be kept or sent. The words of a page are one array of
32-bit numbers, one for each different word: the number of the word, and in the lowest 8 bits how
often it occurs. So they are small, and travel as bytes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]  # of one page
LinkWords = NDArray[np.int32]  # a row for each link, filled with NO_WORD

BUCKETS: Final = 2**18
NO_WORD: Final = BUCKETS  # in the place of a word; columns by word have an entry for it, which is 0
LINK_WORDS: Final = 8  # of the anchor and the URL, and as many of the context
# 6,000 characters are about 900 words: what a long article is about is said by then.
MAX_CHARS: Final = 6_000
_MAX_COUNT: Final = 255
_NINE: Final = ord("9")
# Words are cut out of UTF-8: that takes a third of the time of a regular expression. ASCII that is
# no letter or digit ends a word, and so does what people use for quotes and dashes.
_BREAKS: Final = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() else ord(" ") for byte in range(256)
)
# The same for a text that is nearly all ASCII: other bytes end a word, and letters become small.
_LATIN: Final = bytes(
    ord(chr(byte).lower()) if byte < 0x80 and chr(byte).isalnum() else ord(" ")
    for byte in range(256)
)
_FOREIGN: Final = 50  # at most one of so many bytes, for that
_MARKS: Final = tuple(mark.encode() for mark in "\u00a0«»·–—‘’“”…、。，")
# Scripts without spaces: two characters that follow each other are a word.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]{2,}")
_UNSPACED_LEADS: Final = bytes(range(0xE3, 0xEA)) + b"\xe0"  # first bytes of their characters


class WordHasher:
    """Turns texts into numbers. It keeps nothing: to compute the number of a word again takes less
    time than to find it in a large dictionary, which is never in the cache of the processor."""

    def page(self, title: str, text: str) -> Words:
        """The words of a page."""
        counts = Counter(_words_in(f"{title}\n{text[:MAX_CHARS]}"))
        # What `_is_word` says, without a call for each word of ASCII.
        others = [
            word
            for word in counts
            if word[0] <= _NINE or len(word) == 1 or (word[0] >= 0x80 and not _is_word(word))
        ]
        for other in others:
            del counts[other]
        many = len(counts)
        words = np.fromiter(map(crc32, counts), np.uint32, many) & np.uint32(BUCKETS - 1)
        times = np.fromiter(counts.values(), np.uint32, many)
        packed: Words = (words << np.uint32(8)) | np.minimum(times, np.uint32(_MAX_COUNT))
        return packed

    def link(self, anchor: str, url: str) -> list[int]:
        """The first different words of an anchor, then those of the path of a URL."""
        return self.context(f"{anchor} {_path_words(url)}")

    def context(self, text: str) -> list[int]:
        """The first different words of a text, such as the one around a link."""
        words = [crc32(word) % BUCKETS for word in _words_in(text) if _is_word(word)]
        return list(dict.fromkeys(words))[:LINK_WORDS]


def _is_word(word: bytes) -> bool:
    """Numbers, and single letters of any script, are no words. The other bytes below 0x3A end a
    word."""
    first = word[0]
    return first > _NINE and len(word) > 1 and (first < 0x80 or len(word) > 4 or _has_two(word))


def _has_two(word: bytes) -> bool:
    return len(word.decode("utf-8", "replace")) > 1


def _words_in(text: str) -> list[bytes]:
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) - len(text) <= len(text) // _FOREIGN:  # a few dashes and accents
        return raw.translate(_LATIN).split()
    text = text.lower()
    raw = text.encode("utf-8", "surrogatepass")
    for mark in _MARKS:
        raw = raw.replace(mark, b" ")
    words = raw.translate(_BREAKS).split()
    if len(raw.translate(None, _UNSPACED_LEADS)) < len(raw):
        words += _pairs(text)
    return words


def link_rows(lists: Iterable[list[int]], many: int) -> LinkWords:
    """Lists of words of links as rows of one length."""
    rows: LinkWords = np.full((many, LINK_WORDS), NO_WORD, np.int32)
    for row, words in zip(rows, lists, strict=True):
        row[: len(words)] = words
    return rows


def numbers_of(words: Words) -> NDArray[np.intp]:
    """The number of each different word of a page."""
    numbers: NDArray[np.intp] = (words >> np.uint32(8)).astype(np.intp)
    return numbers


def weights_of(words: Words) -> NDArray[np.float32]:
    """How much each word of a page counts: 1 + ln(times)."""
    weights: NDArray[np.float32] = _WEIGHT[words & np.uint32(_MAX_COUNT)]
    return weights


_WEIGHT: Final = np.array(
    [0.0, *(1.0 + math.log(times) for times in range(1, _MAX_COUNT + 1))], np.float32
)


def _path_words(url: str) -> str:
    """The path and query of a URL as words."""
    rest = url.partition("://")[2]
    path = rest.partition("/")[2] or rest
    return unquote(path)


def _pairs(text: str) -> list[bytes]:
    runs = _UNSPACED.findall(text)
    return [run[at : at + 2].encode() for run in runs for at in range(len(run) - 1)]
