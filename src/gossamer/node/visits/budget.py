"""The number of visits that may wait at a moment.

Few, so that the policy decides late; enough, so that no host and no second of the budget is idle.

With a rate for the whole crawl, two seconds of it may wait. Without one, politeness is the limit,
and nobody knows it beforehand: a host may have as many visits waiting as twice what it answered in
the last second, and some. So the number doubles each second until the host is busy.

Pure: told what ended.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

_RATE_S: Final = 2.0  # of the rate that may wait
_FEW: Final = 4  # visits that may wait at an idle host
_FEW_IN_ALL: Final = 64
_MOST: Final = 20_000


class VisitBudget:
    """Visits that may wait, by what ended in the last turn. `requests_per_s` 0: no such limit."""

    def __init__(self, requests_per_s: float) -> None:
        self._rate = requests_per_s
        self._ended: Counter[bytes] = Counter()  # by host, in this turn
        self._before: Counter[bytes] = Counter()

    def ended(self, host_key: bytes) -> None:
        """A visit ended."""
        self._ended[host_key] += 1

    def next_turn(self) -> None:
        """A second has passed."""
        self._before, self._ended = self._ended, Counter()

    def room(self, waiting: int) -> int:
        """How many more may wait in all."""
        if self._rate:
            return max(1, math.ceil(_RATE_S * self._rate)) - waiting
        return min(_MOST, _FEW_IN_ALL + 2 * self._before.total()) - waiting

    def room_at(self, host_key: bytes) -> int:
        """How many may wait at a host."""
        if self._rate:
            return max(1, math.ceil(_RATE_S * self._rate))
        return _FEW + 2 * self._before[host_key]
