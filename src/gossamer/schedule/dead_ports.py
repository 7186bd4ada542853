"""Dead ports: a host that answers on one port may not answer on another.

Without this, one link to a closed port would delay all pages of its host. An origin (scheme, host
and port) that was never reached, of a host that has answered elsewhere, is doubted: its URLs wait
by themselves while the host goes on, and fail when it was tried as often as a host would be.

Kept by this process only: the next one tries each origin once more.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from gossamer.politeness.retry import wait_before_retry
from gossamer.records import Reason
from gossamer.settings import Politeness

_MOST: Final = 10_000  # origins


@dataclass(frozen=True, slots=True)
class Doubt:
    """`until_us` is the wall time of the next try; None: there is none."""

    faults: int
    until_us: int | None
    detail: str


class DeadPorts:
    """The origins that are doubted."""

    def __init__(self, politeness: Politeness) -> None:
        self._politeness = politeness
        self._doubts: OrderedDict[str, Doubt] = OrderedDict()

    def blame(self, origin: str, detail: str, now_us: int) -> None:
        """It could not be connected to."""
        before = self._doubts.pop(origin, None)
        faults = before.faults + 1 if before else 1
        wait_s = wait_before_retry(Reason.CONNECT, faults - 1, self._politeness)
        until_us = None if wait_s is None else now_us + round(wait_s * 1e6)
        self._doubts[origin] = Doubt(faults, until_us, detail)
        if len(self._doubts) > _MOST:
            self._doubts.popitem(last=False)

    def find(self, origin: str, now_us: int) -> Doubt | None:
        """Why its URLs are not to be requested now; None if they may be."""
        doubt = self._doubts.get(origin)
        is_over = doubt is None or (doubt.until_us is not None and doubt.until_us <= now_us)
        return None if is_over else doubt

    def is_doubted(self, origin: str) -> bool:
        """Whether it has never been reached."""
        return origin in self._doubts

    def hasten(self, until_us: int) -> None:
        """Nothing else is left to do: the next try of each comes no later than that."""
        for origin, doubt in self._doubts.items():
            if doubt.until_us is not None and doubt.until_us > until_us:
                self._doubts[origin] = Doubt(doubt.faults, until_us, doubt.detail)

    def __bool__(self) -> bool:
        return bool(self._doubts)
