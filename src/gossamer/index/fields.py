"""Convert an entry to a tantivy document."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import tantivy

from gossamer.index import schema
from gossamer.index.anchors import words_number
from gossamer.index.entry import Entry, TextPosition, kept_of
from gossamer.index.words import normal, normal_all
from gossamer.urls.canonical import host_of
from gossamer.urls.site import display_host, is_address

_SHORT_TYPES: Final = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
}
_FAMILIES: Final = frozenset({"text", "image", "audio", "video"})


def document_of(
    entry: Entry, place: TextPosition, anchors: tuple[str, ...], *, has_changed: bool = True
) -> tantivy.Document:
    """The fields of an entry, with these anchors. `place` is the position of its text. An index of
    an older version `has_changed` not: it lacks that field.
    """
    document = tantivy.Document()
    add = document.add_text
    add(schema.ID, schema.id_of(entry.key))
    add(schema.TITLE, normal(entry.title))
    add(schema.HEADINGS, normal_all(entry.headings))
    add(schema.BODY, entry.ready.words if entry.ready is not None else normal(entry.text))
    anchor_words = normal_all(anchors)
    add(schema.ANCHORS, anchor_words)
    add(schema.ADDRESS, address_words(entry.url))
    add(schema.SITE, domains_of(host_of(entry.url)))
    add(schema.LANGUAGE, entry.language)
    add(schema.TYPE, types_of(entry.type))
    document.add_date(schema.AT, _date(entry.at_us // 1_000_000))
    if entry.changed_us and has_changed:
        document.add_date(schema.CHANGED, _date(entry.changed_us // 1_000_000))
    document.add_unsigned(schema.KEY_HIGH, int.from_bytes(entry.key[:8], "big"))
    document.add_unsigned(schema.KEY_LOW, int.from_bytes(entry.key[8:], "big"))
    document.add_unsigned(schema.ANCHORED, words_number(anchor_words))
    document.add_bytes(schema.STORED, kept_of(entry, place, anchors).encode())
    return document


@lru_cache(maxsize=4096)
def domains_of(host: str) -> str:
    """A host and every domain above it; an address has none above it."""
    name = host.removesuffix(".")
    if is_address(name):
        return name
    labels = name.split(".")
    return " ".join(".".join(labels[i:]) for i in range(len(labels)))


@lru_cache(maxsize=256)
def types_of(mime: str) -> str:
    """A MIME type and its short name."""
    family = mime.partition("/")[0]
    short = _SHORT_TYPES.get(mime) or (family if family in _FAMILIES else "other")
    return f"{mime} {short}"


def address_words(url: str) -> str:
    """The words of a URL in readable form: `bücher`, not `xn--bcher-kva` or `%C3%BC`."""
    host = host_of(url)
    rest = url.partition("//")[2][len(host) :]
    return normal(
        f"{display_host(host)} {unquote(rest, errors='replace') if '%' in rest else rest}"
    )


@lru_cache(maxsize=64)  # a crawl uses the same second for a thousand pages
def _date(second: int) -> datetime:
    """Without a time zone: tantivy would call its methods, and it assumes UTC anyway."""
    return datetime.fromtimestamp(second, UTC).replace(tzinfo=None)
