"""Extract the links of a page, with their texts.

Followed are `a`, `area`, frames, `meta` refresh and those `link` relations that lead to a page for
people. Media are included only if the crawl wants their kind, including those that a script loads
later (`lazy.py`). Plug-in content (`object`, `embed`, `applet`) is always included, with the
element as its relation: it may be a page, and if not, its headers say so. A link is returned as
written, with only the white space around it removed; `urls/` resolves it.

The text of a link includes the alt of images in it, but no scripts and styles, with white space
folded. `area` has its alt, a frame its title or name, `link` its title.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView
from typing import Final

from turbohtml import Element

from gossamer.parse.anchors import AROUND, fold
from gossamer.parse.lazy import lazy_address, lazy_srcsets
from gossamer.parse.relations import Relation, relation_of
from gossamer.records import Link, LinkKind, Place

MEDIA_TAGS: Final = (
    "img", "source", "audio", "video", "track", "input", "script",
)  # fmt: skip
# Parameter names by which an `object` tells its plug-in what to load.
_LOADED: Final = frozenset({"movie", "src", "filename", "url", "code", "archive"})


class LinkReader:
    """Turns elements into links, by the settings of one crawl."""

    def __init__(self, max_anchor_chars: int, wants_media: frozenset[str]) -> None:
        self.max_chars = max_anchor_chars
        self._wants = wants_media
        self._wants_any = "any" in wants_media
        self._rules: dict[str, Callable[[Element, Place], Iterable[Link]]] = {
            "area": self._area,
            "frame": self._frame,
            "iframe": self._frame,
            "object": self._plugin,
            "embed": self._plugin,
            "applet": self._plugin,
        }
        if wants_media:
            self._rules |= dict.fromkeys(MEDIA_TAGS, self._media)

    @property
    def tags(self) -> KeysView[str]:
        """The tags that `others` handles."""
        return self._rules.keys()

    def of_link(
        self, href: str | None, title: str | None, relation: Relation, place: Place
    ) -> Iterable[Link]:
        """The link of a `link` element. `relation` is its parsed `rel`."""
        if not relation.is_followed and not self._wants_any:
            return ()
        if not (href and (href := href.strip(AROUND))):
            return ()
        kind = LinkKind.LINK if relation.is_followed else LinkKind.MEDIA
        words = fold(title)[: self.max_chars] if title else ""
        return (Link(href, kind, words, relation.words, place),)

    def of_area(
        self, href: str | None, alt: str | None, rel: str | None, place: Place
    ) -> Iterable[Link]:
        """The link of an `area`, with its alt as text."""
        return () if href is None else (self._made(href, LinkKind.AREA, alt, rel, place),)

    def of_frame(
        self, source: str | None, words: str | None, rel: str | None, place: Place
    ) -> Iterable[Link]:
        """The link of a frame, with its title or name as text."""
        if not (source and source.strip(AROUND)):
            return ()
        return (self._made(source, LinkKind.FRAME, words, rel, place),)

    def others(self, element: Element, tag: str, place: Place) -> Iterable[Link]:
        """The links of an element with one of `tags`."""
        return self._rules[tag](element, place)

    def _area(self, element: Element, place: Place) -> Iterable[Link]:
        rel = element.attr("rel")
        return self.of_area(element.attr("href"), element.attr("alt"), rel, place)

    def _frame(self, element: Element, place: Place) -> Iterable[Link]:
        words = element.attr("title") or element.attr("name")
        return self.of_frame(element.attr("src"), words, element.attr("rel"), place)

    def _media(self, element: Element, place: Place) -> Iterable[Link]:
        words = element.attr("alt") or element.attr("title") or element.attr("label")
        for kind, href in _media_of(element):
            if (self._wants_any or kind in self._wants) and href.strip(AROUND):
                yield self._made(href, LinkKind.MEDIA, words, element.attr("rel"), place)

    def _plugin(self, element: Element, place: Place) -> Iterable[Link]:
        """The links that a plug-in would load; images and audio only if the crawl wants their
        kind.
        """
        named = (element.attr("type") or "").strip().lower().partition(";")[0].rstrip()
        kind = named.partition("/")[0]
        is_media = kind in ("image", "audio", "video")
        if is_media and not (self._wants_any or kind in self._wants):
            return
        words = element.attr("alt") or element.attr("title") or element.attr("name") or named
        for address in _loaded_by(element):
            if href := address.strip(AROUND):
                text = fold(words)[: self.max_chars]
                yield Link(href, LinkKind.MEDIA, text, element.tag, place)

    def _made(
        self, href: str, kind: LinkKind, words: str | None, rel: str | None, place: Place
    ) -> Link:
        text = fold(words or "")[: self.max_chars]
        return Link(href.strip(AROUND), kind, text, relation_of(rel or "").words, place)


def _media_of(element: Element) -> Iterator[tuple[str, str]]:
    """Kind (image, audio, video, any) and address of the media of an element."""
    match element.tag:
        case "img":
            yield from _images(element)
        case "source":
            parent = element.parent
            kind = parent.tag if isinstance(parent, Element) else ""
            if kind in ("audio", "video"):
                yield from _played(element, kind)
            else:
                yield from _images(element)
        case "audio":
            yield from _played(element, "audio")
        case "video":
            yield from _played(element, "video")
            yield "image", element.attr("poster") or ""
            yield "image", lazy_address(element, "poster")
        case "input":
            if (element.attr("type") or "").strip().lower() == "image":
                yield "image", element.attr("src") or ""
        case _:  # track, script
            yield "any", element.attr("src") or ""


def _played(element: Element, kind: str) -> Iterator[tuple[str, str]]:
    yield kind, element.attr("src") or ""
    yield kind, lazy_address(element, "src")


def _images(element: Element) -> Iterator[tuple[str, str]]:
    """The images that a browser may show for an element, and those that a script loads later."""
    addresses = [element.attr("src") or ""]
    addresses += addresses_in_srcset(element.attr("srcset") or "")
    addresses.append(lazy_address(element, "src"))
    for srcset in lazy_srcsets(element):
        addresses += addresses_in_srcset(srcset)
    for address in dict.fromkeys(addresses):
        yield "image", address


def _loaded_by(element: Element) -> Iterator[str]:
    """The addresses that an `object`, `embed` or `applet` loads."""
    match element.tag:
        case "embed":
            yield element.attr("src") or ""
        case "applet":
            folder = (element.attr("codebase") or "").strip(AROUND)
            before = f"{folder.rstrip('/')}/" if folder else ""
            archives = (element.attr("archive") or "").split(",")
            for name in filter(None, (one.strip(AROUND) for one in archives)):
                yield before + name
            if not any(archives) and (code := (element.attr("code") or "").strip(AROUND)):
                yield before + (code if code.endswith(".class") else f"{code}.class")
        case _:
            if given := element.attr("data"):
                yield given
                return
            for parameter in element.find_all("param"):
                if (parameter.attr("name") or "").strip().lower() in _LOADED:
                    yield parameter.attr("value") or ""
                    return


def addresses_in_srcset(srcset: str) -> Iterator[str]:
    """The addresses of a srcset, parsed by the HTML standard. They may contain commas
    themselves.
    """
    at, end = 0, len(srcset)
    while at < end:
        while at < end and (srcset[at] in " \t\n\f\r,"):
            at += 1
        start = at
        while at < end and srcset[at] not in " \t\n\f\r":
            at += 1
        address = srcset[start:at]
        if address.endswith(","):
            yield address.rstrip(",")
            continue
        if address:
            yield address
        at = _after_descriptors(srcset, at)


def _after_descriptors(srcset: str, at: int) -> int:
    """The position after the comma that ends a candidate; commas in parentheses do not."""
    depth = 0
    for i in range(at, len(srcset)):
        character = srcset[i]
        if character == "," and depth == 0:
            return i + 1
        depth += (character == "(") - (character == ")" and depth > 0)
    return len(srcset)
