"""A cache for answers that many clients need at once and that may be a moment old.

Five live views of one crawl make the same five requests per second; the cache computes the answer
once and returns it to all of them. For answers that take long to compute see `slow_answers.py`.

The time is an argument. A caller waits only for another caller that computes the same answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

Made = TypeVar("Made")

_MOST_KEPT: Final = 200  # answers; a client could request any number of crawls that do not exist


@dataclass(slots=True)
class _Kept:
    making: threading.Lock = field(default_factory=threading.Lock)
    until_s: float = float("-inf")
    made: Any = None


@dataclass(slots=True)
class BriefCache:
    """Recent answers by key."""

    _kept: dict[Hashable, _Kept] = field(default_factory=dict)
    _looking: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Hashable, now_s: float, keep_s: float, make: Callable[[], Made]) -> Made:
        """Return what `make` gives, or gave within the last `keep_s` seconds."""
        with self._looking:
            if len(self._kept) >= _MOST_KEPT and key not in self._kept:
                self._kept.clear()
            kept = self._kept.setdefault(key, _Kept())
        with kept.making:
            if now_s >= kept.until_s:
                kept.made = make()
                kept.until_s = now_s + keep_s
            made: Made = kept.made
        return made
