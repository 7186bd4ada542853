"""The PageRank of all pages of a graph: what a crawler would know at the end."""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.graph import LinkGraph

DAMPING: Final = 0.85
_TOLERANCE: Final = 1e-9  # sum of all changes of one round
_ROUNDS: Final = 200  # 0.85 ** 128 is 1e-9

TrueRanks = NDArray[np.float64]


def true_ranks(graph: LinkGraph, damping: float = DAMPING) -> TrueRanks:
    """PageRank times the number of pages, so that 1 is average. Pages without links pass their rank
    on to all pages."""
    pages = graph.pages
    sparse: Any = importlib.import_module("scipy.sparse")
    ones = np.ones(graph.links, np.float32)
    links = sparse.csr_array((ones, graph.targets, graph.offsets), shape=(pages, pages)).T.tocsr()
    per_link = damping / np.maximum(graph.out_degree, 1)
    is_dangling = graph.out_degree == 0
    ranks = np.ones(pages)
    for _ in range(_ROUNDS):
        adrift = damping * float(ranks[is_dangling].sum()) / pages
        new: TrueRanks = links @ (ranks * per_link) + (1.0 - damping + adrift)
        change = float(np.abs(new - ranks).sum()) / pages
        ranks = new
        if change < _TOLERANCE:
            break
    return ranks
