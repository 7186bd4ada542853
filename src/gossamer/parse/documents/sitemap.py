"""The URLs of a sitemap: those of sitemaps.org, plain lists, RSS and Atom.

The format is recognised by content, because servers send sitemaps with any type. By default parsing
is lenient: any namespace, with a doctype, and up to the first error; `Strictness` turns each of
these off. URLs are as written, except for white space and a missing `http://`; scope and the other
admission rules decide which are requested. The caller decompresses gzip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from gossamer.parse.charset import decode, text_charset, xml_charset
from gossamer.parse.documents.dates import utc_of
from gossamer.parse.documents.xml_list import XmlEntry, XmlField, XmlList, read_list

MAX_BYTES: Final = 50 * 2**20  # both limits are from sitemaps.org
MAX_URLS: Final = 50_000
_MAX_LINE_CHARS: Final = 4096
_FREQUENCIES: Final = frozenset(
    {"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"}
)
NAMESPACES: Final = frozenset({
    "http://www.sitemaps.org/schemas/sitemap/0.9",
    "https://www.sitemaps.org/schemas/sitemap/0.9",
    "http://www.sitemaps.org/schemas/sitemap/0.9/",
    "http://www.google.com/schemas/sitemap/0.84",
    "http://www.google.com/schemas/sitemap/0.90",
    "",
})  # fmt: skip
_URL_LINE: Final = re.compile(r"(?:https?://|www\.)[^\s<>\"]+", re.IGNORECASE)
_WITHOUT_SCHEME: Final = re.compile(r"www\.[^\s/]+\.", re.IGNORECASE)
# Elements of the image and video extensions that name a file, by the kind of file.
_MEDIA: Final = {
    ("image", "loc"): "image",
    ("video", "thumbnail_loc"): "image",
    ("video", "content_loc"): "video",
}

SitemapKind = Literal["index", "urlset", "rss", "atom", "text"]
_KINDS: Final[dict[str, SitemapKind]] = {
    "urlset": "urlset", "sitemapindex": "index", "rss": "rss", "rdf": "rss", "feed": "atom",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Strictness:
    """What makes a sitemap unreadable; by default nearly nothing."""

    refuses_faults: bool = False  # invalid XML anywhere
    refuses_doctype: bool = False
    refuses_namespace: bool = False  # other namespaces than those of sitemaps
    drops_outside: bool = False  # URLs outside of the sitemap's own directory


@dataclass(frozen=True, slots=True)
class SitemapUrl:
    """A URL in a sitemap. `modified_at` is in UTC, like 2004-10-01T18:23:17Z."""

    url: str
    modified_at: str = ""
    changefreq: str = ""
    priority: float = 0.5  # the default of sitemaps.org
    alternates: tuple[str, ...] = ()  # the same page in other languages
    media: tuple[tuple[str, str], ...] = ()  # kind (image, video) and URL of files on it


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The content of a sitemap; the URLs of an `index` are sitemaps. `fault`: why reading ended
    early.
    """

    kind: SitemapKind
    urls: tuple[SitemapUrl, ...]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Not a sitemap, or one that is refused. `why` is a sentence."""

    why: str


_KIND: Final = Strictness()


def read_sitemap(
    url: str, body: bytes, charset: str = "", strictness: Strictness = _KIND
) -> Sitemap | Unreadable:
    """The sitemap at `url`. `charset` is the label of the HTTP header. Never raises."""
    body = body[:MAX_BYTES]
    source = decode(body, xml_charset(body, charset))
    if source.lstrip("\ufeff\t\n\r ")[:1] != "<":
        return _text_sitemap(url, decode(body, text_charset(body, charset)), strictness)
    return sitemap_of(url, read_list(source, MAX_URLS), strictness)


def sitemap_of(url: str, listed: XmlList, strictness: Strictness = _KIND) -> Sitemap | Unreadable:
    """The sitemap in a parsed XML list. If it is truncated or invalid at the end, its first part is
    kept.
    """
    kind = _KINDS.get(listed.root)
    if kind is None:
        named = f"its root is {listed.root[:40]!r}" if listed.root else "it has no root"
        return Unreadable(f"this is not a sitemap: {named}")
    if "doctype builds" in listed.fault:
        return Unreadable(listed.fault)
    if strictness.refuses_faults and listed.fault:
        return Unreadable(f"its XML is invalid ({listed.fault})")
    if strictness.refuses_doctype and listed.has_doctype:
        return Unreadable("it has a doctype")
    is_own = kind in ("urlset", "index")
    if strictness.refuses_namespace and is_own and listed.namespace not in NAMESPACES:
        return Unreadable(f"the namespace {listed.namespace!r} is not a sitemap namespace")
    read = _of_feed if not is_own else _of_sitemap
    urls: Iterable[SitemapUrl] = (one for entry in listed.entries for one in read(entry, listed))
    if strictness.drops_outside and kind != "index":
        urls = _below(url, urls)
    return Sitemap(kind, tuple(urls), listed.fault)


def _text_sitemap(url: str, text: str, strictness: Strictness) -> Sitemap | Unreadable:
    urls: list[SitemapUrl] = []
    for line in map(str.strip, text.splitlines()):
        if len(line) <= _MAX_LINE_CHARS and _URL_LINE.fullmatch(line):
            urls.append(SitemapUrl(_with_scheme(line)))
            if len(urls) >= MAX_URLS:
                break
    if not urls:
        return Unreadable("this is not a sitemap: it is neither XML nor a list of URLs")
    if strictness.drops_outside:
        urls = list(_below(url, urls))
    return Sitemap("text", tuple(urls))


def _of_sitemap(entry: XmlEntry, listed: XmlList) -> Iterator[SitemapUrl]:
    """The URL of a `url` or `sitemap` element; several if end tags are missing."""
    own = [f for f in entry.fields if f.level == 1 and f.prefix == listed.prefix]
    groups = _by_loc(own)
    if not groups and _URL_LINE.fullmatch(entry.text):
        groups = [(entry.text, own)]  # <sitemap>https://...</sitemap>
    for number, (written, fields) in enumerate(groups):
        address = _cleaned(written)
        if not address:
            continue
        made = SitemapUrl(
            address,
            utc_of(_text_of(fields, "lastmod")),
            _frequency(_text_of(fields, "changefreq")),
            _priority(_text_of(fields, "priority")),
        )
        if number == 0 and len(entry.fields) > len(own):
            made = replace(made, alternates=_alternates(entry), media=_media(entry))
        yield made


def _by_loc(fields: list[XmlField]) -> list[tuple[str, list[XmlField]]]:
    """Each loc with the fields that belong to it: one loc has all, of several each has those after
    it.
    """
    starts = [n for n, f in enumerate(fields) if f.name == "loc"]
    if len(starts) == 1:
        return [(fields[starts[0]].text, fields)]
    ends = [*starts[1:], len(fields)]
    return [(fields[a].text, fields[a:b]) for a, b in zip(starts, ends, strict=False)]


def _of_feed(entry: XmlEntry, _listed: XmlList) -> Iterator[SitemapUrl]:
    address = _cleaned(link_of(entry))
    if address:
        written = entry.first("pubdate", "updated", "modified", "published", "issued", "date")
        yield SitemapUrl(address, utc_of(written))


def link_of(entry: XmlEntry) -> str:
    """The target of a feed entry, as written: its link, else its id if that is a URL."""
    for f in entry.fields:
        if f.name == "link" and f.level == 1:
            target = f.attributes.get("href", "") or f.text
            if target and f.attributes.get("rel", "alternate") == "alternate":
                return target
    identity = entry.first("guid", "id")
    return identity if _URL_LINE.fullmatch(identity) else ""


def _alternates(entry: XmlEntry) -> tuple[str, ...]:
    return tuple(
        href
        for f in entry.fields
        if f.name == "link"
        and f.attributes.get("rel", "").lower() == "alternate"
        and (href := _cleaned(f.attributes.get("href", "")))
    )


def _media(entry: XmlEntry) -> tuple[tuple[str, str], ...]:
    found = ((_MEDIA.get((f.prefix.lower(), f.name)), _cleaned(f.text)) for f in entry.fields)
    return tuple((kind, url) for kind, url in found if kind and url)


def _cleaned(written: str) -> str:
    return _with_scheme("".join(written.split())) if len(written) <= _MAX_LINE_CHARS else ""


def _with_scheme(written: str) -> str:
    return f"http://{written}" if _WITHOUT_SCHEME.match(written) else written


def _text_of(fields: Iterable[XmlField], name: str) -> str:
    return next((f.text for f in fields if f.name == name and f.text), "")


def _frequency(written: str) -> str:
    word = written.lower()
    return word if word in _FREQUENCIES else ""


def _priority(written: str) -> float:
    try:
        value = float(written)
    except ValueError:
        return 0.5
    return value if 0.0 <= value <= 1.0 else 0.5


def _below(sitemap: str, urls: Iterable[SitemapUrl]) -> Iterator[SitemapUrl]:
    """The URLs in the sitemap's directory or below it, on the same host."""
    paths = urlsplit(sitemap)
    directory = paths.path[: paths.path.rfind("/") + 1] or "/"
    for one in urls:
        try:
            parts = urlsplit(one.url)
        except ValueError:
            continue
        is_there = (parts.scheme.lower(), parts.netloc.lower()) == (paths.scheme, paths.netloc)
        if is_there and (parts.path or "/").startswith(directory):
            yield one
