"""Links of pages in canonical form, each made once and shared by all pages that have it.

The pages of a site repeat their links, with words and place. So a link is looked up as a whole, one
step in C for each, and what is found is the edge itself: nothing is resolved, keyed or made again,
and the graph's writer can tell by identity what repeats. What a link means hangs on the directory
of its page, so there is one dictionary for each; those that hang on the whole URL of the page
(`#x`, `?x`) are made for each page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from gossamer.records import Edge, Link, Page
from gossamer.urls.linker import Linker

_REMEMBERED: Final = 50_000  # links with their edges, at 500 bytes each
_MAX_REMEMBERED_CHARS: Final = 1024  # longer ones are data or traps
_MAX_WRITTEN_CHARS: Final = 2000  # of what is no URL

_Found = Edge | tuple[()] | None
_Known = dict[Link, Edge | tuple[()]]


class PageLinks(NamedTuple):
    """The links of a page that are meant as such: all, and those that no page had before."""

    edges: Sequence[Edge]
    new: Sequence[Edge]
    faults: int  # how many of `edges` are no URL


class Forms:
    """Makes edges of links, remembering them."""

    def __init__(self, linker: Linker, remember: int = _REMEMBERED) -> None:
        self._linker = linker
        self._limit = remember
        self._size = 0
        self._known: dict[str, _Known] = {}

    def edges(self, page: Page, url: str, *, is_kept: bool = True) -> PageLinks:
        """The links of the page at `url`. If not `is_kept`, they are as new to the next page."""
        known = self._in_directory_of(page.base, url)
        # An empty tuple is known to be no link for a crawler; both that and None are false.
        found = list(map(known.get, page.links))
        if all(found):
            return PageLinks(cast("list[Edge]", found), (), 0)
        return self._learn(page, known, found, is_kept=is_kept)

    def _in_directory_of(self, base: str, url: str) -> _Known:
        # A <base> can be anything; its directory is the linker's to find.
        directory = url[: url.rfind("/") + 1] if base is url else self._linker.directory(base)
        known = self._known.get(directory)
        if known is None or self._size > self._limit:
            if self._size > self._limit:
                self._known, self._size = {}, 0
            known = self._known[directory] = {}
            self._size += 1  # an empty one takes memory too
        return known

    def _learn(
        self, page: Page, known: _Known, found: Sequence[_Found], *, is_kept: bool
    ) -> PageLinks:
        """The same where some are not known yet, or are known to be none."""
        edges: list[Edge] = []
        new: list[Edge] = []
        faults = 0
        for n, edge in enumerate(found):
            if edge:
                edges.append(edge)
            elif edge is None:
                made = self._made(page, n)
                if made:
                    edges.append(made)
                    new.append(made)
                    faults += bool(made.fault)
                if is_kept and _is_lasting(page.links[n], made):
                    known[page.links[n]] = made
                    self._size += 1
        return PageLinks(edges, new, faults)

    def _made(self, page: Page, n: int) -> Edge | tuple[()]:
        """The edge of the page's link `n`; nothing where that is no link for a crawler."""
        href, kind, text, rel, place = page.links[n]
        resolved = self._linker.resolve(page.base, href)
        if resolved is not None:
            return Edge(resolved[0], resolved[1], text, rel, place, kind)
        fault = self._linker.fault(page.base, href)
        if not fault:
            return ()
        line = page.lines[n] if page.lines else 0
        return Edge(href[:_MAX_WRITTEN_CHARS], b"", text, rel, place, kind, line, fault)


def _is_lasting(link: Link, made: Edge | tuple[()]) -> bool:
    """Whether a link means the same in each page of the directory, line included."""
    href = link[0]
    if href[:1] in ("", "?", "#") or len(href) > _MAX_REMEMBERED_CHARS:
        return False
    return not made or not made.fault
