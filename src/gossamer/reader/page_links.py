"""The links of a page: target URLs and anchor texts."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.base.notebook import plain
from gossamer.records import Edge, Page
from gossamer.urls.linker import Linker
from gossamer.workers.link_cache import LinkCache


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link of a page: its target, anchor text, relation and place."""

    url: str
    text: str
    rel: str
    place: str

    def __repr__(self) -> str:
        more = "".join(f", {name}" for name in (self.rel, self.place) if name)
        return f'<PageLink {plain(self.url)} "{plain(self.text, 60)}"{more}>'


def link_of(edge: Edge) -> PageLink:
    """Convert an edge of the crawl."""
    return PageLink(edge.target, edge.text, edge.rel, edge.place)


def links_of(page: Page, url: str, linker: Linker) -> tuple[PageLink, ...]:
    """Return all links of a page that are URLs, in order, as a crawl finds them."""
    edges = LinkCache(linker).edges(page, url).edges
    return tuple(link_of(edge) for edge in edges if not edge.fault)
