"""The URLs of results in the answer of a search engine: HTML, a feed or JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import turbohtml

from gossamer.errors import SettingsError
from gossamer.parse.charset import decode as decode_text
from gossamer.parse.html import Parser
from gossamer.parse.mime import parse_mime
from gossamer.records import LinkKind, Page, Place
from gossamer.settings import Parse
from gossamer.urls.canonical import NormalForm, host_of, path_of
from gossamer.urls.site import site_of

_SCHEMES: Final = ("http://", "https://")
_NAMES: Final = frozenset({"url", "link", "href"})  # in JSON, where no path is given
_RESULT_PLACES: Final = frozenset({Place.MAIN, Place.BODY})
_RESULT_KINDS: Final = frozenset({LinkKind.ANCHOR, LinkKind.AREA})
_SELECT: Final = "focus.start_select"


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """What an engine answered: the URL after redirects, and the body without content coding."""

    url: str
    content_type: str
    body: bytes


def result_urls(answer: EngineAnswer, select: str, form: NormalForm) -> list[str]:
    """The URLs of results in canonical form, each once, in their order. `select` is the setting
    `focus.start_select`. Raises SettingsError for an invalid selector."""
    if parse_mime(answer.content_type).essence.endswith("json"):
        found = _in_json(answer.body, select)
        return _canonical(found, answer.url, form)
    page = Parser(Parse()).parse(answer.url, answer.content_type, answer.body)
    base = page.base or answer.url
    if select:
        return _canonical(_selected(answer, page.charset, select), base, form)
    return _linked(page, base, answer.url, form)


def _canonical(texts: Iterable[str], base: str, form: NormalForm) -> list[str]:
    urls = (form.find(_unwrapped(text, base, form), base) for text in texts)
    return list(dict.fromkeys(url for url in urls if url is not None))


def _linked(page: Page, base: str, url: str, form: NormalForm) -> list[str]:
    """Links to other sites, without those of menus; if there are none, those to the engine's own
    site, which may be the search of that site."""
    hrefs = [
        link.href
        for link in page.links
        if link.place in _RESULT_PLACES and link.kind in _RESULT_KINDS
    ]
    found = _canonical(hrefs, base, form)
    own = site_of(host_of(url))
    others = [one for one in found if site_of(host_of(one)) != own]
    return others or [one for one in found if path_of(one) != path_of(url)]


def _selected(answer: EngineAnswer, charset: str, select: str) -> Iterator[str]:
    """The targets of elements that a CSS selector names: their own, or those of links in them."""
    tree = turbohtml.parse(decode_text(answer.body, charset or "utf-8"))
    try:
        elements = tree.select(select)
    except ValueError as fault:
        raise SettingsError(
            _SELECT, f"is {select!r}, which is not a CSS selector: {fault}"
        ) from None
    for element in elements:
        links = [element] if element.attr("href") else element.select("a[href]")
        yield from (href for link in links if (href := link.attr("href")))


def _unwrapped(text: str, base: str, form: NormalForm) -> str:
    """The target of a link. Many engines lead to results by way of their own site, with the URL of
    the result as a parameter: then it is that one."""
    whole = form.find(text, base)
    if whole is None or site_of(host_of(whole)) != site_of(host_of(base)):
        return text
    for _, value in parse_qsl(urlsplit(whole).query):
        if value.lower().startswith(_SCHEMES):
            return value
    return text


def _in_json(body: bytes, select: str) -> Iterator[str]:
    """The URLs in JSON: at the path `select`, or all values called url, link or href."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return
    if select:
        values = _at_path([document], [name for name in select.split(".") if name])
    else:
        values = _named(document)
    for value in values:
        if isinstance(value, str) and value.lower().startswith(_SCHEMES):
            yield value


def _at_path(values: list[Any], names: list[str]) -> Iterator[Any]:
    """The values at the end of a path. All entries of a list are taken."""
    for name in names:
        values = [
            value[name] for value in _flat(values) if isinstance(value, dict) and name in value
        ]
    return _flat(values)


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        else:
            yield value


def _named(document: Any) -> Iterator[Any]:
    """The values of all members with a name that URLs have, in the order of the document."""
    waiting = [(document, False)]
    while waiting:
        value, is_named = waiting.pop()
        if isinstance(value, dict):
            waiting += [(inner, name.lower() in _NAMES) for name, inner in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(inner, is_named) for inner in reversed(value)]
        elif is_named:
            yield value
