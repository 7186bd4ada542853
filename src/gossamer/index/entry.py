"""The entry of a page in the index, and its stored form.

An `Entry` is written; a `Kept` is read back: everything but the text, which is in a file of its own
(`texts.py`) and is read only for snippets and when the entry is rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from gossamer.base.packing import pack_row, unpacker
from gossamer.index.prepared import Prepared

# A page may contain anything; these limits bound one entry.
MAX_TEXT_CHARS: Final = 2_000_000
MAX_TITLE_CHARS: Final = 1_000
MAX_HEADINGS: Final = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """A page to be put into the index. The caller skips pages with noindex, and removes pages that
    are gone.
    """

    key: bytes
    url: str
    title: str
    headings: tuple[str, ...]
    text: str
    language: str
    type: str  # MIME type without parameters
    at_us: int
    anchors: tuple[str, ...] = ()  # texts of links from other pages
    has_snippet: bool = True  # False for a page with nosnippet
    ready: Prepared | None = None  # replaces the text, which is empty then
    changed_us: int = 0  # when its content was last seen to change; 0: never

    @property
    def chars(self) -> int:
        """About how much memory it takes while it waits."""
        return len(self.ready.words) if self.ready is not None else len(self.text)


class TextPosition(NamedTuple):
    """The position of a text in the file of texts."""

    offset: int
    length: int


class Kept(Struct, frozen=True, array_like=True):
    """An entry as it is stored, in the order of these fields. `text` says where its text lies."""

    key: bytes
    url: str
    title: str
    headings: tuple[str, ...]
    language: str
    type: str
    at_us: int
    anchors: tuple[str, ...]
    has_snippet: bool
    text: TextPosition
    changed_us: int = 0

    def encode(self) -> bytes:
        return pack_row(astuple(self))

    @classmethod
    def decode(cls, stored: bytes) -> Kept:
        """Raises ValueError when these are no bytes of `encode`."""
        return _unpack_kept(stored)


_unpack_kept: Final = unpacker(Kept)


def bounded(entry: Entry) -> Entry:
    """The entry, cut to the limits."""
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


def kept_of(entry: Entry, place: TextPosition, anchors: tuple[str, ...]) -> Kept:
    """An entry that gets these anchors and whose text lies there, as it is stored."""
    return Kept(
        entry.key, entry.url, entry.title, entry.headings, entry.language, entry.type, entry.at_us,
        anchors, entry.has_snippet, place, entry.changed_us,
    )  # fmt: skip


def entry_of(kept: Kept, text: str, anchors: tuple[str, ...] | None = None) -> Entry:
    """The entry with its text, and with other anchors if they are given."""
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
        changed_us=kept.changed_us,
    )
