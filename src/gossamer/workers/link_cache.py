"""Resolve the links of pages and cache the results, so that pages share equal links.

The pages of a site repeat their links, with the same anchor text and position. So a whole link is
the cache key, one lookup in C each, and the value is the edge itself: nothing is resolved, keyed or
built twice, and the graph writer detects repeats by identity. A relative link depends on the
directory of its page, so each directory has its own dictionary. Links that depend on the whole URL
of the page (`#x`, `?x`) are not shared. The loops over the links of a page are written twice: here,
and in `native/link_cache.c`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, cast

from gossamer.index.anchor_pack import pack_anchors
from gossamer.native.extensions import PAGE, load
from gossamer.records import Edge, Found, Link, Page
from gossamer.urls.linker import Linker

_REMEMBERED: Final = 50_000  # links with their edges, 500 bytes each
# length of href, text, rel and URL; a link with 2,500 characters counts as eleven
_USUAL_CHARS: Final = 250
_MOST_CHARS: Final = 4000  # longer links are not shared with other pages
_MAX_WRITTEN_CHARS: Final = 2000  # of the stored text of an invalid URL

_OF_THE_PAGE: Final = ("", "?", "#")  # links that start so mean another URL on each page

_Meant = Edge | tuple[()] | None
_Known = dict[Link, Edge | tuple[()]]  # in C this is the type `Known`


class PageLinks(NamedTuple):
    """The followable links of a page: all of them, and those that no earlier page had."""

    edges: Sequence[Edge]
    new: Sequence[Edge]
    faults: int  # how many of `edges` are not valid URLs


class LinkCache:
    """Turns links into edges and caches them."""

    def __init__(self, linker: Linker, remember: int = _REMEMBERED) -> None:
        self._linker = linker
        self._limit = remember
        self._size = 0
        self._known: dict[str, _Known] = {}
        self._native = load(PAGE)
        self._new: Callable[[], _Known] = dict if self._native is None else self._native.Known

    def edges(
        self, page: Page, url: str, *, is_kept: bool = True, is_canonical: bool = False
    ) -> PageLinks:
        """The links of the page at `url`. If not `is_kept`, they stay new for the next page.
        `is_canonical`: the URL is known to be in canonical form.
        """
        known = self._in_directory_of(page.base, url)
        if self._native is not None:
            linker, base = self._linker, page.base
            *found, learned = self._native.edges(
                page.links,
                known,
                linker.places(base, is_canonical=is_canonical and base is url),
                linker.plain,
                linker.learn,
                partial(self._faulty, page),
                Edge,
                is_kept,
            )
            self._size += learned
            return PageLinks(*found)
        # An empty tuple means: known, but not a link for a crawler. It is false, as None is.
        found = list(map(known.get, page.links))
        if all(found):
            return PageLinks(cast("list[Edge]", found), (), 0)
        return self._learn(page, known, found, is_kept=is_kept)

    def found(
        self,
        new: Sequence[Edge],
        told: dict[bytes, int],
        before: dict[bytes, int],
        depth: int,
        via: bytes,
    ) -> Sequence[Found]:
        """The URLs of links whose keys are in neither `told` nor `before`. Adds them there."""
        if self._native is not None and new:
            listed: list[Found] = self._native.found(new, told, before, depth, via, Found)
            return listed
        found = []
        for edge in new:
            key = edge[1]
            if key and key not in told and key not in before:
                told[key] = depth
                found.append(Found(edge[0], key, depth, via))
        return found

    def anchors(self, new: Sequence[Edge], key: bytes) -> bytes:
        """Keys and anchor texts of links to other pages than `key`, in the form of the index."""
        if self._native is not None and new:
            packed: bytes = self._native.anchors(new, key)
            return packed
        return pack_anchors([(edge[1], edge[2]) for edge in new if edge[1] != key])

    def _in_directory_of(self, base: str, url: str) -> _Known:
        # A <base> can be any text; the linker finds its directory.
        directory = url[: url.rfind("/") + 1] if base is url else self._linker.directory(base)
        known = self._known.get(directory)
        if known is None or self._size > self._limit:
            if self._size > self._limit:
                self._known, self._size = {}, 0
            known = self._known[directory] = self._new()
            self._size += 1  # an empty dictionary takes memory too
        return known

    def _learn(
        self, page: Page, known: _Known, found: Sequence[_Meant], *, is_kept: bool
    ) -> PageLinks:
        """Do the same when some links are not cached, or are cached as not followable."""
        base, resolve, near = page.base, self._linker.resolve, self._linker.near(page.base)
        new_edge = tuple.__new__  # takes a third of the time of Edge(...)
        edges: list[Edge] = []
        new: list[Edge] = []
        faults = 0
        here: _Known = {}  # for this page only
        for number, (link, before) in enumerate(zip(page.links, found, strict=True)):
            edge = here.get(link) if before is None else before
            if edge:
                edges.append(edge)
                continue
            if edge is not None:
                continue
            # Many links lead to fragments of one page, which is resolved once.
            href = link[0].partition("#")[0]
            resolved = near(href) or resolve(base, href)
            if resolved is None:
                made = self._faulty(page, number)
                faults += bool(made)
            else:
                _, kind, text, rel, place = link
                made = new_edge(Edge, (*resolved, text, rel, place, kind, 0, ""))
            if made:
                edges.append(made)
                new.append(made)
            if made and not resolved:
                continue  # on another line it is another fault
            chars = len(link[0]) + len(link[2]) + len(link[3]) + (len(made[0]) if made else 0)
            if is_kept and href[:1] not in _OF_THE_PAGE and chars <= _MOST_CHARS:
                known[link] = made
                self._size += 1 + chars // _USUAL_CHARS
            here[link] = made
        return PageLinks(edges, new, faults)

    def _faulty(self, page: Page, number: int) -> Edge | tuple[()]:
        """The edge of an invalid URL; empty where the link is not meant for crawlers."""
        href, kind, text, rel, place = page.links[number]
        fault = self._linker.fault(page.base, href)
        if not fault:
            return ()
        line = page.lines[number] if page.lines else 0
        return Edge(href[:_MAX_WRITTEN_CHARS], b"", text, rel, place, kind, line, fault)
