"""Small random webs on several hosts, and the order in which simple crawlers would fetch them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.url_order import UrlOrder
from support.a_site import page

Url = tuple[str, str]  # host and path


@dataclass
class SmallWeb:
    """Pages and their links. The first page of each host is a seed."""

    hosts: Sequence[str]
    links: Mapping[Url, Sequence[Url]]

    @property
    def seeds(self) -> list[Url]:
        return [(host, "/") for host in self.hosts]

    def pages(self, port: int) -> dict[str, dict[str, bytes]]:
        """What a server has to answer, by host and path."""
        served: dict[str, dict[str, bytes]] = {host: {} for host in self.hosts}
        for (host, path), targets in self.links.items():
            anchors = (f"<a href=http://{h}:{port}{p}>{p[1:]}</a>" for h, p in targets)
            served[host][path] = page(_words(f"{host}{path}") + " ".join(anchors))
        return served


def _words(name: str) -> str:
    """A text that no other page has: pages that bring nothing new are held back."""
    letters = "".join(random.Random(name).choices("abcdefghijklmnop", k=7 * 80))
    words = (letters[at : at + 7] for at in range(0, len(letters), 7))
    return f"<p>{' '.join(words)}</p>"


def small_web(seed: int, hosts: Sequence[str], pages: int, links: int) -> SmallWeb:
    """Some pages have many more links to them than others. Every page can be reached."""
    draw = random.Random(seed)
    urls = [(host, f"/{n}" if n else "/") for n in range(pages) for host in hosts]
    named: dict[Url, list[Url]] = {url: [] for url in urls}
    for at, url in enumerate(urls[len(hosts) :], len(hosts)):
        named[draw.choice(urls[: max(len(hosts), at // 3)])].append(url)
    for url in urls:
        more = [urls[int(len(urls) * draw.random() ** 2)] for _ in range(draw.randrange(links))]
        kept = dict.fromkeys(target for target in [*named[url], *more] if target != url)
        named[url] = draw.sample(list(kept), len(kept))
    return SmallWeb(hosts, named)


@dataclass
class SimpleCrawl:
    """What a crawl knows so far: dictionaries, searched whole for every choice."""

    web: SmallWeb
    found: list[Url] = field(default_factory=list)  # in this order
    fetched: list[Url] = field(default_factory=list)

    def links_to(self, url: Url) -> int:
        """Fetched pages that link to a URL."""
        return sum(url in self.web.links[source] for source in self.fetched)

    def fetched_of(self, host: str) -> int:
        return sum(url[0] == host for url in self.fetched)

    def run(self, worth: Callable[[SimpleCrawl, Url], float]) -> list[Url]:
        """Fetch the seeds, then always the queued URL that is worth most; among equals the first
        found."""
        self.found = list(self.web.seeds)
        while len(self.fetched) < len(self.found):
            queued = [url for url in self.found if url not in self.fetched]
            seeds = [url for url in queued if url in self.web.seeds]
            best = seeds[0] if seeds else max(queued, key=lambda url: worth(self, url))
            self.fetched.append(best)
            self.found += [url for url in self.web.links[best] if url not in self.found]
        return self.fetched


def replayed(web: SmallWeb, order: ColumnOrder) -> list[Url]:
    """The pages in the order that a policy says, if it scores all queued URLs for every choice."""
    pages, links, slots = PageColumns(), Edges(), dict[Url, int]()
    sites = {host: number for number, host in enumerate(web.hosts)}
    fetched: list[Url] = []

    def find(urls: Sequence[Url], depth: int) -> None:
        new = [url for url in urls if url not in slots]
        for url in new:
            slots[url] = pages.add(depth, sites[url[0]])
        if new and isinstance(order, UrlOrder):
            numbers = np.array([slots[url] for url in new], np.int32)
            order.note_urls(pages, numbers, [f"http://{host}{path}" for host, path in new])

    find(web.seeds, 0)
    while len(fetched) < len(slots):
        queued = [url for url in slots if url not in fetched]
        seeds = [url for url in queued if url in web.seeds]
        best = seeds[0] if seeds else _best(queued, slots, pages, order)
        fetched.append(best)
        find(web.links[best], int(pages.depth[slots[best]]) + 1)
        source = np.array([slots[best]], np.int32)
        targets = np.array([slots[url] for url in web.links[best]], np.int32)
        if isinstance(order, UrlOrder):
            order.note_anchors(pages, targets, [path[1:] for _, path in web.links[best]])
        batch = LinkBatch(source, np.array([len(targets)], np.int32), targets)
        pages.note_fetched(source)
        pages.note_links(targets)
        links.add(batch)
        order.learn(pages, links, batch)
        order.recompute(pages, links)
    return fetched


def _best(
    queued: Sequence[Url], slots: Mapping[Url, int], pages: PageColumns, order: ColumnOrder
) -> Url:
    numbers = np.array([slots[url] for url in queued], np.int32)
    had = 1.0 + pages.site_fetched[pages.site[numbers]]
    worth = order.value(pages, numbers) / had**order.site_power
    return queued[int(np.argmax(worth))]
