"""Resolve the links of pages, with a cache.

A page has 90 links, and the pages around it have most of them too. So each link is resolved once
and cached by the part of the page's URL on which its meaning depends:

    https://a.org/x   mailto:me     nothing: the text alone
    /x   //a.org/x                  the origin of the page
    x   ../x   ./x                  the directory of the page
    ?x   #x   (empty)               the whole URL of the page; cached until the next page

Most links that are not cached are plain: a path of letters that no URL parser would change. They
are joined here, at a fifth of the cost. Neighbouring directories name the same pages in different
ways, so the key of a joined URL is cached, too. `native/plain_links.c` does all that in C,
and holds a generation of links, which this file reads and fills, too.

Memory is bounded by two generations: when the young one is full it becomes the old one, and entries
that are used again are copied back. A Linker belongs to one thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from gossamer.native.extensions import PAGE, load
from gossamer.urls.canonical import NormalForm
from gossamer.urls.forgotten import NOTHING, Forgotten
from gossamer.urls.keys import Keys

ResolvedLink = tuple[str, bytes] | None

_UNKNOWN: Final[ResolvedLink] = ("", b"")
_C0_AND_SPACE: Final = "".join(map(chr, range(0x21)))
# `https:x` without slashes is relative to an https page, so it is not in here. ASCII: otherwise a
# long s would count as an s, and a text that begins with it is relative.
_OTHER_SCHEME: Final = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE | re.ASCII)
_ABSOLUTE: Final = re.compile(rf"https?://|{_OTHER_SCHEME.pattern}", re.IGNORECASE | re.ASCII)
# Longer ones are data or traps; 200,000 of the longest would take 3 GB.
_MAX_REMEMBERED_CHARS: Final = 1024
_KEEP: Final = NormalForm()
# `../../x/y.html` and `/x/y.html` of characters that need no encoding; no segment but the first is
# dots. `:` could end a scheme, `;` begins a parameter, `%2e` is a dot.
_SEGMENT: Final = r"(?:[\w~!$&'()*+,=@-]|%(?!2[eE]))(?:[\w~!$&'()*+,=@.-]|%(?!2[eE]))*"
_PLAIN: Final = re.compile(rf"((?:\.\./)*|/)((?:{_SEGMENT}/)*(?:{_SEGMENT})?)", re.ASCII)
# `https://example.org/x/y?z=1` of such characters, with a lower-case host name: it is its own
# canonical form. A port, punycode, or digits at the end of a host need the full parser.
_PLAIN_ABSOLUTE: Final = re.compile(
    r"https?://(?!(?:[a-z0-9-]+\.)*xn--)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}"
    rf"/(?:{_SEGMENT}/)*(?:{_SEGMENT})?(\?[\w~!$&()*+,=@./?:%-]+)?",
    re.ASCII,
)
_MAX_PLAIN_CHARS: Final = 200


class _Generation:
    """Links that were resolved at about the same time, by what they depend on.

    That of `native/plain_links.c` has two more methods: `enter` a page, `learn` its plain links.
    """

    __slots__ = ("absolute", "by_place", "joined", "size")

    def __init__(self) -> None:
        self.absolute: dict[str, ResolvedLink] = {}
        self.by_place: dict[str, dict[str, ResolvedLink]] = {}
        self.joined: dict[str, ResolvedLink] = {}
        self.size = 0


def _at(generation: _Generation, place: str) -> dict[str, ResolvedLink]:
    """The links of an origin or a directory."""
    found = generation.by_place.get(place)
    if found is None:
        found = generation.by_place[place] = {}
        generation.size += 1  # an empty dictionary takes memory, too
    return found


class Linker:
    """Resolves links to canonical URL and key, and caches up to `remember` of them.

    A link to a forgotten URL is not a link for a crawler.
    """

    def __init__(
        self,
        form: NormalForm,
        keys: Keys,
        remember: int = 200_000,
        forgotten: Forgotten = NOTHING,
    ) -> None:
        self._form = form
        self._keys = keys
        self._forgotten = forgotten
        self._limit = max(1, remember // 2)
        # The C code does not know forgotten URLs.
        native = None if forgotten else load(PAGE)
        self._new: Callable[[], _Generation] = _Generation
        if native is not None:
            self._new = partial(native.Generation, keys.salt, self._limit, form.query == "keep")
        self._is_native = native is not None
        # `learn` for plain links, NotImplemented for others; None if it is not compiled.
        self.plain: Callable[[str], Any] | None = None
        self._young = self._new()
        self._old = self._new()
        self._base: str | None = None
        self._directory = ""
        self._enter("")

    def resolve(self, base: str, href: str) -> ResolvedLink:
        """Canonical URL and key of `href` in a page of `base`; None if it is not an http(s) URL."""
        if base != self._base:
            self._enter(base)
        found = self._in_directory.get(href, _UNKNOWN)
        if found is not _UNKNOWN:
            return found
        found = self._in_origin.get(href, _UNKNOWN)
        if found is not _UNKNOWN:
            return found
        found = self._anywhere.get(href, _UNKNOWN)
        if found is not _UNKNOWN:
            return found
        found = self._in_page.get(href, _UNKNOWN)
        if found is not _UNKNOWN:
            return found
        if self.plain is not None:
            joined: ResolvedLink = self.plain(href)
            if joined is not NotImplemented:
                return joined
        return self._learn(href)

    def resolve_all(self, base: str, hrefs: Iterable[str]) -> list[ResolvedLink]:
        """`resolve` for all links of a page, at half its cost."""
        if base != self._base:
            self._enter(base)
        near, here, far = self._in_directory.get, self._in_origin.get, self._anywhere.get
        # Invalid links are resolved again: there are few, and they are cached.
        return [near(href) or here(href) or far(href) or self.resolve(base, href) for href in hrefs]

    def near(self, base: str) -> Callable[[str], ResolvedLink]:
        """`resolve` for links cached in the directory of `base` or within the page, else None."""
        if base != self._base:
            self._enter(base)
        return self._in_directory.get

    def places(self, base: str, *, is_canonical: bool) -> tuple[dict[str, ResolvedLink], ...]:
        """The caches for links in a page of `base`. For a link in none of them, call `plain` if it
        exists, and `learn` if that returns NotImplemented.
        """
        if base != self._base:
            self._enter(base, is_canonical=is_canonical)
        return self._in_directory, self._in_origin, self._anywhere

    def learn(self, href: str) -> ResolvedLink:
        """`resolve` for a link in the page of the last `places` call."""
        found = self._in_page.get(href, _UNKNOWN)
        return self._learn(href) if found is _UNKNOWN else found

    def directory(self, base: str) -> str:
        """The part of `base` on which relative links depend, except those that depend on its whole
        URL.
        """
        if base != self._base:
            self._enter(base)
        return self._directory

    def fault(self, base: str, href: str) -> str:
        """Why `resolve` returned None; empty if it is not a link for a crawler."""
        return "" if _OTHER_SCHEME.match(href) else self._form.fault(href, base)

    @property
    def has_forgotten(self) -> bool:
        """Whether there are forgotten URLs."""
        return bool(self._forgotten)

    def is_forgotten(self, base: str, href: str) -> bool:
        """Whether `resolve` returned None because the target of `href` was forgotten."""
        url = self._form.find(href, base)
        return url is not None and self._forgotten.covers(url)

    @property
    def remembered(self) -> int:
        """Number of cached links and places, without those of the current page."""
        return self._young.size + self._old.size

    def _enter(self, base: str, *, is_canonical: bool = False) -> None:
        """Change to another page. Costs one parse, about 4 microseconds, if needed."""
        self._base = base
        self._is_canonical = is_canonical
        # A <base> can be any text. If it is not an http URL, only absolute links can be resolved.
        whole = self._from = base if is_canonical else _KEEP.find(base) or ""
        self._in_page: dict[str, ResolvedLink] = {}
        path_end = whole.find("?")
        # With the slash, so that it differs from an origin.
        directory = whole[: whole.rfind("/", 0, path_end if path_end > 0 else None)] + "/"
        if directory == self._directory:
            return
        self._directory = directory
        self._origin = whole[: whole.find("/", 8)]
        self._is_deep = len(directory) > _MAX_REMEMBERED_CHARS  # results would be as long
        self._can_join = bool(whole) and ";" not in directory and not self._is_deep
        self._above = [directory]  # and its parents, as far as they were needed
        self._take_places()

    def _take_places(self) -> None:
        young, old, directory, origin = self._young, self._old, self._directory, self._origin
        self._in_directory = _at(young, directory)
        self._in_origin = _at(young, origin)
        self._anywhere = young.absolute
        if self._is_native:
            native: Any = young
            native.enter(
                directory if self._can_join else "",
                origin,
                self._in_directory,
                self._in_origin,
                old.by_place.get(directory),
                old.by_place.get(origin),
                old.absolute,
                old.joined,
            )
            self.plain = native.learn

    def _learn(self, href: str) -> ResolvedLink:
        """Resolve a link that the young generation does not have, and add it."""
        start = href.lstrip(_C0_AND_SPACE)[:1]
        if start in ("", "?", "#"):
            return self._learn_for_page(href if start == "?" else "")
        if self._is_deep or len(href) > _MAX_REMEMBERED_CHARS:
            return self._resolve(href)
        if self._young.size >= self._limit:
            self._old, self._young = self._young, self._new()
            self._take_places()
        if start == "/" == href[0]:
            known, before = self._in_origin, self._old.by_place.get(self._origin)
        elif _ABSOLUTE.match(href):
            known, before = self._anywhere, self._old.absolute
        else:
            known, before = self._in_directory, self._old.by_place.get(self._directory)
        found = before.get(href, _UNKNOWN) if before else _UNKNOWN
        if found is _UNKNOWN:
            found = self._resolve(href)
        known[href] = found
        self._young.size += 1
        return found

    def _learn_for_page(self, href: str) -> ResolvedLink:
        """All fragments mean the page itself, so they share the entry of the empty href."""
        found = self._in_page.get(href, _UNKNOWN)
        if found is _UNKNOWN:
            is_page = not href and self._is_canonical  # a canonical form is its own form
            found = self._keyed(self._from) if is_page else self._resolve(href)
            self._in_page[href] = found
        return found

    def _resolve(self, href: str) -> ResolvedLink:
        if _OTHER_SCHEME.match(href):
            return None  # whatever follows: documentation pages may contain `file:` paths
        if 0 < len(href) <= _MAX_PLAIN_CHARS:
            plain = _PLAIN.fullmatch(href) if self._can_join else None
            if plain is not None:
                return self._join(plain[1], plain[2])
            whole = _PLAIN_ABSOLUTE.fullmatch(href)
            if whole is not None and (whole[1] is None or self._form.query == "keep"):
                return self._keyed(href)
        url = self._form.find(href, self._from)
        return None if url is None else self._keyed(url)

    def key_of(self, url: str) -> bytes:
        """The key of a canonical URL."""
        return self._keys.of(url)

    def _keyed(self, url: str) -> ResolvedLink:
        return None if self._forgotten.covers(url) else (url, self._keys.of(url))

    def _join(self, start: str, rest: str) -> ResolvedLink:
        """Canonical URL and key of a plain link. `start` is `/`, or a `../` for each step up."""
        place = f"{self._origin}/" if start == "/" else self._above_by(len(start) // 3)
        url = place + rest
        found = self._young.joined.get(url)
        if found is None:
            found = self._old.joined.get(url) or self._keyed(url)
            self._young.joined[url] = found
            self._young.size += 1
        return found

    def _above_by(self, steps: int) -> str:
        """The directory `steps` levels up; the root is its own parent."""
        above = self._above
        while len(above) <= steps:
            last = above[-1]
            parent = last[: last.rfind("/", 0, -1) + 1]
            above.append(parent if len(parent) > len(self._origin) else last)
        return above[steps]
