"""Turn a response into a report: decode, parse, resolve links.

The same code reads a fresh response and one replayed from the archive, so both give the same
report. The object holds only caches, which may be lost at any time: the links it has resolved, and
the URLs it has already reported to the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from gossamer.fetch.decode import decode
from gossamer.fetch.head import Head
from gossamer.fetch.judge import mime_of, type_of
from gossamer.index.prepared import Prepared
from gossamer.parse.documents.documents import links_of_sitemap
from gossamer.parse.documents.sitemap import Unreadable, read_sitemap
from gossamer.parse.html import Parser
from gossamer.parse.mime import parse_mime
from gossamer.policies.named_order import looks_at_links
from gossamer.politeness.pace import retry_after_s
from gossamer.records import (
    NAMED,
    Answer,
    Edge,
    Failed,
    Fetched,
    Found,
    Lease,
    LinkKind,
    ListedUrl,
    Outcome,
    Page,
    PageChange,
    Purpose,
    Reason,
    Refused,
    Report,
    Stored,
)
from gossamer.settings import Settings
from gossamer.urls.ascend import above
from gossamer.urls.linker import Linker
from gossamer.urls.repeated_links import pack_links, repeated
from gossamer.workers.link_cache import LinkCache
from gossamer.workers.link_texts import link_texts
from gossamer.workers.linked_hosts import edges_to, found_at, hosts_of_first
from gossamer.workers.listed_urls import listed_in_sitemap, listed_urls
from gossamer.workers.page_news import NO_NEWS, PageNews, news_judge_for
from gossamer.workers.previous_versions import NO_VERSIONS, PreviousVersions
from gossamer.workers.repeated import etag_of
from gossamer.workers.sketching import sketcher_for

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.workers.focus_words import FocusWords

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_key_of: Final = itemgetter(Edge._fields.index("key"))
_found_key_of: Final = itemgetter(Found._fields.index("key"))
_BUSY: Final = frozenset({429, 503})
_GZIP: Final = b"\x1f\x8b"
LED_TO_FORGOTTEN: Final = "redirect to a URL that was taken down"
_REMEMBERED: Final = 500_000  # reported URLs, 100 bytes each; a lost entry is only reported again


class ProcessedPage(Struct, frozen=True, array_like=True):
    """A report for the node, the page, its links for the graph, and anchor texts for the index."""

    report: Report
    page: Page | None = None
    edges: Sequence[Edge] = ()
    # anchor texts not reported before, with their targets (`index/anchor_pack.py`)
    anchors: bytes = b""
    # the text prepared for the index; the page's own text is empty then
    ready: Prepared | None = None


class PageProcessor:
    """Turns responses into reports."""

    def __init__(
        self,
        settings: Settings,
        parser: Parser,
        linker: Linker,
        *,
        counts_links: bool = False,
        versions: PreviousVersions = NO_VERSIONS,
        focus: FocusWords | None = None,
    ) -> None:
        """`counts_links`: the reports count the links to URLs that were reported before. `focus`:
        they have the words of pages and links."""
        self._parser = parser
        self._linker = linker
        self._forms = LinkCache(linker)
        self._max_decoded_bytes = settings.parse.max_decoded_bytes
        self._max_redirects = settings.fetch.max_redirects
        self._obeys_rel = settings.politeness.rel_nofollow == "obey"
        self._watches_depth = settings.scope.depth >= 0
        self._hosts_per_page = settings.frontier.hosts_per_page
        self._ascends = settings.urls.ascend
        self._news = news_judge_for(settings)
        self._sketch = sketcher_for(settings.duplicates.mode)
        self._counts_links = counts_links
        self._versions = versions
        self._focus = focus
        self._has_link_texts = looks_at_links(settings.frontier.order)
        self._reported: dict[bytes, int] = {}
        self._reported_before: dict[bytes, int] = {}

    def key_of(self, url: str) -> bytes:
        """The key of a URL in this collection."""
        return self._linker.key_of(url)

    def processed(self, lease: Lease, answer: Answer, stored: Stored) -> ProcessedPage:
        """Everything that follows from a response."""
        match answer:
            case Fetched() if lease.purpose is Purpose.KEPT:
                return ProcessedPage(_report(lease, answer, stored, "", Head(b"")))
            case Fetched():
                return self._fetched(lease, answer, stored)
            case Failed(reason=reason, detail=detail):
                return ProcessedPage(
                    unfetched(Outcome.FAILED, lease, answer, stored, reason, detail)
                )
            case Refused(reason=reason, detail=detail):
                return ProcessedPage(
                    unfetched(Outcome.REFUSED, lease, answer, stored, reason, detail)
                )

    def _fetched(self, lease: Lease, answer: Fetched, stored: Stored) -> ProcessedPage:
        head = Head(answer.head)
        mime = type_of(head.content_type(), answer.body)
        if answer.status in _BUSY:
            return ProcessedPage(self._busy(lease, answer, stored, head))
        if answer.status in _REDIRECTS and head.first("location"):
            return self._redirect(lease, answer, stored, head, mime)
        coding = head.first("content-encoding")
        body, fault = answer.body, ""
        if coding and body:
            decoded = decode(body, coding, self._max_decoded_bytes)
            body, fault = decoded.body, decoded.fault
        # Imported archives hold bodies that our fetcher would have refused: 40 MB of links take 1
        # GB.
        if len(body) > (most := max(self._max_decoded_bytes, lease.max_body_bytes)):
            body, fault = (
                body[:most],
                fault or f"it has {len(body)} bytes; {most} of them were read",
            )
        if fault and not body:
            return ProcessedPage(
                unfetched(Outcome.FAILED, lease, answer, stored, Reason.ENCODING, fault)
            )
        if lease.purpose is Purpose.ROBOTS:
            body = self._without_forgotten(answer.url, body)
            return ProcessedPage(_report(lease, answer, stored, mime, head, body=body))
        if lease.purpose is Purpose.SITEMAP:
            return ProcessedPage(self._sitemap(lease, answer, stored, head, body))
        page = self._parser.parse(
            answer.url,
            head.content_type(),
            body,
            head.all("x-robots-tag"),
            head.all("link"),
        )
        is_nofollow = "nofollow" in page.robots
        is_canonical = answer.url == lease.url
        links = self._forms.edges(
            page, answer.url, is_kept=not is_nofollow, is_canonical=is_canonical
        )
        if is_nofollow or self._obeys_rel or self._watches_depth:
            found = self._found_with_care(lease, links.edges, is_nofollow=is_nofollow)
        else:
            found = self._found(lease, links.new)
        if self._ascends:
            found = (*found, *self._found_at(lease, answer.url, above(answer.url)))
        all_found = tuple(found)
        hosts = hosts_of_first(all_found, self._hosts_per_page) if lease.depth else None
        # A page that links to more hosts than allowed: only links to the first hosts are reported.
        reported = all_found if hosts is None else found_at(all_found, hosts)
        news = self._news.judge(lease, mime, page, body, links.edges, reported)
        new = links.new if hosts is None else edges_to(links.new, hosts)
        report = _report(
            lease,
            answer,
            stored,
            mime,
            head,
            detail=fault,
            page=page,
            found=reported + news.again,
            out_links=len(links.edges) - links.faults,
            dropped=len(all_found) - len(reported),
            repeated=self._repeated(lease, links.edges, reported + news.again, hosts),
            sketch=self._sketch(mime, body, page) if answer.status == 200 else b"",
            listed=listed_urls(self._linker, answer.url, page.dates),
            change=self._versions.change(lease, answer, stored.digest, body, page),
            news=news,
            focus=self._focus_words(lease, answer, page, links.new, reported),
        )
        report = self._with_link_texts(report, page, links.edges)
        return ProcessedPage(report, page, links.edges, self._forms.anchors(new, lease.key))

    def _with_link_texts(self, report: Report, page: Page, edges: Sequence[Edge]) -> Report:
        """The report with anchor text and context of the links to new URLs, if they are wanted."""
        if not self._has_link_texts or not report.found:
            return report
        return structs.replace(report, link_texts=link_texts(page.text, edges, report.found))

    def _focus_words(
        self,
        lease: Lease,
        answer: Fetched,
        page: Page,
        new: Sequence[Edge],
        found: Sequence[Found],
    ) -> bytes:
        if self._focus is None or answer.status != 200:
            return b""
        return self._focus.of(lease.url, page, new, found)

    def _repeated(
        self,
        lease: Lease,
        edges: Sequence[Edge],
        reported: Sequence[Found],
        hosts: set[bytes] | None,
    ) -> bytes:
        """The links of a page to other pages that are not in `reported`."""
        if not self._counts_links:
            return b""
        edges = edges if hosts is None else edges_to(edges, hosts)
        links = repeated(map(_key_of, edges), map(_found_key_of, reported))
        for key in (b"", lease.key):  # of invalid URLs, and of the page itself
            links.pop(key, None)
        return pack_links(links)

    def _without_forgotten(self, url: str, rules: bytes) -> bytes:
        """A robots.txt without its forgotten sitemaps. The other lines keep their numbers."""
        if not self._linker.has_forgotten:
            return rules
        lines = rules.split(b"\n")
        for number, line in enumerate(lines):
            name, _, value = line.partition(b":")
            href = value.strip().decode("utf-8", "replace")
            if name.strip().lower() == b"sitemap" and self._linker.is_forgotten(url, href):
                lines[number] = b""
        return b"\n".join(lines)

    def _found(self, lease: Lease, new: Sequence[Edge]) -> Sequence[Found]:
        """The URLs that were not reported to the node before."""
        depth, via = lease.depth + 1, lease.key
        found = self._forms.found(new, self._reported, self._reported_before, depth, via)
        self._forget()
        return found

    def _found_with_care(
        self, lease: Lease, edges: Iterable[Edge], *, is_nofollow: bool
    ) -> Iterable[Found]:
        """Do the same where path length and rel matter: a shorter path is reported again."""
        depth, via, reported, before = (
            lease.depth + 1,
            lease.key,
            self._reported,
            self._reported_before,
        )
        for edge in edges:
            key = edge.key
            if not key:
                continue
            if is_nofollow or (self._obeys_rel and "nofollow" in edge.rel.split()):
                yield Found(edge.target, key, depth, via, 0, is_nofollow=True)
            elif (key not in reported and key not in before) or self._is_nearer(key, depth):
                reported[key] = depth
                yield Found(edge.target, key, depth, via)
        self._forget()

    def _sitemap(
        self, lease: Lease, answer: Fetched, stored: Stored, head: Head, body: bytes
    ) -> Report:
        """The report of a sitemap: the pages or the sitemaps that it lists."""
        content_type = head.content_type()
        mime = mime_of(content_type)
        if not 200 <= answer.status < 300:
            return _report(lease, answer, stored, mime, head)
        if body.startswith(_GZIP):
            body = decode(body, "gzip", self._max_decoded_bytes).body
        read = read_sitemap(answer.url, body, parse_mime(content_type).charset)
        if isinstance(read, Unreadable):
            return _report(lease, answer, stored, mime, head, detail=read.why)
        links = links_of_sitemap(read, self._parser.wants_media)
        hrefs = [link.href for link in links]
        if read.kind == "index":
            resolved = self._linker.resolve_all(answer.url, hrefs)
            sitemaps = tuple(dict.fromkeys(one[0] for one in resolved if one))
            report = _report(lease, answer, stored, mime, head, detail=read.fault)
            return structs.replace(report, sitemaps=sitemaps)
        if lease.via:
            found = tuple(self._found_at(lease, answer.url, hrefs))
        else:  # the operator named it, not a robots.txt or a sitemap index
            resolved = self._linker.resolve_all(answer.url, hrefs)
            found = tuple(Found(one[0], one[1], 0, NAMED) for one in resolved if one)
        listed = listed_in_sitemap(self._linker, answer.url, read)
        return _report(
            lease, answer, stored, mime, head, detail=read.fault, found=found, listed=listed
        )

    def _found_at(self, lease: Lease, base: str, hrefs: Iterable[str]) -> Iterable[Found]:
        """URLs that are listed and are not links, without those reported before."""
        depth, via, reported, before = (
            lease.depth + 1,
            lease.key,
            self._reported,
            self._reported_before,
        )
        for href in hrefs:
            resolved = self._linker.resolve(base, href)
            if resolved is None:
                continue
            url, key = resolved
            if (key not in reported and key not in before) or self._is_nearer(key, depth):
                reported[key] = depth
                yield Found(url, key, depth, via)
        self._forget()

    def _forget(self) -> None:
        if len(self._reported) > _REMEMBERED // 2:
            self._reported, self._reported_before = {}, self._reported

    def _is_nearer(self, key: bytes, depth: int) -> bool:
        """Whether a depth limit holds and the node knows only a longer path."""
        if not self._watches_depth:
            return False
        before = self._reported.get(key)
        return depth < (self._reported_before[key] if before is None else before)

    def _redirect(
        self, lease: Lease, answer: Fetched, stored: Stored, head: Head, mime: str
    ) -> ProcessedPage:
        location = head.location()
        resolved = self._linker.resolve(answer.url, location)
        if resolved is None:
            fault = self._linker.fault(answer.url, location) or "it is not an http or https URL"
            detail = f"redirect to {location[:200]!r}: {fault}"
            if self._linker.is_forgotten(answer.url, location):
                detail = LED_TO_FORGOTTEN
            return ProcessedPage(_report(lease, answer, stored, mime, head, detail=detail))
        target, key = resolved
        found = Found(target, key, lease.depth, lease.key, lease.redirects + 1)
        edge = Edge(target, key, "", "", "head", LinkKind.REDIRECT)
        report = _report(
            lease, answer, stored, mime, head, redirect=target, found=(found,), out_links=1
        )
        return ProcessedPage(report, None, (edge,))

    def _busy(self, lease: Lease, answer: Fetched, stored: Stored, head: Head) -> Report:
        wait_s = retry_after_s(head.first("retry-after"), answer.at_us) or 0.0
        detail = f"status {answer.status}" + (f", Retry-After {wait_s:.0f} s" if wait_s else "")
        return unfetched(Outcome.FAILED, lease, answer, stored, Reason.BUSY, detail, wait_s)


def _report(
    lease: Lease,
    answer: Fetched,
    stored: Stored,
    mime: str,
    head: Head,
    *,
    detail: str = "",
    page: Page | None = None,
    redirect: str = "",
    found: tuple[Found, ...] = (),
    out_links: int = 0,
    body: bytes = b"",
    dropped: int = 0,
    repeated: bytes = b"",
    sketch: bytes = b"",
    listed: tuple[ListedUrl, ...] = (),
    change: PageChange | None = None,
    news: PageNews = NO_NEWS,
    focus: bytes = b"",
) -> Report:
    return Report(
        lease=lease,
        outcome=Outcome.FETCHED,
        at_us=answer.at_us,
        took_s=answer.took_s,
        stored=stored,
        detail=detail,
        status=answer.status,
        type=mime,
        size_bytes=len(answer.body),
        digest=stored.digest,
        modified_at=head.first("last-modified"),
        etag=etag_of(head),
        title=page.title[:300] if page else "",
        language=page.language if page else "",
        robots=page.robots if page else frozenset(),
        redirect=redirect,
        is_cut=bool(answer.cut),
        found=found,
        out_links=out_links,
        body=body,
        dropped=dropped,
        repeated=repeated,
        sketch=sketch,
        listed=listed,
        change=change,
        news=news.grade,
        text_numbers=news.numbers,
        focus=focus,
    )


def unfetched(
    outcome: Outcome,
    lease: Lease,
    answer: Answer,
    stored: Stored,
    reason: Reason,
    detail: str,
    retry_after_s: float = 0.0,
) -> Report:
    """The report of a URL that gave no page, whatever the request returned."""
    return Report(
        lease=lease,
        outcome=outcome,
        at_us=answer.at_us,
        took_s=answer.took_s,
        stored=stored,
        reason=reason,
        detail=detail,
        status=answer.status,
        type=answer.type if isinstance(answer, Refused) else "",
        named_bytes=answer.named_bytes if isinstance(answer, Refused) else 0,
        retry_after_s=retry_after_s,
        wasted_bytes=answer.came_bytes if isinstance(answer, Failed) else 0,
    )


def crashed(lease: Lease, answer: Answer, stored: Stored, detail: str) -> Report:
    """The report of a page on which our own code failed."""
    return unfetched(Outcome.FAILED, lease, answer, stored, Reason.CRASH, detail)
