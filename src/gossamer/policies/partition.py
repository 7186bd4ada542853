"""Which of several nodes owns a host? All URLs of a host belong to one node."""

from __future__ import annotations

from typing import Protocol


class Partition(Protocol):
    """Assigns hosts to partitions, which are numbered from 0.

    Every node gives the same answer for a host, and the answer does not change during a run.
    """

    @property
    def own(self) -> int:
        """The partition of this node."""
        ...

    @property
    def count(self) -> int:
        """How many partitions there are; with one, every host is ours."""
        ...

    def owner_of(self, host_key: bytes, /) -> int:
        """The partition that owns a host; `host_key` is the first half of its URLs' keys."""
        ...


class OnePartition:
    """One node owns every host."""

    own = 0
    count = 1

    def owner_of(self, _host_key: bytes, /) -> int:
        """Partition 0, whatever the host."""
        return 0
