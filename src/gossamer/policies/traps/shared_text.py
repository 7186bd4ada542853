"""What several workers know of one host, joined.

Each worker compares a page with those that it fetched itself. So a page that another worker has
seen looks new to it. Its report has numbers of the text and of the words that were new to the
worker; the node keeps those of all workers, and corrects the grade.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection
from itertools import islice
from typing import Final
from zlib import crc32

from gossamer.policies.traps.grades import News

_MOST_WORDS: Final = 500  # of a page
_MAX_NUMBERS: Final = 300_000  # of all hosts, 60 bytes each, and as many of the time before


def numbers_of(text: bytes, words: Collection[bytes]) -> bytes:
    """32 bits of a text, and of words."""
    return array("I", [crc32(text), *map(crc32, islice(words, _MOST_WORDS))]).tobytes()


class SharedText:
    """The numbers of all workers, by host."""

    def __init__(self, max_numbers: int = _MAX_NUMBERS) -> None:
        self._max_numbers = max_numbers
        self._hosts: dict[bytes, set[int]] = {}
        self._before: dict[bytes, set[int]] = {}
        self._count = 0

    def settle(self, host_key: bytes, news: News, numbers: bytes) -> News:
        """The grade of a page, by what all workers know."""
        if not numbers:
            return news
        known = self._hosts.get(host_key)
        if known is None:
            known = self._hosts[host_key] = self._before.pop(host_key, set())
            self._count += len(known)
        page, *words = array("I", numbers)
        is_repeated = page in known
        is_new = not known.issuperset(words)
        before = len(known)
        known.add(page)
        known.update(words)
        self._count += len(known) - before
        if self._count > self._max_numbers:
            self._before, self._hosts, self._count = self._hosts, {}, 0
        if news not in (News.NEW, News.KNOWN):
            return news
        if is_repeated:
            return News.REPEATED
        return news if is_new else News.KNOWN
