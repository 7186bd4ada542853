"""Which process owns which page of a graph, by the partitions of `policies/partition.py`.

Pages that have no URL get one from their number and that of their site:
`http://site0000012.example/345`. The ranges of `hierarchical` are then ranges of site numbers.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Final

import numpy as np

from gossamer.lab.graph import LinkGraph
from gossamer.lab.parallel.queues import PageNumbers
from gossamer.policies.partition import (
    HIERARCHICAL,
    SITE_HASH,
    URL_HASH,
    Hierarchy,
    SiteHash,
    UrlHash,
)
from gossamer.policies.partition_arrays import owners_of
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import Keys
from gossamer.urls.site import site_of

_KEYS: Final = Keys(b"\0" * 16)  # not secret: every process must get the same keys
_SCHEMES: Final = ("http://", "https://")


class PageOwners:
    """The pages of a graph, and who owns them."""

    def __init__(self, graph: LinkGraph) -> None:
        self._graph = graph

    @cached_property
    def has_urls(self) -> bool:
        """Whether the data names the pages by URLs."""
        names = self._graph.names
        return names is not None and bool(len(names)) and all(map(_is_url, names))

    @cached_property
    def has_sites(self) -> bool:
        """Whether anything tells which pages belong to one site."""
        return self.has_urls or (self._graph.pages > 0 and int(self._graph.site.max()) > 0)

    def by(self, partition: str, count: int) -> PageNumbers:
        """The owner of each page. `partition` is a name of `policies/partition.py`."""
        if partition == URL_HASH:
            return owners_of(UrlHash(count), self._keys)
        hosts, host_of_page = self._hosts
        assert partition in {SITE_HASH, HIERARCHICAL}, partition
        if partition == SITE_HASH:
            rule: SiteHash | Hierarchy = SiteHash(count)
        else:
            sizes = np.bincount(host_of_page, minlength=len(hosts)).tolist()
            pages = Counter[str]()
            for host, size in zip(hosts, sizes, strict=True):
                pages[site_of(host)] += size
            rule = Hierarchy.balanced(pages, count)
        owners = np.array([rule.owner_of_host(host) for host in hosts], np.int32)
        return owners[host_of_page]

    @cached_property
    def _urls(self) -> list[str]:
        if self.has_urls:
            assert self._graph.names is not None, "it has URLs"
            return [_with_path(name) for name in self._graph.names]
        sites = self._graph.site.tolist()
        return [f"http://{_host_of_site(site)}/{page}" for page, site in enumerate(sites)]

    @cached_property
    def _keys(self) -> bytes:
        return b"".join(map(_KEYS.of, self._urls))

    @cached_property
    def _hosts(self) -> tuple[list[str], PageNumbers]:
        """The hosts, and which of them each page belongs to."""
        if not self.has_urls:
            names = [_host_of_site(site) for site in range(int(self._graph.site.max()) + 1)]
            return names, self._graph.site
        numbers: dict[str, int] = {}
        found = [numbers.setdefault(host_of(url), len(numbers)) for url in self._urls]
        return list(numbers), np.array(found, np.int32)


def _host_of_site(site: int) -> str:
    return f"site{site:07}.example"


def _is_url(name: str) -> bool:
    return name.startswith(_SCHEMES)


def _with_path(url: str) -> str:
    """The URL with at least `/` after its host, as canonical URLs have it."""
    return url if "/" in url[8:] else f"{url}/"
