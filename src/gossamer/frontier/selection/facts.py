"""What a selection is told of URLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.orders.columns import Ints


class FreshUrl(NamedTuple):
    """A URL that was queued. One with a `level` comes behind all that have none."""

    depth: int
    url: str
    level: int = 0


class FetchedPage(NamedTuple):
    """A page and its links, by keys; some with their anchor texts."""

    key: bytes
    targets: bytes
    anchors: Sequence[tuple[bytes, str]]
    words: bytes = b""  # for a focused crawl
    found_bytes: int = 0  # of `targets`: the keys of new URLs
    contexts: Sequence[str] = ()  # around the links to new URLs, in their order


@dataclass(frozen=True, slots=True)
class StoredUrls:
    """URLs of the state, in the order in which they were found."""

    keys: bytes  # one after the other
    depths: Ints
    is_queued: NDArray[np.bool_]
    is_fetched: NDArray[np.bool_]
    urls: Sequence[str]  # empty where the order does not look at them
    host_names: Mapping[bytes, str]
