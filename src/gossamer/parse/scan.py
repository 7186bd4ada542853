"""Read a page without a tree, by the scanner in C.

It gives exactly the result that `reading.py` gives for a tree, in a fifth of the time, or nothing:
if the nesting of a page depends on rules that it does not know, it declines, and the page gets a
tree. Of 17,606 pages of documentation it declines 13.
"""

from __future__ import annotations

import html.entities
from array import array
from collections.abc import Sequence
from types import ModuleType
from typing import Final, overload

from gossamer.native.extensions import PAGE, load
from gossamer.parse.language.language import declared_language
from gossamer.parse.links import LinkReader
from gossamer.parse.reading import Reading, read_meta
from gossamer.parse.relations import relation_of
from gossamer.records import Link, LinkKind, Place
from gossamer.settings import Parse

_PLACES: Final = (
    Place.HEAD, Place.HEADER, Place.NAV, Place.MAIN, Place.ASIDE, Place.FOOTER, Place.BODY,
)  # fmt: skip

# Of an area or a frame: the number of anchors before it, tag, address, rel, text, place, offset in
# the page.
_Other = tuple[int, str, str | None, str | None, str | None, Place, int]


class Scanner:
    """Reads pages, by the settings of one crawl."""

    def __init__(self, native: ModuleType, settings: Parse, is_bare: bool) -> None:
        self._scan = native.scan
        self._is_bare = is_bare
        self._max_links = settings.max_links
        self._links = LinkReader(0 if is_bare else settings.max_anchor_chars, frozenset())

    def read(self, page: str | bytes) -> Reading | None:
        """The content of a page, which may be bytes in UTF-8; None if that needs a tree."""
        found = self._scan(page, self._is_bare, self._max_links, self._links.max_chars)
        if isinstance(found, int):  # the reason
            return None
        title, description, canonical, generator, language, base, metas, *rest = found
        others, links, headings, text, offsets = rest
        at: Sequence[int] = array("I", offsets)
        if others:
            links, at = self._merged(others, links, at)
        if len(links) > self._max_links:
            links, at = links[: self._max_links], at[: self._max_links]
        reading = Reading(
            title,
            description,
            canonical,
            generator,
            declared_language(language) if language else "",
            base,
            text,
            headings=headings,
            links=links,
            lines=() if self._is_bare else LinkLines(page, at),
        )
        for name, header, content in metas:
            read_meta(reading, name, header, content)
        return reading

    def _merged(
        self, others: Sequence[_Other], links: list[Link], at: Sequence[int]
    ) -> tuple[list[Link], list[int]]:
        """All links in document order, and the offset of each."""
        merged: list[Link] = []
        offsets: list[int] = []
        taken = 0
        for before, tag, href, rel, words, place, offset in others:
            if before > taken:
                merged += links[taken:before]
                offsets += at[taken:before]
                taken = before
            made = self._links.of_area if tag == "area" else self._links.of_frame
            for link in made(href, words, rel, place):
                merged.append(link)
                offsets.append(offset)
        return merged + links[taken:], [*offsets, *at[taken:]]


class LinkLines(Sequence[int]):
    """The line of each link in the page, from 1. Counted on demand, from the last one requested: a
    page of invalid links is read once, not once for each.
    """

    def __init__(self, page: str | bytes, offsets: Sequence[int]) -> None:
        self._page = page
        self._offsets = offsets
        self._last = (0, 1)  # offset, and its line

    def __len__(self) -> int:
        return len(self._offsets)

    @overload
    def __getitem__(self, n: int) -> int: ...
    @overload
    def __getitem__(self, n: slice) -> Sequence[int]: ...
    def __getitem__(self, n: int | slice) -> int | Sequence[int]:
        if isinstance(n, slice):
            return LinkLines(self._page, self._offsets[n])
        if isinstance(self._page, str):
            self._page = self._page.encode()
        offset = self._offsets[n]
        start, line = self._last if self._last[0] <= offset else (0, 1)
        passed = self._page[start:offset]
        line += passed.count(b"\n") + passed.count(b"\r") - passed.count(b"\r\n")
        self._last = offset, line
        return line


def scanner_of(settings: Parse, wants_media: frozenset[str], is_bare: bool) -> Scanner | None:
    """A scanner, if it was built and nothing is wanted that needs a tree."""
    native = None if wants_media else _set_up()
    return None if native is None else Scanner(native, settings, is_bare)


def _set_up() -> ModuleType | None:
    native = load(PAGE)
    if native is not None:
        kinds = (LinkKind.ANCHOR, LinkKind.LINK)
        native.set_up(Link, kinds, _PLACES, relation_of, html.entities.html5)
    return native
