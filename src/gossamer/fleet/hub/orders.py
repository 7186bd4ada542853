"""Orders to units: told with every poll until the unit says that they are done.

A unit cannot be called, so an order takes until its next poll. What the hub can do by itself it
does at once: a unit that drains gets no more jobs, a job that is stopped is not given out again.
The caller holds the lock of the hub.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast, get_args

from gossamer.base.clock import Clock
from gossamer.errors import UsageError
from gossamer.fleet.hub.rows import OrderRow, UnitRow
from gossamer.fleet.hub.secure.audit import AuditLog
from gossamer.fleet.hub.state import HubState
from gossamer.fleet.protocol import OrderDone, OrderKind, UnitOrder

KINDS: Final[tuple[str, ...]] = get_args(OrderKind)
_MOST_OPEN: Final = 100  # orders that one unit has not carried out
_LONGEST_NOTE: Final = 500
_KEPT: Final = 2_000  # orders that are done
_DRAINING: Final = frozenset({"drain", "stop_after_job", "delete"})


class Ordering:
    """Open orders per unit."""

    def __init__(self, state: HubState, clock: Clock, audit: AuditLog) -> None:
        self._state = state
        self._clock = clock
        self._audit = audit
        self._open: dict[str, dict[int, OrderRow]] = {}
        for row in sorted(state.orders, key=lambda row: row.number):
            if not row.done_us:
                self._open.setdefault(row.unit, {})[row.number] = row

    def give(self, unit: UnitRow, kind: str, who: str, job: str = "") -> OrderRow:
        """Give an order; one that is open already is not given twice. Raises UsageError."""
        if kind not in KINDS:
            raise UsageError(f"{kind!r} is not an order; use one of {', '.join(KINDS)}")
        if unit.is_revoked:
            raise UsageError(f"{unit.id} is revoked: it no longer polls")
        mine = self._open.setdefault(unit.id, {})
        for row in mine.values():
            if (row.kind, row.job) == (kind, job):
                return row
        if len(mine) >= _MOST_OPEN:
            raise UsageError(f"{unit.id} has {_MOST_OPEN} orders that it has not carried out")
        row = OrderRow(
            number=self._state.next_number("orders"), unit=unit.id, job=job, by=who,
            kind=cast("OrderKind", kind), made_us=self._clock.wall_us(),
        )  # fmt: skip
        mine[row.number] = row
        self._state.orders.put(row)
        if kind in _DRAINING:
            unit.is_draining = True
        elif kind == "resume":
            unit.is_draining = False
            self._withdraw(mine, row.number)
        self._state.units.put(unit)
        self._audit.note(who, "order", unit=unit.id, kind=kind, job=job, order=row.number)
        return row

    def _withdraw(self, mine: dict[int, OrderRow], keep: int) -> None:
        """A unit that resumes need not drain first."""
        for number, row in list(mine.items()):
            if row.kind in ("drain", "stop_after_job") and number != keep:
                self._close(row, "withdrawn")

    def told(self, unit: UnitRow) -> tuple[UnitOrder, ...]:
        """The open orders of a unit, oldest first."""
        mine = self._open.get(unit.id)
        if not mine:
            return ()
        for row in mine.values():
            if not row.told_us:
                row.told_us = self._clock.wall_us()
                self._state.orders.put_later(row)
        return tuple(
            UnitOrder(order=row.number, kind=row.kind, job=row.job) for row in mine.values()
        )

    def done(self, unit: UnitRow, told: Iterable[OrderDone]) -> list[OrderRow]:
        """The orders that the unit has carried out by now, each once."""
        mine = self._open.get(unit.id, {})
        found = []
        for one in told:
            row = mine.get(one.order)
            if row is not None:
                self._close(row, one.note)
                self._audit.note(unit.id, "order_done", order=row.number, kind=row.kind)
                found.append(row)
        return found

    def close_of_job(self, job: str) -> None:
        """A job has ended: orders to stop it or to report on it are done."""
        for mine in self._open.values():
            for row in [row for row in mine.values() if row.job == job]:
                self._close(row, "the job has ended")

    def close_of_unit(self, unit: str) -> None:
        """A unit is gone: nobody will carry out its orders."""
        for row in list(self._open.get(unit, {}).values()):
            self._close(row, "the unit is gone")

    def _close(self, row: OrderRow, note: str) -> None:
        row.done_us = self._clock.wall_us()
        row.note = note[:_LONGEST_NOTE]
        self._state.orders.put(row)
        self._open[row.unit].pop(row.number, None)
        if len(self._state.orders) > 2 * _KEPT:
            done = sorted((r for r in self._state.orders if r.done_us), key=lambda r: r.number)
            for old in done[:-_KEPT]:
                self._state.orders.delete(str(old.number))

    def open_of(self, unit: str) -> list[OrderRow]:
        return list(self._open.get(unit, {}).values())
