"""How large the largest sites are, and how many of their pages politeness allows in a month.

Sizes of sites are assumed to follow Zipf's law: the site of rank r has `largest / r ** exponent`
pages. The exponent and the mean size come from a real graph; a larger web has more sites of the
same mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

# `fitted_sizes` of cnr-2000 with its inferred sites: docs/lab/scale.md.
MEAN_PAGES: Final = 205.0
EXPONENT: Final = 0.81
_EXACT: Final = 1_000_000  # ranks that are summed one by one; the rest is an integral


@dataclass(frozen=True, slots=True)
class SiteSizes:
    """Zipf's law for a web of some size."""

    mean_pages: float = MEAN_PAGES
    exponent: float = EXPONENT

    def largest(self, pages: float) -> float:
        """Pages of the largest site."""
        return pages / _zipf_sum(pages / self.mean_pages, self.exponent)

    def out_of_reach(self, pages: float, most: float) -> float:
        """The share of all pages that lies beyond the first `most` pages of its site."""
        sites = pages / self.mean_pages
        largest = self.largest(pages)
        if largest <= most:
            return 0.0
        above = min(sites, (largest / most) ** (1 / self.exponent))  # sites with more than `most`
        held = largest * _zipf_sum(above, self.exponent)
        return float(max(0.0, (held - above * most) / pages))


def _zipf_sum(ranks: float, exponent: float) -> float:
    """The sum of `r ** -exponent` for r from 1 to `ranks`."""
    exact = int(min(ranks, _EXACT))
    total = float((np.arange(1, exact + 1, dtype=np.float64) ** -exponent).sum())
    if ranks <= exact:
        return max(total, 1.0)
    if abs(exponent - 1.0) < 1e-9:
        return total + float(np.log(ranks / exact))
    power = 1.0 - exponent
    return float(total + (ranks**power - exact**power) / power)


def fitted_sizes(site: NDArray[np.int32]) -> SiteSizes:
    """Zipf's law for the sites of a graph, with the exponent at which its largest site is as large
    as that of the graph. Small sites are not fitted: politeness concerns the large ones."""
    sizes = np.bincount(site)
    sizes = sizes[sizes > 0]
    pages, mean = float(sizes.sum()), float(sizes.mean())
    low, high = 0.0, 3.0
    for _ in range(50):  # the largest site grows with the exponent
        middle = (low + high) / 2
        is_small = SiteSizes(mean, middle).largest(pages) < sizes.max()
        low, high = (middle, high) if is_small else (low, middle)
    return SiteSizes(mean, (low + high) / 2)
