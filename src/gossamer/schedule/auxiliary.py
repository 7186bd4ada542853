"""Where does an errand go, a request for robots.txt or a sitemap?

To a host that perhaps nobody has heard of: no link to it has been admitted, so it may have neither
a name nor a row yet.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.frontier.frontier import Frontier
from gossamer.schedule.host_queues import Host
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import Keys
from gossamer.urls.site import site_of


def host_to_ask(
    url: str, frontier: Frontier, keys: Keys, host_of_key: Callable[[bytes], Host]
) -> Host:
    """The host of a URL, with its name and a row; whoever gives it work places it."""
    name = host_of(url)
    row = frontier.touch(key := keys.host(name))
    row.name = row.name or name
    host = host_of_key(key)
    host.name = host.name or name
    host.site = host.site or site_of(name)
    return host
