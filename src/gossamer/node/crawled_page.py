"""The page value that a crawl passes to user code while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.base.notebook import escaped, facts_table, link_to, plain, quoted
from gossamer.reader.page_links import PageLink, link_of
from gossamer.workers.process import ProcessedPage


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page that was just fetched."""

    url: str
    status: int
    type: str
    title: str
    language: str
    text: str
    headings: tuple[str, ...]
    links: tuple[PageLink, ...]
    depth: int
    bytes: int
    redirect: str

    def __repr__(self) -> str:
        told = f"redirect to {plain(self.redirect)}" if self.redirect else quoted(self.title)
        return f"<CrawledPage {self.status} {plain(self.url)} {told}, {len(self.links)} links>"

    def _repr_html_(self) -> str:
        """HTML for notebooks: the facts, and the first part of the text."""
        facts = [
            ("URL", link_to(self.url)),
            ("status", str(self.status)),
            ("type", escaped(self.type)),
            ("redirect to", escaped(self.redirect)),
            ("language", escaped(self.language)),
            ("depth", str(self.depth)),
            ("size", f"{self.bytes:,} bytes"),
            ("links", f"{len(self.links):,}"),
            ("text", escaped(self.text, 500)),
        ]
        return facts_table(escaped(self.title) or "(no title)", facts)


def page_of(processed: ProcessedPage) -> CrawledPage:
    """The page value of a processed page that was fetched."""
    report, page = processed.report, processed.page
    return CrawledPage(
        url=report.lease.url,
        status=report.status,
        type=report.type,
        title=report.title,
        language=report.language,
        text=page.text if page else "",
        headings=page.headings if page else (),
        links=tuple(link_of(edge) for edge in processed.edges if not edge.fault),
        depth=report.lease.depth,
        bytes=report.size_bytes,
        redirect=report.redirect,
    )
