"""Crawl a part of the web, keep it, and search it.

A URL goes round a circle:

    urls -> frontier -> politeness -> fetch -> archive -> parse -> graph
               ^                                            |
               +------------------- links ------------------+

Read `records.py` for what travels, `workers/worker.py` for the circle of one URL, `node/node.py`
for the loop that turns it, and `node/commit.py` for why nothing is lost.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from gossamer.version import __version__

__all__ = [
    "Collection",
    "Crawl",
    "CrawledPage",
    "GossamerError",
    "Graph",
    "Hit",
    "Options",
    "PageLink",
    "Results",
    "StoredPage",
    "Table",
    "__version__",
    "crawl",
    "open",
]


class _Package(ModuleType):
    """The import system puts the folder `crawl/` under the name that people know as a function."""

    @property
    def crawl(self) -> Any:
        return importlib.import_module("gossamer.api").crawl

    @crawl.setter
    def crawl(self, folder: ModuleType) -> None:
        """The folder is found in sys.modules; the name stays the function's."""

    def __dir__(self) -> list[str]:
        """The public names, which tab completion shows; folders and helpers are not for users."""
        return sorted(__all__)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for, so that `gossamer --help` is quick."""
    if name in __all__:
        return getattr(importlib.import_module("gossamer.api"), name)
    raise AttributeError(f"module 'gossamer' has no attribute {name!r}")
