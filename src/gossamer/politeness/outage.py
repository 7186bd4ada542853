"""Is it one host that is out of reach, or the network?

When several hosts in a row cannot be resolved or connected to, and none answers between them, it is
most likely ours: then nobody is blamed, and one request now and then tries whether it is over.

Pure: told the time, answers yes or no. Before the first answer of a run nothing can be said, and a
crawl of one host cannot tell its host from the network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

_HOSTS: Final = 4  # in a row; three dead links on one page are common
_FIRST_WAIT_S: Final = 5.0
_LONGEST_WAIT_S: Final = 60.0


@dataclass(slots=True)
class Outage:
    """What has been seen of the network."""

    has_answered: bool = False
    is_out: bool = False
    _unreachable: set[str] = field(default_factory=set)
    _wait_s: float = _FIRST_WAIT_S
    _try_at_s: float = 0.0

    def answered(self) -> None:
        """Somebody answered: the network is there."""
        self.has_answered = True
        self.is_out = False
        self._unreachable.clear()
        self._wait_s = _FIRST_WAIT_S

    def unreachable(self, host: str, now_s: float) -> bool:
        """A host could not be reached; whether the network is to blame."""
        self._unreachable.add(host)
        if self.has_answered and len(self._unreachable) >= _HOSTS:
            self.is_out = True
            self._try_at_s = now_s + self._wait_s
            self._wait_s = min(self._wait_s * 2, _LONGEST_WAIT_S)
        return self.is_out

    def may_ask(self, now_s: float, under_way: int) -> bool:
        """While it is out, one request at a time, and not before its time."""
        return not self.is_out or (under_way == 0 and now_s >= self._try_at_s)

    @property
    def next_try_s(self) -> float | None:
        return self._try_at_s if self.is_out else None
