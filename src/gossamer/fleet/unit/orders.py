"""Orders of the hub, and of the owner: each is carried out once, though the hub repeats an order
until it knows that it was."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Literal

import msgspec

from gossamer.fleet.protocol import OrderDone, UnitOrder
from gossamer.fleet.unit.folder import UnitFolder, read_json, write_json

_REMEMBERED: Final = 1_000

LocalCommand = Literal["stop", "stop-after", "delete"]


class OrderBook:
    """Orders that were carried out, until the hub knows."""

    def __init__(self) -> None:
        self._seen: OrderedDict[int, None] = OrderedDict()
        self._done: dict[int, OrderDone] = {}

    def new(self, orders: Iterable[UnitOrder]) -> list[UnitOrder]:
        """Those that have not been seen."""
        fresh = [order for order in orders if order.order not in self._seen]
        for order in fresh:
            self._seen[order.order] = None
            while len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
        return fresh

    def done(self, order: UnitOrder, note: str = "") -> None:
        self._done[order.order] = OrderDone(order=order.order, note=note)

    def to_tell(self) -> tuple[OrderDone, ...]:
        return tuple(self._done.values())

    def told(self, orders: Iterable[OrderDone]) -> None:
        """The hub knows."""
        for order in orders:
            self._done.pop(order.order, None)


class _Command(msgspec.Struct):
    command: LocalCommand


def give_command(folder: UnitFolder, command: LocalCommand) -> None:
    """Order a running unit on this machine to do something."""
    write_json(folder.command, _Command(command))


def take_command(folder: UnitFolder) -> LocalCommand | None:
    """The command of the owner, if there is one. It is taken once."""
    found = read_json(folder.command, _Command)
    if found is not None:
        with suppress(OSError):
            folder.command.unlink()
    return found.command if found is not None else None
