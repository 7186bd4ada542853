"""How far a webhook or command is in the numbered changes of a collection.

Changes are numbered with the commit that writes them (`frontier/visits/changes.py`), so a kill
loses none, and a change of a slow page, whose time is before that of changes already sent, is not
skipped. A target has one row in META, `notified:TARGET`, written when it is named for the first
time: it hears of the changes after that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from gossamer.base.clock import iso_of
from gossamer.base.packing import pack_row, unpacker
from gossamer.frontier.meta_keys import NOTIFIED_PREFIX
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.reader.changes import last_number_in


class Position(Struct, array_like=True, frozen=True):
    """How far a target is, and what it said last.

    The numbers from `done` + 1 to `end` are a batch that was begun: it is sent in exactly this
    extent until it is delivered, after a kill, too. So its id stays the same.
    """

    done: int = 0
    end: int = 0
    delivered: int = 0  # changes, over the life of the collection
    batches: int = 0
    skipped: int = 0  # changes that were dropped because too many waited
    skipped_told: int = 0  # of these, those that a delivered batch has reported
    failures: int = 0  # in a row
    fault: str = ""  # of the last failure; empty after a success
    fault_us: int = 0
    delivered_us: int = 0

    def encode(self) -> bytes:
        return pack_row(astuple(self))

    @classmethod
    def decode(cls, row: bytes) -> Position:
        """Raises ValueError when these are no bytes of `encode`."""
        return _unpack(row)


_unpack: Final = unpacker(Position)


def positions_in(store: Store) -> dict[str, Position]:
    """How far each target is that the collection ever had."""
    rows = walk(store, StateTable.META, NOTIFIED_PREFIX, NOTIFIED_PREFIX + b"\xff")
    return {key[len(NOTIFIED_PREFIX) :].decode(): Position.decode(row) for key, row in rows}


def notified_figures(store: Store) -> dict[str, dict[str, Any]]:
    """What each target has got, for `status`; empty if the collection never had one."""
    last = last_number_in(store)
    return {
        name: {
            "delivered": one.delivered,
            "waiting": max(0, last - one.done),
            "skipped": one.skipped,
            "failures": one.failures,
            "fault": one.fault or None,
            "delivered_at": iso_of(one.delivered_us) if one.delivered_us else None,
        }
        for name, one in positions_in(store).items()
    }


class Positions:
    """How far the targets of this run are."""

    def __init__(self, store: Store, targets: Iterable[str]) -> None:
        """Writes the rows of new targets. Raises DiskFault."""
        self.store = store
        known, last = positions_in(store), last_number_in(store)
        self._rows: dict[str, Position] = {}
        for name in targets:
            found = known.get(name, Position(last, last))
            # A state that was rebuilt, or restored, may have fewer changes.
            self._rows[name] = replace(found, done=min(found.done, last), end=min(found.end, last))
            if name not in known:
                self.move(name, self._rows[name])

    @property
    def last(self) -> int:
        """The number of the last committed change."""
        return last_number_in(self.store)

    def of(self, target: str) -> Position:
        return self._rows[target]

    def waiting(self, target: str) -> int:
        """How many committed changes a target still has to get."""
        return self.last - self._rows[target].done

    def move(self, target: str, position: Position) -> None:
        """Store how far a target is. It is on disk on return. Raises DiskFault."""
        self._rows[target] = position
        self.store.write({StateTable.META: {NOTIFIED_PREFIX + target.encode(): position.encode()}})
