"""Limits of requests per unit, and of wrong secrets per address. Pure.

A unit may send a burst of requests, and a number per second in the long run. Memory is bounded by
the number of units.
"""

from __future__ import annotations


class RequestRates:
    """A bucket of requests per unit that fills with time."""

    def __init__(self, per_s: float, burst: int) -> None:
        self._per_s = per_s
        self._burst = float(burst)
        self._left: dict[str, tuple[float, float]] = {}  # unit -> requests left, at which time

    def take(self, unit: str, now_s: float) -> float:
        """Count a request. Return 0, or the seconds until the next one is allowed."""
        left, at_s = self._left.get(unit, (self._burst, now_s))
        left = min(self._burst, left + (now_s - at_s) * self._per_s)
        if left < 1:
            self._left[unit] = (left, now_s)
            return (1 - left) / self._per_s
        self._left[unit] = (left - 1, now_s)
        return 0.0

    def forget(self, unit: str) -> None:
        self._left.pop(unit, None)


class BodyRoom:
    """The memory for bodies that are being received, of all units together."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes

    def take(self, size: int) -> bool:
        """Reserve room; False if there is none. The caller gives it back with `free`."""
        if size > self._left:
            return False
        self._left -= size
        return True

    def free(self, size: int) -> None:
        self._left += size
