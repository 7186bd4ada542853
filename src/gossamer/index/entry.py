"""What is known of a page to the index, and how it is kept there.

An `Entry` goes in; what comes out again is a `Kept`: all of it but the text, which lies in a file
of its own (`texts.py`) and is only read for snippets and when the entry is written again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import msgpack

from gossamer.index.prepared import Prepared

# A page may say anything; these bound what one entry takes.
MAX_TEXT_CHARS: Final = 2_000_000
MAX_TITLE_CHARS: Final = 1_000
MAX_HEADINGS: Final = 500

# Half of a surrogate pair is no text. One for all: to make one takes as long as to pack.
_packed: Final = msgpack.Packer(unicode_errors="replace").pack


@dataclass(frozen=True, slots=True)
class Entry:
    """A page as it is put into the index. A page that asks for no index is not put: that is the
    caller's to see to, as is the removal of one that is gone."""

    key: bytes
    url: str
    title: str
    headings: tuple[str, ...]
    text: str
    language: str
    type: str  # MIME type without parameters
    at_us: int
    anchors: tuple[str, ...] = ()  # words of links from other pages
    has_snippet: bool = True  # false for a page that asks for none
    ready: Prepared | None = None  # in place of the text, which is empty then

    @property
    def chars(self) -> int:
        """About how much room it takes while it waits."""
        return len(self.ready.words) if self.ready is not None else len(self.text)


class Place(NamedTuple):
    """Where a text lies in the file of texts."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry as it is stored. `text` says where its text lies."""

    key: bytes
    url: str
    title: str
    headings: tuple[str, ...]
    language: str
    type: str
    at_us: int
    anchors: tuple[str, ...]
    has_snippet: bool
    text: Place


def bounded(entry: Entry) -> Entry:
    """The entry, cut where it has more than an entry may have."""
    if (
        len(entry.text) <= MAX_TEXT_CHARS
        and len(entry.title) <= MAX_TITLE_CHARS
        and len(entry.headings) <= MAX_HEADINGS
    ):
        return entry
    return replace(
        entry,
        text=entry.text[:MAX_TEXT_CHARS],
        title=entry.title[:MAX_TITLE_CHARS],
        headings=entry.headings[:MAX_HEADINGS],
    )


def pack(entry: Entry, place: Place, anchors: tuple[str, ...]) -> bytes:
    """The bytes of the field `stored`, of an entry that gets these anchors."""
    packed: bytes = _packed(
        (
            entry.key,
            entry.url,
            entry.title,
            entry.headings,
            entry.language,
            entry.type,
            entry.at_us,
            anchors,
            entry.has_snippet,
            place,
        )
    )
    return packed


def unpack(packed: bytes) -> Kept:
    """Raises ValueError when these are no bytes of `pack`."""
    items = msgpack.unpackb(packed, use_list=False)
    key, url, title, headings, language, type_, at_us, anchors, has_snippet, place = items
    return Kept(
        key, url, title, headings, language, type_, at_us, anchors, has_snippet, Place(*place)
    )


def entry_of(kept: Kept, text: str, anchors: tuple[str, ...] | None = None) -> Entry:
    """The entry again, with its text, and other anchors where they are given."""
    return Entry(
        kept.key,
        kept.url,
        kept.title,
        kept.headings,
        text,
        kept.language,
        kept.type,
        kept.at_us,
        kept.anchors if anchors is None else anchors,
        kept.has_snippet,
    )
