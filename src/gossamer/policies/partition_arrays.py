"""Partition policies over arrays: the same answers as `partition.py`, for many URLs at once.

Apart from it, so that a crawl does not load NumPy for them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.partition import SPREAD, STEP, UrlHash

Owners = NDArray[np.int32]


def owners_of(partition: UrlHash, keys: bytes) -> Owners:
    """`partition.owner_of` for 16-byte keys that stand one after another."""
    halves = np.frombuffer(keys, ">u8").astype(np.uint64).reshape(-1, 2)
    return consistent_all(halves[:, 0] * np.uint64(SPREAD) + halves[:, 1], partition.count)


def consistent_all(values: NDArray[np.uint64], count: int) -> Owners:
    """`partition.consistent` for an array of 64-bit hashes."""
    chosen = np.full(len(values), -1, np.int32)
    left = np.arange(len(values))
    following = np.zeros(len(values))
    state = values.copy()
    while len(left):
        chosen[left] = following
        state = state * np.uint64(STEP) + np.uint64(1)
        span = 2.0**31 / ((state >> np.uint64(33)).astype(np.float64) + 1.0)
        following = np.floor((following + 1.0) * span)
        goes_on = following < count
        left, following, state = left[goes_on], following[goes_on], state[goes_on]
    return chosen
