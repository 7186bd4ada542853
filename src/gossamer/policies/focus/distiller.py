"""Hubs: pages that link to many relevant pages. What they point to deserves a look.

Kleinberg's mutual reinforcement on the part of the graph that is relevant (Chakrabarti 1999): a
good hub links to good authorities, and a good authority is linked by good hubs. A link counts by
the relevance of the page that it leads to; one to a page that is not fetched yet counts nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.policies.focus.sample import sums
from gossamer.policies.orders.columns import UrlSlots, Values
from gossamer.policies.orders.edges import Edges

_ROUNDS: Final = 3  # the order of the best hubs hardly changes after it


def distil(pages: int, edges: Edges, relevance: Values, judged: UrlSlots) -> Values:
    """For each slot what the hubs that link to it are worth: 0 none, 1 the best of all slots."""
    sources, targets = edges.all()
    found: Values = np.zeros(pages, np.float32)
    found[judged] = relevance[judged]
    authority = found.astype(np.float64)
    values = np.zeros(pages)
    for _ in range(_ROUNDS):
        hub = sums(sources, authority[targets], pages)
        hub /= max(float(hub.max(initial=0.0)), 1e-12)
        values = sums(targets, hub[sources], pages)
        authority = values * found
        authority /= max(float(authority.max(initial=0.0)), 1e-12)
    values = np.log1p(values)  # a page with a thousand links is not a thousand times as good
    values /= max(float(values.max(initial=0.0)), 1e-12)
    return values.astype(np.float32)
