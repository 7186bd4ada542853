"""How long to wait before the next request to the hub."""

from __future__ import annotations

import random
import threading
from typing import Final

_FIRST_S: Final = 1.0
_MOST_S: Final = 60.0
_JITTER: Final = 0.1


class Backoff:
    """Waits that double after each failure, up to a minute, and are spread at random, so that the
    units of a hub that was away do not return all at once."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)  # noqa: S311  # not a secret
        self.failures = 0

    def next_s(self, at_least_s: float = 0.0) -> float:
        """Seconds to wait after one more failure."""
        most_s = min(_MOST_S, _FIRST_S * 2.0 ** min(self.failures, 20))
        self.failures += 1
        return max(at_least_s, 0.1) + self._random.uniform(0.0, most_s)

    def succeeded(self) -> None:
        self.failures = 0

    def spread(self, wait_s: float) -> float:
        """A usual wait, up to a tenth shorter or longer."""
        return wait_s * self._random.uniform(1.0 - _JITTER, 1.0 + _JITTER)

    def wait(self, at_least_s: float = 0.0) -> None:
        """Block for the next wait."""
        threading.Event().wait(self.next_s(at_least_s))
