"""What was read from a page, as a document of its own.

A crawler unit that returns index entries sends what it has read from a page, not the page itself.
The hub stores that as the body of the response, with this type: so index, links and a rebuild work
as for every other page. A server that sends the type itself gains nothing: it says what its page
says, as with HTML. Pure.
"""

from __future__ import annotations

from typing import Final

import msgspec

from gossamer.base.packing import pack, unpack
from gossamer.records import Link, LinkKind, Page, Place

ENTRY_TYPE: Final = "application/vnd.gossamer.page+json"


class PageEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of a `Page` that have a meaning outside its file."""

    base: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    language: str = ""
    description: str = ""
    canonical: str = ""
    robots: tuple[str, ...] = ()
    # address, kind, anchor text, relation, place
    links: tuple[tuple[str, str, str, str, str], ...] = ()
    generator: str = ""


_decode: Final = msgspec.json.Decoder(PageEntry).decode
_encode: Final = msgspec.json.Encoder().encode
_KINDS: Final = frozenset(LinkKind) - {LinkKind.CAPTURE, LinkKind.REDIRECT}
_PLACES: Final = frozenset(Place)


def entry_of(page: Page, url: str) -> bytes:
    """The entry of a page at `url`."""
    entry = PageEntry(
        base=page.base if page.base != url else "",
        title=page.title,
        headings=page.headings,
        text=page.text,
        language=page.language,
        description=page.description,
        canonical=page.canonical,
        robots=tuple(sorted(page.robots)),
        links=tuple((one.href, one.kind, one.text, one.rel, one.place) for one in page.links),
        generator=page.generator,
    )
    try:
        return _encode(entry)
    except UnicodeEncodeError:  # half of a surrogate pair, which a script can put in a page
        return _encode(unpack(pack(msgspec.to_builtins(entry))))


def page_of(body: bytes, url: str, max_links: int) -> Page:
    """The page of an entry; empty if the body is none."""
    try:
        entry = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Page(base=url)
    links = (
        Link(href, LinkKind(kind), text, rel, Place(place))
        for href, kind, text, rel, place in entry.links[:max_links]
        if kind in _KINDS and place in _PLACES
    )
    return Page(
        base=entry.base or url,
        charset="utf-8",
        title=entry.title,
        headings=entry.headings,
        text=entry.text,
        language=entry.language,
        description=entry.description,
        canonical=entry.canonical,
        robots=frozenset(entry.robots),
        links=tuple(links),
        generator=entry.generator,
    )
