"""The summary of a site: its pages without their content, its folders, and a table of links.

Each line is an object with `kind`: `page`, `folder`, `links` or `counts`. Bounded: folders and
links beyond a number are counted with those of their host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from gossamer.fetch.head import Head
from gossamer.fetch.judge import type_of
from gossamer.fleet.packages.index_entries import PageReader
from gossamer.fleet.packages.job_exchanges import JobExchange
from gossamer.records import Fetched, Purpose
from gossamer.urls.canonical import host_of, path_of

SummaryLine = dict[str, object]

_FOLDER_PARTS: Final = 3  # of a path; deeper folders are counted with these
_MAX_FOLDERS: Final = 50_000
_MAX_PAIRS: Final = 200_000
_MAX_TITLE_CHARS: Final = 300


class SiteSummary:
    """Collects the summary of a job."""

    def __init__(self, pages: PageReader) -> None:
        self._pages = pages
        self._folders: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._links: Counter[tuple[str, str]] = Counter()
        self._counts: dict[str, Counter[str]] = {}

    def add(self, one: JobExchange) -> SummaryLine | None:
        """The line of a page; None for what is no page."""
        lease, answer = one.exchange.lease, one.answer
        if answer is None or lease.purpose is not Purpose.PAGE:
            return None
        page = self._pages.read(answer)
        mime = type_of(Head(answer.head).content_type(), answer.body)
        self._count("status", str(answer.status))
        self._count("type", mime)
        self._count("depth", str(lease.depth))
        if page.language:
            self._count("language", page.language)
        folder = self._folder(lease.url)
        self._folders[folder] += 1
        self._bytes[folder] += len(answer.body)
        links = self._add_links(folder, answer, [link.href for link in page.links], page.base)
        return {
            "kind": "page",
            "url": lease.url,
            "status": answer.status,
            "type": mime,
            "bytes": len(answer.body),
            "title": page.title[:_MAX_TITLE_CHARS].encode("utf-8", "replace").decode(),
            "depth": lease.depth,
            "links": links,
            "digest": one.digest,
        }

    def _count(self, name: str, value: str) -> None:
        self._counts.setdefault(name, Counter())[value] += 1

    def _folder(self, url: str) -> str:
        host, path = host_of(url), path_of(url)
        parts = path.split("/")[1:-1][:_FOLDER_PARTS]
        folder = "/".join((host, *parts, ""))
        is_full = folder not in self._folders and len(self._folders) >= _MAX_FOLDERS
        return f"{host}/" if is_full else folder

    def _add_links(self, folder: str, answer: Fetched, hrefs: list[str], base: str) -> int:
        """Count the links of a page by folder, and those to other hosts by host."""
        own, count = host_of(answer.url), 0
        for href in hrefs:
            target = self._pages.form.find(href, base)
            if target is None:
                continue
            count += 1
            host = host_of(target)
            pair = (folder, self._folder(target) if host == own else f"{host}/")
            if pair not in self._links and len(self._links) >= _MAX_PAIRS:
                pair = (f"{own}/", f"{host}/")
            self._links[pair] += 1
        return count

    def lines(self) -> Iterator[SummaryLine]:
        """The lines on the whole site. Call it after all pages were added."""
        for folder, pages in sorted(self._folders.items()):
            yield {
                "kind": "folder", "folder": folder, "pages": pages, "bytes": self._bytes[folder]
            }  # fmt: skip
        for (source, target), links in sorted(self._links.items()):
            yield {"kind": "links", "source": source, "target": target, "links": links}
        for name, counted in sorted(self._counts.items()):
            yield {"kind": "counts", "of": name, "counts": dict(counted.most_common(1_000))}
