"""Which of several processes owns a URL?

    url-hash        by the URL key; pages of one site are spread over all processes
    site-hash       by the name of the site; a site belongs to one process
    hierarchical    by ranges of domain suffixes: `it` before `it.cnr` before `org`

The first two use a consistent hash: with one process more, only the URLs that go to the new one
change their owner. A crawl must not use `url-hash` over several machines: politeness needs all URLs
of a host in one place. It is here to be compared (`gossamer lab parallel`).

All are pure: every process gives the same answer for a URL at any time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final, Protocol

from gossamer.urls.canonical import host_of
from gossamer.urls.keys import HALF_BYTES
from gossamer.urls.site import is_address, site_of

URL_HASH: Final = "url-hash"
SITE_HASH: Final = "site-hash"
HIERARCHICAL: Final = "hierarchical"
NAMES: Final = (URL_HASH, SITE_HASH, HIERARCHICAL)

WORD: Final = 2**64 - 1
# Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014
STEP: Final = 2862933555777941757
SPREAD: Final = 0x9E3779B97F4A7C15  # odd; keeps two URLs with equal halves apart


class Partition(Protocol):
    """Assigns URLs to partitions, which are numbered from 0.

    Every node gives the same answer for a URL, and the answer does not change during a run.
    """

    @property
    def own(self) -> int:
        """The partition of this node."""
        ...

    @property
    def count(self) -> int:
        """How many partitions there are; with one, every URL is ours."""
        ...

    def owner_of(self, key: bytes, url: str, /) -> int:
        """The partition that owns a canonical URL with this key (`urls/keys.py`)."""
        ...


class OnePartition:
    """One node owns every URL."""

    own = 0
    count = 1

    def owner_of(self, _key: bytes, _url: str, /) -> int:
        """Partition 0, whatever the URL."""
        return 0


@dataclass(frozen=True, slots=True)
class UrlHash:
    """By the hash of the whole URL."""

    count: int
    own: int = 0

    def owner_of(self, key: bytes, _url: str, /) -> int:
        """By both halves of the key."""
        host = int.from_bytes(key[:HALF_BYTES], "big")
        rest = int.from_bytes(key[HALF_BYTES:], "big")
        return consistent((host * SPREAD + rest) & WORD, self.count)


@dataclass(frozen=True, slots=True)
class SiteHash:
    """By the hash of the site: all hosts of a registrable domain have one owner."""

    count: int
    own: int = 0

    def owner_of(self, _key: bytes, url: str, /) -> int:
        """By the site of the host of the URL."""
        return self.owner_of_host(host_of(url))

    def owner_of_host(self, host: str) -> int:
        """The owner of all URLs of a host."""
        return consistent(_hash_of(site_of(host)), self.count)


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """By domain suffix: reversed host names are sorted and cut into ranges.

    `bounds` holds the first site of each range but the first, with its labels reversed. So
    `("com.n", "it")` makes three partitions: up to `m.com`, from `n.com` to the suffixes before
    `it`, and the rest. Addresses come before all names.
    """

    bounds: tuple[str, ...]
    own: int = 0

    @property
    def count(self) -> int:
        return len(self.bounds) + 1

    def owner_of(self, _key: bytes, url: str, /) -> int:
        """By the site of the host of the URL."""
        return self.owner_of_host(host_of(url))

    def owner_of_host(self, host: str) -> int:
        """The owner of all URLs of a host."""
        return bisect_right(self.bounds, reversed_labels(site_of(host)))

    @classmethod
    def balanced(cls, pages: Mapping[str, int], count: int, own: int = 0) -> Hierarchy:
        """At most `count` ranges of about equally many pages. `pages` has the known ones of each
        site, as an earlier crawl or a sample tells them."""
        bounds: list[str] = []
        left, current = sum(pages.values()), 0
        for name in sorted(pages, key=reversed_labels):
            ranges = count - len(bounds)
            # A range ends where its size is nearest to an equal share of what is left.
            if current and ranges > 1 and current + pages[name] / 2 > left / ranges:
                bounds.append(reversed_labels(name))
                left -= current
                current = 0
            current += pages[name]
        return cls(tuple(bounds), own)


def reversed_labels(host: str) -> str:
    """`it.cnr.www` for `www.cnr.it`; an address stays as it is."""
    return host if is_address(host) else ".".join(reversed(host.split(".")))


def consistent(value: int, count: int) -> int:
    """A number below `count` for a 64-bit hash. Of the values, 1 / (count + 1) change their number
    when `count` grows by one, and they all get the new one."""
    chosen, following = -1, 0
    while following < count:
        chosen = following
        value = (value * STEP + 1) & WORD
        following = int((chosen + 1) * (2.0**31 / ((value >> 33) + 1)))
    return chosen


@lru_cache(maxsize=65_536)
def _hash_of(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8, person=b"site").digest(), "big")
