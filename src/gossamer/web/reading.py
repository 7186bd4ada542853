"""Read collections as JSON objects, for the API and for the pages.

Every function only reads. Lists are limited, and say so, because a page may have a million links to
it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from gossamer.base.clock import iso_of
from gossamer.errors import NotKnown
from gossamer.frontier.rows import HostRow
from gossamer.graph.lookup import links_from
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.links import check_kept, screenful, with_dates
from gossamer.reader.pages import StoredCapture, StoredPage, times_of
from gossamer.reader.story import Story
from gossamer.reader.story_text import story_sentences
from gossamer.urls.site import site_of

MOST_TEXT: Final = 100_000  # characters of a page's text that are sent
MOST_LINKS: Final = 1_000
_MOST_WORDS: Final = 100  # anchor texts, those of most sites first


def story_and_page(reader: CollectionReader, url: str, at: str) -> tuple[Story, StoredPage | None]:
    """Return a URL's story and its stored page, not yet parsed. Raises UsageError, CorruptFile."""
    story = reader.story(url)
    return story, reader.page(story.url, at or None) if story.captures else None


def page_object(story: Story, kept: StoredPage | None, now_us: int) -> dict[str, Any]:
    """Return all about one URL. Parses its page, which needs no collection and may take a while."""
    return {
        "schema": 1,
        "url": story.url,
        "known": story.row is not None,
        "outcome": story.row.outcome.value if story.row else None,
        "status": (story.row.status or None) if story.row else None,
        "reason": (story.row.reason or None) if story.row else None,
        "duplicate_of": story.duplicates.of or None,
        "copies": story.duplicates.copies,
        "story": story_sentences(story, now_us),
        "versions": _versions(story.captures),
        "page": _kept_object(kept) if kept else None,
    }


def _versions(captures: Sequence[StoredCapture]) -> list[dict[str, Any]]:
    """Return all captures of a URL, the newest first, each with the time that identifies it."""
    return [
        {
            "at": at,
            "status": capture.status,
            "type": capture.type or None,
            "bytes": capture.size_bytes,
            "digest": capture.digest or None,
        }
        for capture, at in zip(reversed(captures), reversed(times_of(captures)), strict=True)
    ]


def _kept_object(kept: StoredPage) -> dict[str, Any]:
    page = kept.page
    return {
        "at": iso_of(kept.at_us),
        "status": kept.status,
        "type": kept.content_type or None,
        "bytes": len(kept.raw_body),
        "title": page.title,
        "language": page.language or None,
        "description": page.description or None,
        "charset": page.charset or None,
        "canonical": page.canonical or None,
        "generator": page.generator or None,
        "robots": sorted(page.robots),
        "headings": list(page.headings[:50]),
        "headers": [list(pair) for pair in kept.headers],
        "text": page.text[:MOST_TEXT],
        "text_is_cut": len(page.text) > MOST_TEXT,
        "kind": kept.kind,
        "noarchive": kept.is_noarchive,
        "cut": kept.is_cut,
        "fault": kept.fault or None,
    }


def backlinks_object(
    reader: CollectionReader, url: str, by: str, limit: int, offset: int
) -> dict[str, Any]:
    """Return the links to a URL and their anchor texts. Raises NotKnown, CorruptFile, NoLinks."""
    meant, found = screenful(reader, url, by, limit=limit, offset=offset, words=_MOST_WORDS)
    return {
        "schema": 1,
        "url": meant,
        "by": by,
        "total": found.total,
        "links": found.links.to_pylist(),
        "anchors": found.anchors.to_pylist(),
        "anchors_total": found.anchors_total,
    }


def links_object(reader: CollectionReader, url: str, limit: int, offset: int) -> dict[str, Any]:
    """Return the links of a page and their outcomes. Raises NotKnown, CorruptFile, NoLinks."""
    check_kept(reader)
    row = reader.get(url)
    table = links_from(reader.paths.graph, row.url)
    links = with_dates(table.slice(offset, limit)).to_pylist()
    for link in links:
        target = reader.find(link["target"])
        link["outcome"] = target.outcome.value if target else None
        link["status"] = (target.status or None) if target else None
        link["reason"] = (target.reason or None) if target else None
    return {"schema": 1, "url": row.url, "total": table.num_rows, "links": links}


def host_object(host: HostRow, now_us: int) -> dict[str, Any]:
    """Return the facts about a host; `rests_s` is the time until the next request is allowed."""
    return {
        "host": host.name,
        "site": site_of(host.name),
        "known": host.known,
        "queued": host.queued,
        "waiting": host.waiting,
        "fetched": host.fetched,
        "failed": host.failed,
        "refused": host.refused,
        "bytes": host.size_bytes,
        "rests_s": round(max(0, host.free_us - now_us) / 1e6, 1),
        "crawl_delay_s": host.crawl_delay_s or None,
        "trouble": host.trouble or None,
    }


_COUNTS: Final = ("known", "queued", "waiting", "fetched", "failed", "refused", "bytes")


def hosts_object(
    reader: CollectionReader, by: str, sort: str, limit: int, offset: int, now_us: int
) -> dict[str, Any]:
    """Return hosts or sites, those with the highest `sort` first."""
    if by == "site":
        sites = _by_site(reader.host_rows())
        shown = heapq.nsmallest(offset + limit, sites, key=lambda row: (-row[sort], row["site"]))
        return {"schema": 1, "by": by, "total": len(sites), "hosts": shown[offset:]}
    total = 0

    def counted() -> Iterator[HostRow]:
        nonlocal total
        for host in reader.host_rows():
            total += 1
            yield host

    # Only the rows up to the last shown one are kept: there may be a million hosts.
    first = heapq.nsmallest(
        offset + limit, counted(), key=lambda host: (-_count(host, sort), host.name)
    )
    hosts = [host_object(host, now_us) for host in first[offset:]]
    return {"schema": 1, "by": by, "total": total, "hosts": hosts}


def _count(host: HostRow, name: str) -> int:
    count: int = host.size_bytes if name == "bytes" else getattr(host, name)
    return count


def _by_site(hosts: Iterable[HostRow]) -> list[dict[str, Any]]:
    sites: dict[str, dict[str, Any]] = {}
    for host in hosts:
        name = site_of(host.name)
        site = sites.setdefault(name, {"site": name, "hosts": 0, **dict.fromkeys(_COUNTS, 0)})
        site["hosts"] += 1
        for count in _COUNTS:
            site[count] += _count(host, count)
    return list(sites.values())


def busiest_hosts(reader: CollectionReader, most: int, now_us: int) -> list[dict[str, Any]]:
    """Return the hosts with the longest queues, and those with problems, for the live view."""
    hosts = heapq.nlargest(
        most,
        (host for host in reader.host_rows() if host.queued or host.waiting or host.fetched),
        key=lambda host: (host.queued + host.waiting, host.fetched),
    )
    return [host_object(host, now_us) for host in hosts]


def captured(reader: CollectionReader, url: str, at: str) -> StoredPage:
    """Return the page whose copy is shown. Raises NotKnown, UsageError, CorruptFile."""
    page = reader.page(url, at or None)
    if not page.body:
        raise NotKnown(f"the response of {page.url} has no body")
    return page
