"""The only import of pyarrow, which ships no types: `pa`, `pc` and `pq` for the rest of graph/.

It is imported on first use: loading pyarrow takes 80 ms, and a worker that has just started should
request pages first.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, Final

from gossamer.base import garbage


class _Late:
    """A module that is imported on first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


pa: Final[Any] = _Late("pyarrow")
pc: Final[Any] = _Late("pyarrow.compute")
pq: Final[Any] = _Late("pyarrow.parquet")


def return_freed_memory() -> None:
    """For a separate process: return unused memory to the system, in Arrow too. Call it before
    Arrow is used, because Arrow chooses its memory pool once.
    """
    garbage.return_freed_memory()
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    pa.set_memory_pool(pa.system_memory_pool())
