"""Crawl a part of the web, keep it, and search it.

A URL goes round a circle:

    urls -> frontier -> politeness -> fetch -> archive -> parse -> graph, index
               ^                                            |
               +------------------- links ------------------+

Read `records.py` for the values that travel, `workers/worker.py` for what happens to one URL,
`node/node.py` for the loop, and `node/commit.py` for why nothing is lost. `search/engine.py` shows
the path of a query on one screen.
"""

from __future__ import annotations

import importlib
from typing import Any

from gossamer.version import __version__

__all__ = [
    "Collection",
    "Copies",
    "Copy",
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


def __dir__() -> list[str]:
    """The public names, which tab completion shows; folders and helpers are not for users."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for, so that `gossamer --help` is quick."""
    if name in __all__:
        return getattr(importlib.import_module("gossamer.api"), name)
    raise AttributeError(f"module 'gossamer' has no attribute {name!r}")
