"""Read a graph in WebGraph's BVGraph format.

The package `webgraph` does it where it is installed and the graph has its index (`.ef`), else our
own reader.
"""

from __future__ import annotations

import importlib
import importlib.util
from array import array
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.inputs.bv_graph import BvReader
from gossamer.lab.inputs.link_files import BadGraphFile

LinkColumns = tuple[NDArray[np.int64], NDArray[np.int64], int]


def read_bv_graph(path: Path) -> LinkColumns:
    """Sources, targets and the number of pages. Raises BadGraphFile."""
    for needed in (".graph", ".properties"):
        if not path.with_suffix(needed).is_file():
            raise BadGraphFile(path, f"{path.with_suffix(needed).name} is missing beside it")
    has_index = path.with_suffix(".ef").is_file()
    if has_index and importlib.util.find_spec("webgraph") is not None:
        return _by_package(path)
    return _in_order(path)


def _by_package(path: Path) -> LinkColumns:
    webgraph: Any = importlib.import_module("webgraph")
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


def _in_order(path: Path) -> LinkColumns:
    reader = BvReader(path)
    counts, targets = array("q"), array("q")
    try:
        for row in reader.rows():
            counts.append(len(row))
            targets.extend(row)
    except (OSError, EOFError, ValueError) as error:
        raise BadGraphFile(path, str(error)) from None
    many = np.frombuffer(counts, np.int64) if counts else np.zeros(0, np.int64)
    heads = np.frombuffer(targets, np.int64) if targets else np.zeros(0, np.int64)
    return np.repeat(np.arange(reader.pages), many), heads, reader.pages
