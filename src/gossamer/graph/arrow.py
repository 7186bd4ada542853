"""The one door to pyarrow, which ships no types: `pa` and `pq` as the rest of graph/ uses them."""

from __future__ import annotations

import importlib
from typing import Any, Final

pa: Final[Any] = importlib.import_module("pyarrow")
pq: Final[Any] = importlib.import_module("pyarrow.parquet")
