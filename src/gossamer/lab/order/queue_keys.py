"""One number for the place of a URL in a queue: small numbers come first.

The upper half is the score, the largest first; the lower half the slot, so that no two URLs have
the same key and ties need no further look. The bits of floats that are 0 or more are ordered as
the floats are.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.orders.columns import UrlSlots, Values

QueueKeys = NDArray[np.uint64]

LAST_KEY: Final = np.uint64(2**64 - 1)
_HALF: Final = np.uint64(32)
_ONES: Final = np.uint32(2**32 - 1)


def queue_keys(scores: Values, slots: UrlSlots, is_newest_first: bool) -> QueueKeys:
    """Keys of URLs by their scores; among equal scores the oldest comes first, or the newest."""
    upper = (_ONES - scores.view(np.uint32)).astype(np.uint64)
    lower = slots.view(np.uint32)
    return (upper << _HALF) | (_ONES - lower if is_newest_first else lower)


def slots_of(keys: QueueKeys, is_newest_first: bool) -> UrlSlots:
    """The slots of keys."""
    lower = keys.astype(np.uint32)  # cuts the upper half off
    return (_ONES - lower if is_newest_first else lower).view(np.int32)


def smallest(keys: QueueKeys, many: int) -> QueueKeys:
    """The `many` smallest keys in order; all, if there are fewer."""
    if many < len(keys):
        keys = np.partition(keys, many)[:many]
    return np.sort(keys)
