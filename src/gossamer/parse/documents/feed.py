"""RSS, Atom and JSON Feed as pages.

The links of a feed are its entries, with their titles, and those of the feed itself: its site, its
next page. Enclosures are media, included if the crawl wants their kind. HTML in an entry counts as
text; its links are found when the entry itself is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import turbohtml
from turbohtml import PlainText

from gossamer.parse.anchors import fold
from gossamer.parse.documents.dates import utc_of
from gossamer.parse.documents.sitemap import link_of
from gossamer.parse.documents.xml_list import XmlEntry, XmlList
from gossamer.parse.language.language import declared_language
from gossamer.records import Link, LinkKind, Page, Place

XML_ROOTS: Final = frozenset({"rss", "rdf", "feed"})
_WORDS: Final = PlainText(bullet="", layout="strict")
_DATES: Final = ("updated", "modified", "pubdate", "published", "issued", "date")
_BODIES: Final = ("encoded", "content", "description", "summary")
_MAX_TITLE_CHARS: Final = 1000
_MAX_JSON_ITEMS: Final = 50_000
# Relations of Atom links that lead to another part of the same feed, or to its site.
_FOLLOWED: Final = frozenset({"alternate", "next", "previous", "first", "last", "prev-archive"})


def feed_page(url: str, listed: XmlList, wants_media: frozenset[str]) -> Page:
    """The page of an RSS or Atom feed."""
    head = listed.head
    links = [*_head_links(head)]
    texts = [head.first("description", "subtitle", "tagline")]
    dates: list[tuple[str, str]] = []
    for entry in listed.entries:
        title = _plain(entry.first("title"))
        if target := link_of(entry):
            links.append(Link(target, LinkKind.ANCHOR, title, place=Place.MAIN))
            dates.append((target, utc_of(entry.first(*_DATES))))
        links += _enclosures(entry, wants_media)
        texts += (title, _plain(entry.first(*_BODIES)))
    return Page(
        base=url,
        title=_plain(head.first("title"))[:_MAX_TITLE_CHARS],
        description=_plain(texts[0])[:_MAX_TITLE_CHARS],
        text="\n".join(filter(None, texts)),
        language=declared_language(head.first("language")),
        links=tuple(links),
        generator=fold(head.first("generator"))[:_MAX_TITLE_CHARS],
        dates=tuple(pair for pair in dates if pair[1]),
    )


def _head_links(head: XmlEntry) -> Iterator[Link]:
    for f in head.fields:
        if f.name == "link" and f.level == 1:
            rel = f.attributes.get("rel", "alternate").lower()
            target = f.attributes.get("href", "") or f.text
            if target and rel in _FOLLOWED:
                yield Link(target, LinkKind.LINK, rel=rel, place=Place.HEAD)


def _enclosures(entry: XmlEntry, wants_media: frozenset[str]) -> Iterator[Link]:
    for f in entry.fields:
        address = f.attributes.get("url", "")
        if f.name == "link" and f.attributes.get("rel", "").lower() == "enclosure":
            address = f.attributes.get("href", "")
        elif f.name not in ("enclosure", "content", "thumbnail"):
            continue
        kind = f.attributes.get("type", "").lower().partition("/")[0]
        medium = "image" if f.name == "thumbnail" else f.attributes.get("medium", "") or kind
        if address and _is_wanted(medium, wants_media):
            yield Link(address, LinkKind.MEDIA, place=Place.MAIN)


def json_feed_page(url: str, source: str, wants_media: frozenset[str]) -> Page | None:
    """The page of a JSON Feed; None if it is other JSON, or invalid."""
    try:
        feed = json.loads(source)
    except (ValueError, RecursionError):
        return None
    if not isinstance(feed, dict) or "jsonfeed.org" not in _string(feed, "version"):
        return None
    links = [
        Link(target, LinkKind.LINK, rel=rel, place=Place.HEAD)
        for name, rel in (("home_page_url", "alternate"), ("next_url", "next"))
        if (target := _string(feed, name))
    ]
    texts = [_string(feed, "description")]
    dates: list[tuple[str, str]] = []
    for item in _dicts(feed, "items"):
        title = fold(_string(item, "title"))
        targets = [t for t in (_string(item, "url"), _string(item, "external_url")) if t]
        date = utc_of(_string(item, "date_modified") or _string(item, "date_published"))
        dates += [(target, date) for target in targets[:1] if date]
        links += (Link(target, LinkKind.ANCHOR, title, place=Place.MAIN) for target in targets)
        links += _attachments(item, wants_media)
        body = _string(item, "content_text") or _plain(_string(item, "content_html"))
        texts += (title, body or _string(item, "summary"))
    return Page(
        base=url,
        title=fold(_string(feed, "title"))[:_MAX_TITLE_CHARS],
        description=fold(texts[0])[:_MAX_TITLE_CHARS],
        text="\n".join(filter(None, texts)),
        language=declared_language(_string(feed, "language")),
        links=tuple(links),
        dates=tuple(dates),
    )


def _attachments(item: dict[str, Any], wants_media: frozenset[str]) -> Iterator[Link]:
    for attachment in _dicts(item, "attachments"):
        kind = _string(attachment, "mime_type").lower().partition("/")[0]
        address = _string(attachment, "url")
        if address and _is_wanted(kind, wants_media):
            yield Link(address, LinkKind.MEDIA, _string(attachment, "title"), place=Place.MAIN)
    for name in ("image", "banner_image"):
        if (address := _string(item, name)) and _is_wanted("image", wants_media):
            yield Link(address, LinkKind.MEDIA, place=Place.MAIN)


def _is_wanted(kind: str, wants_media: frozenset[str]) -> bool:
    return "any" in wants_media or kind in wants_media


def _string(values: dict[str, Any], name: str) -> str:
    """A string value. A JSON escape may give a lone surrogate, which cannot be encoded: a row of
    the state with one would stop the crawl.
    """
    value = values.get(name)
    if not isinstance(value, str):
        return ""
    if value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _dicts(values: dict[str, Any], name: str) -> Iterable[dict[str, Any]]:
    found = values.get(name)
    items = found[:_MAX_JSON_ITEMS] if isinstance(found, list) else ()
    return (item for item in items if isinstance(item, dict))


def _plain(written: str) -> str:
    """The text of a value that may be HTML."""
    if "<" not in written and "&" not in written:
        return fold(written)
    return fold(turbohtml.parse(written).to_text(_WORDS))
