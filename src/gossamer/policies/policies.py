"""The decisions of a crawl that can be replaced, as one value.

`node/build.py` is given it and hands each policy to the part that asks it. What no policy decides,
politeness above all, is the same in every crawl.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gossamer.policies.duplicates import Duplicates, ExactDuplicates
from gossamer.policies.order import BreadthFirst, Order
from gossamer.policies.partition import OnePartition, Partition
from gossamer.policies.stop import Allowance, Stop
from gossamer.settings import Limits

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.policies.orders.column_order import ColumnOrder


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of one run. `stop` counts what the run has promised, so each run has its own."""

    order: Order = field(default_factory=BreadthFirst)
    duplicates: Duplicates = field(default_factory=ExactDuplicates)
    partition: Partition = field(default_factory=OnePartition)
    stop: Stop = field(default_factory=lambda: Allowance(Limits()))
    values: ColumnOrder | None = None  # an order by value; `order` is that of the queue on disk
