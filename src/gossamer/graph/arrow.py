"""The one door to pyarrow, which ships no types: `pa`, `pc` and `pq` for the rest of graph/.

It is opened when somebody comes through: loading pyarrow takes 80 ms, and a worker that has just
started has pages to ask for first.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, Final

from gossamer.base import garbage


class _Late:
    """A module that is imported when it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


pa: Final[Any] = _Late("pyarrow")
pc: Final[Any] = _Late("pyarrow.compute")
pq: Final[Any] = _Late("pyarrow.parquet")


def hold_little() -> None:
    """For a process of its own: memory that is not used is not kept, not by Arrow either. Call it
    before Arrow is used: what its own functions take meanwhile has a pool that is chosen once."""
    garbage.hold_little()
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    pa.set_memory_pool(pa.system_memory_pool())
