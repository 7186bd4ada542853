"""PageRank of the URLs that a crawl knows, by the links of the pages it has fetched.

Solves rank = 1 - d + d * (sum of rank / number of links, over the pages that link here), as Cho
(1998) writes it. URLs that are not fetched receive rank and pass none on. What they would pass on
to all pages alike would scale all ranks and change no order.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.orders.columns import NO_RANK, Ints
from gossamer.policies.orders.edges import Edges

DAMPING: Final = 1.0 - NO_RANK
_TOLERANCE: Final = 1e-3  # mean change of a rank; the least rank is 0.15, and orders need no more
_ROUNDS: Final = 30
# Up to so many links NumPy multiplies: each round takes three times as long as with SciPy, but
# SciPy takes 0.2 s to load, as long as all ranks of a crawl of some thousand pages.
_FEW_LINKS: Final = 500_000

Ranks = NDArray[np.float64]


def spread(edges: Edges, pages: int, is_reversed: bool = False) -> tuple[Ints, Any]:
    """How many links each slot below `pages` has, and a matrix: times a vector of shares, one for
    each slot, it is what each slot receives along the links, or against them."""
    counts, targets = edges.rows(pages)
    if len(targets) <= _FEW_LINKS:
        sources = np.repeat(np.arange(pages, dtype=np.int32), counts)
        if is_reversed:
            linked = np.bincount(targets, minlength=pages).astype(np.int32)
            return linked, LinkSums(targets, sources, pages)
        return counts, LinkSums(sources, targets, pages)
    offsets = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    rows = _sparse().csr_array(
        (np.ones(len(targets), np.float32), targets, offsets), shape=(pages, pages)
    )
    if is_reversed:
        return np.bincount(targets, minlength=pages).astype(np.int32), rows
    return counts, rows.T


def page_ranks(
    edges: Edges, pages: int, start: Ranks, damping: float = DAMPING, *, is_reversed: bool = False
) -> Ranks:
    """Ranks of the slots below `pages`. `start` are earlier ranks: the closer, the fewer rounds.

    `is_reversed` ranks pages by what they link to: rank flows from a page to those that link to it.
    """
    counts, links = spread(edges, pages, is_reversed)
    per_link = damping / np.maximum(counts, 1)
    ranks = start
    for _ in range(_ROUNDS):
        new: Ranks = links @ (ranks * per_link) + (1.0 - damping)
        change = float(np.abs(new - ranks).mean()) if pages else 0.0
        ranks = new
        if change < _TOLERANCE:
            break
    return ranks


def site_ranks(ranks: NDArray[np.float32], site_of: Ints, is_fetched: NDArray[np.bool_]) -> Ranks:
    """The mean rank of the fetched pages of each site. One page of average rank is added, so that a
    site with a single page is not judged by it alone."""
    sites = int(site_of.max(initial=-1)) + 1
    sums = np.bincount(site_of[is_fetched], ranks[is_fetched], sites)
    counts = np.bincount(site_of[is_fetched], minlength=sites)
    mean: Ranks = (sums + float(ranks.mean() if len(ranks) else 0.0)) / (counts + 1)
    return mean


class LinkSums:
    """Multiplies as a sparse matrix does that has a 1 for each link."""

    def __init__(self, tails: Ints, heads: Ints, pages: int) -> None:
        """What `tails` have goes to `heads`."""
        self._tails = tails
        self._heads = heads
        self._pages = pages

    def __matmul__(self, shares: Ranks) -> Ranks:
        received: Any = np.bincount(self._heads, shares[self._tails], self._pages)
        return received  # type: ignore[no-any-return]


def _sparse() -> Any:
    """SciPy's matrices. Importing them takes 0.2 s, which orders without ranks save."""
    return importlib.import_module("scipy.sparse")
