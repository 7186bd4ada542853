"""Find search results whose stored copy should be shown instead of the live site.

There are two kinds, and neither needs a request to another machine: pages of a collection that was
only imported, and pages of a site on this machine (the demo web, a test server) whose port is
closed.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Final

from gossamer.urls.canonical import host_of, origin_of, port_of
from gossamer.web.protect.guard import is_loopback
from gossamer.web.route import ViewContext

_KEEP_S: Final = 30.0
_CONNECT_S: Final = 0.3


def gone_among(context: ViewContext, crawl: str, urls: Iterable[str]) -> frozenset[str]:
    """Return the URLs whose site is unreachable or unknown. Raises NoCollection."""
    found = tuple(urls)
    if not found:
        return frozenset()
    with context.collections.reader(crawl) as reader:
        is_imported = not reader.seeds()
    return frozenset(found if is_imported else (url for url in found if _is_gone(context, url)))


def _is_gone(context: ViewContext, url: str) -> bool:
    host = host_of(url).strip("[]")
    if not (is_loopback(host) or host.endswith(".localhost")):
        return False
    key, now_s = ("gone", origin_of(url)), context.clock.now_s()
    return context.lately.get(key, now_s, _KEEP_S, lambda: not _listens(host, port_of(url)))


def _listens(host: str, port: int) -> bool:
    address = "127.0.0.1" if host.endswith("localhost") else host
    try:
        with socket.create_connection((address, port), _CONNECT_S):
            return True
    except OSError:
        return False
