"""A stored link graph: what the lab replays crawls on.

Pages are numbered from 0. The links of page `p` are `targets[offsets[p] : offsets[p + 1]]`. A page
names each target once and never itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.orders.edges import LinkBatch


@dataclass(frozen=True)
class LinkGraph:
    """Pages, their links and their sites."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    site: NDArray[np.int32]  # of each page; all 0 where sites are not known
    digest: str = ""  # "sha256:..." of the data that it was read from
    names: Sequence[str] | None = None  # URLs, or what the data calls the pages

    @property
    def pages(self) -> int:
        return len(self.offsets) - 1

    @property
    def links(self) -> int:
        return len(self.targets)

    @cached_property
    def out_degree(self) -> NDArray[np.int32]:
        degrees: NDArray[np.int32] = np.diff(self.offsets).astype(np.int32)
        return degrees

    @cached_property
    def in_degree(self) -> NDArray[np.int32]:
        degrees: NDArray[np.int32] = np.bincount(self.targets, minlength=self.pages).astype(
            np.int32
        )
        return degrees

    def links_of(self, pages: NDArray[np.int32]) -> LinkBatch:
        """The links of some pages."""
        counts = self.out_degree[pages]
        ends = np.cumsum(counts, dtype=np.int64)
        places = np.arange(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
        places += np.repeat(self.offsets[pages] - (ends - counts), counts)
        return LinkBatch(pages, counts, self.targets[places])


def graph_of(
    sources: NDArray[np.integer], targets: NDArray[np.integer], pages: int = 0
) -> LinkGraph:  # fmt: skip
    """The graph of a list of links; repeated links and links of a page to itself are left out."""
    highest = max((int(ends.max()) for ends in (sources, targets) if len(ends)), default=-1)
    pages = max(pages, highest + 1)
    links = sources.astype(np.int64) * pages + targets
    links = links[sources != targets]
    if len(links) and not (links[1:] > links[:-1]).all():  # most files are in order
        links = np.unique(links)
    counts = np.bincount(links // max(pages, 1), minlength=pages)
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    heads = (links % max(pages, 1)).astype(np.int32)
    return LinkGraph(offsets, heads, np.zeros(pages, np.int32))
