"""How many links to a queued URL were found so far?

Kept only for an order that asks for it, in memory: a restart begins again at 1 for each URL. A URL
that was found once needs no entry, and of the others the least linked ones go when memory is full.
"""

from __future__ import annotations

from typing import Final

_MOST: Final = 1_000_000  # entries, at 100 bytes each


class LinkCounts:
    """Counts of links by the key of their target."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._counts: dict[bytes, int] = {}

    def of(self, key: bytes) -> int:
        """The links to a URL; 1 where nothing is known."""
        return self._counts.get(key, 1)

    def add(self, key: bytes, links: int = 1) -> bool:
        """More links to a URL were found; whether its count has doubled since it was last said so.

        So a URL with many links is scored again a few times, not once for each link."""
        before = self.of(key)
        after = self._counts[key] = before + links
        if len(self._counts) > self._most:
            self._drop_least()
        return after.bit_length() > before.bit_length()

    def drop(self, key: bytes) -> None:
        """A URL has left the queue."""
        self._counts.pop(key, None)

    def _drop_least(self) -> None:
        kept = sorted(self._counts.items(), key=lambda item: item[1], reverse=True)
        self._counts = dict(kept[: self._most // 2])
