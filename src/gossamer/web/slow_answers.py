"""A cache for answers that take long to compute: each is computed once and returned to all.

An answer is computed again when its source has changed, but not before ten times its computing time
has passed: a graph that grows all day uses at most a tenth of one core. One answer is computed at a
time, since each may need a quarter of a gigabyte. A few requests may wait for it; others are
refused, because a waiting request holds a thread that a search could use.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from gossamer.base.clock import Clock
from gossamer.errors import GossamerError

Answered = TypeVar("Answered")

_MOST_KEPT: Final = 24
_MOST_WAITING: Final = 6
_REST: Final = 10  # times as long as it took


class TooBusy(GossamerError):
    """Too many requests wait for slow answers."""


@dataclass(frozen=True, slots=True)
class _Kept:
    stamp: object
    until_s: float
    made: Any


class SlowAnswers:
    """The cached answers, the most recently used last."""

    def __init__(self, clock: Clock, most_waiting: int = _MOST_WAITING) -> None:
        self._clock = clock
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._making = threading.Lock()
        self._waiting = threading.Semaphore(most_waiting)

    def get(self, key: Hashable, stamp: object, make: Callable[[], Answered]) -> Answered:
        """Return the answer `key`; `stamp` changes with its source. Raises TooBusy."""
        kept = self._kept.get(key)
        if kept is None or not self._will_do(kept, stamp):
            if not self._waiting.acquire(blocking=False):
                raise TooBusy("the server is busy with other tables; try again later")
            try:
                with self._making:
                    kept = self._make(key, stamp, make)
            finally:
                self._waiting.release()
        made: Answered = kept.made
        return made

    def _will_do(self, kept: _Kept, stamp: object) -> bool:
        return kept.stamp == stamp or self._clock.now_s() < kept.until_s

    def _make(self, key: Hashable, stamp: object, make: Callable[[], object]) -> _Kept:
        kept = self._kept.get(key)
        if kept is not None and self._will_do(kept, stamp):  # computed in the meantime
            return kept
        began_s = self._clock.now_s()
        made = make()
        now_s = self._clock.now_s()
        kept = self._kept[key] = _Kept(stamp, now_s + _REST * (now_s - began_s), made)
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return kept
