"""Is it one host that is out of reach, or the network?

When several hosts in a row cannot be resolved or connected to, and none answers between them, it is
most likely ours: then nobody is blamed, and one request now and then tries whether it is over.
Where none of them has ever answered, they may as well be dead links that are left at the end of a
crawl: then we wait a quarter of an hour, and blame them.

Pure: told the time, answers yes or no. Before the first answer of a run nothing can be said, and a
crawl of one host cannot tell its host from the network.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

from gossamer.base.values import dataclass

_HOSTS: Final = 4  # in a row; three dead links on one page are common
_FIRST_WAIT_S: Final = 5.0
_LONGEST_WAIT_S: Final = 60.0
_PATIENCE_S: Final = 900.0  # with hosts that have never answered
_LAST_PATIENCE_S: Final = 30.0  # the same when there is nothing else to do


@dataclass(slots=True)
class Outage:
    """What has been seen of the network."""

    has_answered: bool = False
    is_out: bool = False
    _unreachable: set[str] = field(default_factory=set)
    _wait_s: float = _FIRST_WAIT_S
    _try_at_s: float = 0.0
    _since_s: float | None = None
    _is_one_known: bool = False  # of those out of reach
    _patience_s: float = _PATIENCE_S

    def answered(self) -> None:
        """Somebody answered: the network is there."""
        if self.has_answered and not self._unreachable:
            return  # as nearly always: nobody was out of reach since the last answer
        self.has_answered = True
        self.is_out = False
        self._unreachable.clear()
        self._wait_s = _FIRST_WAIT_S
        self._since_s = None
        self._is_one_known = False
        self._patience_s = _PATIENCE_S

    def unreachable(self, host: str, now_s: float, *, is_known: bool = False) -> bool:
        """A host could not be reached; whether the network is to blame.

        `is_known`: it has answered before.
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
        """Nothing but these hosts is left to do: wait less long before they are blamed."""
        self._patience_s = _LAST_PATIENCE_S

    def may_ask(self, now_s: float, under_way: int) -> bool:
        """While it is out, one request at a time, and not before its time."""
        return not self.is_out or (under_way == 0 and now_s >= self._try_at_s)

    @property
    def next_try_s(self) -> float | None:
        return self._try_at_s if self.is_out else None
