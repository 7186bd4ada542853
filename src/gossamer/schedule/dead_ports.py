"""Dead ports: a host that answers on one port may not answer on another.

Without this, one link to a closed port would delay all pages of its host. An origin (scheme, host
and port) counts as dead if it was never reached and its host has answered on another port. Its URLs
wait while the other pages of the host are requested, and fail after as many tries as a host gets.

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
class DeadPort:
    """An origin that was not reached. `until_us`: the wall time of the next try, None for never."""

    faults: int
    until_us: int | None
    detail: str


class DeadPorts:
    """The origins that were not reached."""

    def __init__(self, politeness: Politeness) -> None:
        self._politeness = politeness
        self._ports: OrderedDict[str, DeadPort] = OrderedDict()

    def failed(self, origin: str, detail: str, now_us: int) -> None:
        """An origin took no connection."""
        before = self._ports.pop(origin, None)
        faults = before.faults + 1 if before else 1
        wait_s = wait_before_retry(Reason.CONNECT, faults - 1, self._politeness)
        until_us = None if wait_s is None else now_us + round(wait_s * 1e6)
        self._ports[origin] = DeadPort(faults, until_us, detail)
        if len(self._ports) > _MOST:
            self._ports.popitem(last=False)

    def find(self, origin: str, now_us: int) -> DeadPort | None:
        """The dead port that keeps an origin from being requested now; None if there is none."""
        port = self._ports.get(origin)
        is_over = port is None or (port.until_us is not None and port.until_us <= now_us)
        return None if is_over else port

    def is_dead(self, origin: str) -> bool:
        """Whether an origin was not reached."""
        return origin in self._ports

    def hasten(self, until_us: int) -> None:
        """Nothing else is left to do: the next try of each comes no later than that."""
        for origin, port in self._ports.items():
            if port.until_us is not None and port.until_us > until_us:
                self._ports[origin] = DeadPort(port.faults, until_us, port.detail)

    def __bool__(self) -> bool:
        return bool(self._ports)
