"""The sums over all URLs, kept exactly: every change of a row changes them with it."""

from __future__ import annotations

from typing import Any, Final, Self

from msgspec import Struct, field, structs

from gossamer.base.packing import pack, unpack

DEEPEST: Final = 100
# Sums of what visits have found. No row has them.
FOUND_BY_VISITS: Final = ("visits", "unchanged", "changed", "gone", "back", "moved", "missed")
OF_VISITS: Final = frozenset({"revisits", *FOUND_BY_VISITS}) - {"unchanged"}
OF_IMPORTANCE: Final = frozenset({"evicted", "evicted_bytes", "hot"})
_LEFT_OUT: Final = OF_VISITS | OF_IMPORTANCE  # while they are 0


class Counts(Struct):
    """known = queued + fetched + redirects + failed + refused, always. A fetched page that waits
    for another visit is fetched, and among `revisits`."""

    known: int = 0
    queued: int = 0
    fetched: int = 0  # answers kept, redirects apart: what limits count
    redirects: int = 0
    failed: int = 0
    refused: int = 0
    unchanged: int = 0  # visits that found the page as it was
    duplicates: int = 0  # pages that point to another (duplicates/pointers.py)
    size_bytes: int = 0
    links: int = 0
    dropped: int = 0  # links to new hosts beyond the budgets of pages and sites, not among known
    indexed: int = 0  # pages that the index has, where there is one
    by_reason: dict[str, int] = field(default_factory=dict)
    by_status: dict[str, int] = field(default_factory=dict)
    # Fetched pages by links from a seed; None in a collection of a version that did not count them.
    by_depth: dict[str, int] | None = field(default_factory=dict)
    revisits: int = 0  # fetched pages that wait for another visit
    visits: int = 0  # that have ended, of pages that were fetched before; of these:
    changed: int = 0
    gone: int = 0
    back: int = 0
    moved: int = 0
    missed: int = 0  # brought no answer, or an error of the server
    evicted: int = 0  # pages that left for better ones, each time; limits count them
    evicted_bytes: int = 0  # of their bodies
    hot: int = 0  # fetched pages whose importance reaches the threshold

    def encode(self) -> bytes:
        """Newer sums are left out while they are 0, as in a collection of an older version."""
        values = structs.asdict(self)
        return pack({name: v for name, v in values.items() if v or name not in _LEFT_OUT})

    @property
    def pages_had(self) -> int:
        """Pages that were ever fetched: those that are there, and those that left."""
        return self.fetched + self.evicted

    @property
    def bytes_had(self) -> int:
        """Bytes of bodies that were ever kept."""
        return self.size_bytes + self.evicted_bytes

    @classmethod
    def decode(cls, row: bytes | None) -> Self:
        values: dict[str, Any] = {"by_depth": None, **unpack(row)} if row else {}
        return cls(**values)

    def count_reason(self, reason: str, step: int = 1) -> None:
        _count(self.by_reason, reason, step)

    def count_status(self, status: int, step: int = 1) -> None:
        _count(self.by_status, str(status), step)

    def count_depth(self, depth: int, step: int = 1) -> None:
        """All depths from `DEEPEST` on are one: a trap must not fill the sums."""
        if self.by_depth is not None:
            _count(self.by_depth, str(min(depth, DEEPEST)), step)


def _count(table: dict[str, int], name: str, step: int) -> None:
    table[name] = table.get(name, 0) + step
    if table[name] <= 0:
        del table[name]
