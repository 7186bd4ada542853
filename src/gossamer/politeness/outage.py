"""Tell an unreachable host from a network outage.

If several hosts in a row cannot be resolved or connected to, and none answers between them, the
local network is most likely down. Then no host is blamed, and single requests test whether the
outage is over. If none of these hosts has ever answered, they may be dead links at the end of a
crawl: then they are blamed after a quarter of an hour.

Pure: the time is passed in. Before the first answer of a run there is no verdict, and a crawl of
one host cannot tell its host from the network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

_HOSTS: Final = 4  # in a row; three dead links on one page are common
_FIRST_WAIT_S: Final = 5.0
_LONGEST_WAIT_S: Final = 60.0
_PATIENCE_S: Final = 900.0  # for hosts that have never answered
_LAST_PATIENCE_S: Final = 30.0  # the same if nothing else is left to do


@dataclass(slots=True)
class Outage:
    """What was observed of the network."""

    has_answered: bool = False
    is_out: bool = False
    _unreachable: set[str] = field(default_factory=set)
    _wait_s: float = _FIRST_WAIT_S
    _try_at_s: float = 0.0
    _since_s: float | None = None
    _is_one_known: bool = False  # among the unreachable hosts
    _patience_s: float = _PATIENCE_S

    def answered(self) -> None:
        """Record that a host answered: the network works."""
        if self.has_answered and not self._unreachable:
            return  # the usual case: no host was unreachable since the last answer
        self.has_answered = True
        self.is_out = False
        self._unreachable.clear()
        self._wait_s = _FIRST_WAIT_S
        self._since_s = None
        self._is_one_known = False
        self._patience_s = _PATIENCE_S

    def unreachable(self, host: str, now_s: float, *, is_known: bool = False) -> bool:
        """Record an unreachable host. Return whether the network is to blame.

        `is_known`: the host has answered before.
        """
        self._unreachable.add(host)
        self._is_one_known |= is_known
        if self.has_answered and len(self._unreachable) >= _HOSTS:
            self._since_s = now_s if self._since_s is None else self._since_s
            self.is_out = self._is_one_known or now_s - self._since_s < self._patience_s
            self._try_at_s = now_s + self._wait_s
            self._wait_s = min(self._wait_s * 2, _LONGEST_WAIT_S)
        return self.is_out

    def hasten(self) -> None:
        """Wait less before the hosts are blamed, because nothing else is left to do."""
        self._patience_s = _LAST_PATIENCE_S

    def may_request(self, now_s: float, under_way: int) -> bool:
        """During an outage allow one request at a time, and only when it is due."""
        return not self.is_out or (under_way == 0 and now_s >= self._try_at_s)

    @property
    def next_try_s(self) -> float | None:
        return self._try_at_s if self.is_out else None
