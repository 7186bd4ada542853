"""The whole demo web: every host, every path, every answer. Pure: nothing here listens.

Addresses carry the port at which the web is served, so it is built for a port. `docs/guide.md`
tells what there is to see; `seeds` names the front page of each host, since only hosts that a
person typed may be at a loopback address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gossamer.demo.garden import garden
from gossamer.demo.library import library
from gossamer.demo.museum import museum
from gossamer.demo.news import news
from gossamer.demo.pages import DemoAnswer, HostPages, Shell, text
from gossamer.demo.stadt import stadt
from gossamer.demo.traps import made_page, traps

DemoSites = Mapping[str, Mapping[str, DemoAnswer]]

HOSTS: Final[dict[str, Callable[[Mapping[str, str]], HostPages]]] = {
    "museum.localhost": museum,
    "library.localhost": library,
    "news.localhost": news,
    "stadt.localhost": stadt,
    "garden.localhost": garden,
    "trap.localhost": traps,
}

# What a crawl of this web should be told beside the seeds. No rest, as the hosts are one's own;
# a bound for each host, as the calendar has none: it is above every honest host's page count.
SETTINGS: Final[dict[str, object]] = {
    "politeness.host_delay_s": 0.0,
    "frontier.pages_per_host": 150,
}

LOST: Final = Shell("Nowhere", "en", (("/", "Front page"),), "")


def roots_at(port: int) -> dict[str, str]:
    """The address of each host, without a slash at the end."""
    return {host: f"http://{host}:{port}" for host in HOSTS}


def seeds_at(port: int) -> tuple[str, ...]:
    """The front page of each host."""
    return tuple(f"{root}/" for root in roots_at(port).values())


def build_web(port: int) -> DemoSites:
    """Every page that is always there, by host and path (with its query)."""
    roots = roots_at(port)
    return {host: build(roots) for host, build in HOSTS.items()}


def answer(web: DemoSites, host: str, target: str) -> DemoAnswer:
    """What a host says to a path with its query: a page, a trap's new page, or a 404."""
    held = web.get(host, {}).get(target)
    if held is None and host == "trap.localhost":
        held = made_page(target)
    return held or LOST.page("Not found", text("There is no such page."), status=404)
