"""Entries for tests of the index, and a search for them."""

from __future__ import annotations

import tantivy

from gossamer.index import schema
from gossamer.index.entry import Entry
from gossamer.index.reader import View


def key_of(number: int) -> bytes:
    """The key of a page: all are on one host."""
    return b"one host" + number.to_bytes(8, "big")


def url_of(number: int) -> str:
    """The URL of a page."""
    return f"https://docs.example.org/page/{number}"


def an_entry(
    number: int,
    text: str = "some words",
    *,
    url: str = "",
    title: str = "",
    headings: tuple[str, ...] = (),
    anchors: tuple[str, ...] = (),
    at_us: int = 1_767_225_600_000_000,
    changed_us: int = 0,
) -> Entry:
    """A page."""
    return Entry(
        key_of(number),
        url or url_of(number),
        title,
        headings,
        text,
        "en",
        "text/html",
        at_us,
        anchors,
        changed_us=changed_us,
    )


def found(view: View, word: str, field: str = schema.BODY) -> list[str]:
    """The URLs of entries that have a word in a field, in their order."""
    query = tantivy.Query.term_query(view.schema, field, word)
    return sorted(view.kept(match.address).url for match in view.search(query, 1_000)[0])
