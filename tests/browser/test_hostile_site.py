"""A hostile site is crawled and shown everywhere: no script runs, and no request leaves.

Proven in the browser: its requests, dialogs, console and a function that every payload calls, and
in the logs of the hostile servers. The last test shows that the same payloads do act where
nothing holds them, so that silence means something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from typing import Final
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, Error, Page

from browser.a_person import Person, a_person
from browser.addresses import addresses
from browser.hostile_shapes import ACTING, shapes
from gossamer.web.route import Route
from gossamer.web.routes import API, PAGES
from support.a_server import Server, serving
from support.a_site import Site, answer, page, site_in_thread
from support.killing import gossamer

CLICKABLE: Final = "a, button, input, summary, maction, svg text, area"
PER_PAGE: Final = 10  # shapes that stand raw on one page


@dataclass(frozen=True)
class Hostile:
    """The hostile site, crawled; and what it would love to be asked."""

    site: Site
    outside: Site
    urls: tuple[str, ...]
    server: Server


def wearing(shape: str, raw: str) -> bytes:
    """A page with a shape, escaped, wherever we show strangers' text, and others as they are."""
    text = escape(shape)
    header = shape.encode("ascii", "replace").decode().replace("\n", " ")
    return page(
        f"<!doctype html><html lang='{text}'><head><title>garden {text}</title>"
        f"<meta name=description content='{text}'><meta name=generator content='{text}'>"
        f"<link rel=canonical href='/canonical?{quote(shape)}'></head><body><h1>{text}</h1>"
        f"<p>garden {text} garden</p><a href='/to?{quote(shape)}'>{text}</a>"
        f"<a href='/{quote(shape, safe='')}'><img alt='{text}' src=/i.png></a>{raw}</body></html>",
        headers={"X-Odd": header, "Content-Language": header[:50], "Link": f"<{header}>; rel=next"},
    )


def pages_of(all_shapes: list[str], outside: str) -> dict[str, bytes]:
    """One page a shape, and a front page that leads to all of them."""
    pages = {}
    for at, shape in enumerate(all_shapes):
        raw = "".join(all_shapes[at : at + PER_PAGE]) if at % PER_PAGE == 0 else ""
        pages[f"/{at}"] = wearing(shape, raw)
    pages["/acting"] = page(ACTING.replace("OUTSIDE", outside))
    pages["/acting.svg"] = answer(
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='owned(1)'><script>owned(2)</script>"
        b"</svg>",
        headers={"content-type": "image/svg+xml"},
    )
    pages["/acting.txt"] = answer(
        b"<script>owned(3)</script> garden", headers={"content-type": "text/plain"}
    )
    links = "".join(f"<a href='{path}'>{escape(path)}</a>" for path in pages)
    pages["/"] = page(f"<title>garden</title>{links}")
    pages["/robots.txt"] = answer(b"User-agent: *\nAllow: /")
    pages["*"] = page("<title>another</title>garden")
    return pages


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    collection = tmp_path_factory.mktemp("hostile") / "hostile"
    with site_in_thread({"*": page("outside")}) as outside:
        root = outside.url("").rstrip("/")
        all_shapes = shapes(root)
        pages = pages_of(all_shapes, root)
        with site_in_thread(pages) as site:
            flags = ("--delay", "0", "--max-pages", "250", "--type", "any")
            ended = gossamer("crawl", "-c", collection, *flags, site.url("/"))
            assert ended.code == 0, ended.err
            raw = [f"/{at}" for at in range(0, len(all_shapes), PER_PAGE)]
            paths = ["/", *raw, "/3", "/acting", "/acting.svg", "/acting.txt"]
            with serving(collection) as server:
                site.log.clear()
                outside.log.clear()
                yield Hostile(site, outside, tuple(map(site.url, paths)), server)


@dataclass
class Trapped:
    """A person, and every payload that got to run."""

    person: Person
    owned: list[str] = field(default_factory=list)


@pytest.fixture
def trapped(chromium: Browser, hostile: Hostile) -> Iterator[Trapped]:
    with a_person(chromium, hostile.server.root, accept_downloads=False) as person:
        found = Trapped(person)
        person.page.context.expose_function("owned", lambda what: found.owned.append(str(what)))
        yield found


def visit(person: Person, address: str) -> None:
    """Open an address as a page of its own; one that is a download opens nothing."""
    try:
        person.open(address)
    except Error as fault:
        if "Download is starting" not in str(fault):
            raise
    person.page.evaluate("document.fonts.ready")


def held(trapped: Trapped, hostile: Hostile) -> None:
    """Nothing ran and nothing left."""
    said = [line for line in trapped.person.strange if not is_a_wall(line)]
    assert said == []
    assert trapped.owned == []
    assert [asked.path for asked in (*hostile.site.log, *hostile.outside.log)] == []


def is_a_wall(line: str) -> bool:
    """Whether a line of the console says that something was held back by a policy of ours."""
    held_back = ("Content Security Policy", "sandboxed", "Refused to", "Blocked")
    return line.startswith("console") and any(words in line for words in held_back)


# A feed has no end: the live view reads it, and that is a page of the second test.
READING: Final = [
    route for route in (*API, *PAGES) if route.method == "GET" and route.gives != "events"
]
OF_ONE: Final = [route for route in READING if any(p.name in ("url", "of") for p in route.params)]


@pytest.mark.parametrize("route", OF_ONE, ids=lambda route: route.name)
def test_every_view_of_every_hostile_page_is_held(
    trapped: Trapped, hostile: Hostile, route: Route
) -> None:
    every = {"copy": 1, "html": 4}.get(route.gives, 8)
    for url in hostile.urls[::every]:
        for address in addresses(route, "hostile", url, "garden"):
            visit(trapped.person, address)

    held(trapped, hostile)


def test_every_other_page_that_shows_strangers_text_is_held(
    trapped: Trapped, hostile: Hostile
) -> None:
    trapped.person.log_in(hostile.server.token)
    for route in READING:
        if route not in OF_ONE:
            for address in addresses(route, "hostile", hostile.urls[1], "garden"):
                visit(trapped.person, address)
    visit(trapped.person, "/crawls/hostile")
    trapped.person.page.get_by_label("show refused URLs").check()
    trapped.person.page.locator("#outcomes tr").first.wait_for()

    held(trapped, hostile)


def test_what_is_typed_or_linked_is_held(trapped: Trapped, hostile: Hostile) -> None:
    person = trapped.person
    all_shapes = shapes(hostile.outside.url("").rstrip("/"))
    person.open("/")
    for shape in all_shapes[::7]:
        for name in ("q", "site", "c", "url", "view", "at", "next"):
            path = {"url": "/page", "view": "/page", "at": "/page", "next": "/login"}.get(name, "/")
            person.page.request.get(f"{person.root}{path}?{urlencode({name: shape})}")
        visit(person, f"/?{urlencode({'q': shape, 'lang': shape, 'since': shape})}")
        visit(person, f"/page?{urlencode({'url': 'http://a.example/' + shape})}")
        visit(person, f"/{quote(shape, safe='')}")
    visit(person, f"/login?{urlencode({'next': 'javascript:owned(1)', 'ticket': '<b>'})}")

    held(trapped, hostile)


def test_clicking_everything_in_a_copy_leads_nowhere_outside(
    trapped: Trapped, hostile: Hostile
) -> None:
    person = trapped.person
    for url in hostile.urls[1:-3]:
        address = f"{person.root}/cached?{urlencode({'url': url})}"
        person.page.goto(address)
        clickable = person.page.locator(CLICKABLE).count()
        for at in range(2, min(clickable, 6)):  # the first two are links in every page
            tab = person.page.context.new_page()
            tab.goto(address)  # by itself, not in our frame
            with suppress(Error):  # not drawn
                tab.locator(CLICKABLE).nth(at).click(timeout=300, force=True)
            tab.close()

    held(trapped, hostile)


def wait_until(page_: Page, is_so: Callable[[], bool]) -> None:
    """Let a page act until it is so, or for a long time."""
    for _ in range(600):
        if is_so():
            return
        page_.wait_for_timeout(50)


def test_the_same_payloads_act_where_nothing_holds_them(trapped: Trapped) -> None:
    page_ = trapped.person.page
    # On servers of their own: what a browser still asks later is not to be in the others' logs.
    with site_in_thread({"*": page("outside")}) as outside:
        root = outside.url("").rstrip("/")
        with site_in_thread(pages_of(shapes(root), root)) as site:
            page_.goto(site.url("/0"))
            page_.goto(site.url("/20"))
            wait_until(page_, lambda: len(set(trapped.owned)) > 10)
            page_.goto(site.url("/acting"))
            page_.wait_for_url("**/top")
            wait_until(page_, lambda: {"/fetch", "/image"} <= set(outside.asked))
        asked = set(outside.asked)

    assert "acting" in trapped.owned
    assert len(set(trapped.owned)) > 10
    assert asked >= {"/fetch", "/image"}
    assert any(line.startswith("dialog") for line in trapped.person.strange)
