"""Read a graph in WebGraph's BVGraph format, by the package `webgraph` (an optional extra)."""

from __future__ import annotations

import importlib
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.lab.inputs.link_files import BadGraphFile


def read_bv_graph(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Sources, targets and the number of pages. Raises UsageError without the package, and
    BadGraphFile."""
    try:
        webgraph: Any = importlib.import_module("webgraph")
    except ImportError:
        raise UsageError(
            f"{path} is a BVGraph, and the package that reads it is not installed; "
            "install it with: pip install 'gossamer[lab]'"
        ) from None
    for needed in (".graph", ".properties"):
        if not path.with_suffix(needed).is_file():
            raise BadGraphFile(path, f"{path.with_suffix(needed).name} is missing beside it")
    try:
        graph = webgraph.BvGraph(str(path.with_suffix("")))
        pages = int(graph.num_nodes())
        counts = graph.outdegrees().astype(np.int64)
        every = chain.from_iterable(map(graph.successors, range(pages)))
        targets = np.fromiter(every, np.int64, int(counts.sum()))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        raise BadGraphFile(path, str(error)) from None  # Rust panics are no Exception
    return np.repeat(np.arange(pages), counts), targets, pages
