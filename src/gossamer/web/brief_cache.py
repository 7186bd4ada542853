"""Answers that many ask for at once, and that are as good when they are a moment old.

Five live views of one crawl ask the same five questions a second; one of them is answered, and the
others are told what it was told. For answers that take long to make see `slow_answers.py`.

Told the time; waits for nothing but the one who makes the same answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

Made = TypeVar("Made")

_MOST_KEPT: Final = (
    200  # answers; whoever watches crawls that are not there could ask for any number
)


@dataclass(slots=True)
class _Kept:
    making: threading.Lock = field(default_factory=threading.Lock)
    until_s: float = float("-inf")
    made: Any = None


@dataclass(slots=True)
class BriefCache:
    """What was told lately, by what was asked."""

    _kept: dict[Hashable, _Kept] = field(default_factory=dict)
    _looking: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Hashable, now_s: float, keep_s: float, make: Callable[[], Made]) -> Made:
        """What `make` gives, or gave within the last `keep_s` seconds."""
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
