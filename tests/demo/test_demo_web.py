"""The demo web is the same everywhere and holds what the guide says it holds."""

import hashlib
import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest

from gossamer.demo.pages import DemoAnswer
from gossamer.demo.prose import pick, slug, some, tell
from gossamer.demo.traps import made_page
from gossamer.demo.web import HOSTS, SETTINGS, DemoSites, answer, build_web, roots_at, seeds_at
from gossamer.settings import Settings, with_values

PORT = 8000


@pytest.fixture(scope="module")
def web() -> DemoSites:
    return build_web(PORT)


def is_html(held: DemoAnswer) -> bool:
    return dict(held.headers)["content-type"].startswith("text/html")


def digest(web: DemoSites) -> str:
    held = hashlib.sha256()
    for host, pages in web.items():
        for path, said in pages.items():
            held.update(repr((host, path, said)).encode())
    return held.hexdigest()


def test_the_web_is_the_same_each_time_it_is_built(web: DemoSites) -> None:
    assert digest(build_web(PORT)) == digest(web)


def test_it_is_large_enough_to_look_at_and_small_enough_to_wait_for(web: DemoSites) -> None:
    pages = sum(is_html(held) and held.status == 200 for p in web.values() for held in p.values())

    assert 300 <= pages <= 500
    assert set(web) == set(HOSTS)
    assert len(seeds_at(PORT)) == len(HOSTS)


def test_no_honest_host_is_larger_than_the_bound_that_ends_the_traps(web: DemoSites) -> None:
    settings = with_values(Settings(), SETTINGS)

    assert max(len(pages) for pages in web.values()) < settings.frontier.pages_per_host


def reached(web: DemoSites) -> set[tuple[str, str]]:
    """What a plain walk over links and redirects finds, the traps left out."""
    seen = {(urlsplit(seed).hostname or "", "/") for seed in seeds_at(PORT)}
    waiting = sorted(seen)
    while waiting:
        host, target = waiting.pop()
        said = answer(web, host, target)
        here = f"http://{host}:{PORT}{target}"
        source = said.body.decode("latin-1")
        base = re.search(r"<base href='([^']*)'", source)
        hrefs = re.findall(r"(?:href|src|url)='?=?([^'>]*)'", source)
        hrefs += re.findall(r"content='0; url=([^']*)'", source)
        hrefs += [value for name, value in said.headers if name == "location"]
        for href in hrefs:
            try:
                parts = urlsplit(urljoin(urljoin(here, base[1]) if base else here, unescape(href)))
                name = parts.hostname or ""
            except ValueError:
                continue
            found = (name, parts.path + (f"?{parts.query}" if parts.query else ""))
            if name in web and name != "trap.localhost" and found not in seen:
                seen.add(found)
                waiting.append(found)
    return seen


def test_every_page_can_be_reached_from_the_seeds(web: DemoSites) -> None:
    held = {(host, path) for host, pages in web.items() for path in pages}
    left_out = {path for host, path in held - reached(web) if host != "trap.localhost"}

    assert {path for path in left_out if "straßen" not in path} <= {
        "/robots.txt",
        "/favicon.ico",
        "/sitemap.xml",
        "/masthead.gif",
        *(f"/print/rooms/the-{room}/" for room in ("river-room", "mill-room", "schoolroom")),
        *(f"/print/rooms/the-{room}/" for room in ("workshop", "music-loft")),
    }


@pytest.mark.parametrize("status", [200, 301, 302, 303, 307, 308, 410, 500])
def test_every_kind_of_status_is_there(web: DemoSites, status: int) -> None:
    assert any(held.status == status for pages in web.values() for held in pages.values())


def test_a_path_that_no_host_knows_is_a_404(web: DemoSites) -> None:
    assert answer(web, "museum.localhost", "/objects/lost-crown.html").status == 404
    assert answer(web, "nowhere.localhost", "/").status == 404


def test_links_between_hosts_carry_the_port(web: DemoSites) -> None:
    front = answer(web, "museum.localhost", "/").body.decode()

    assert f"{roots_at(PORT)['library.localhost']}/" in front


def test_german_pages_are_in_the_charset_they_say_or_hide(web: DemoSites) -> None:
    pages = web["stadt.localhost"]

    assert "Straße über den Fluß" in pages["/geschichte.html"].body.decode("iso-8859-1")
    assert "„Überall Wasser“" in pages["/chronik.html"].body.decode("windows-1252")
    with pytest.raises(UnicodeDecodeError):
        pages["/gruesse.html"].body.decode()


def test_the_calendar_has_no_last_month() -> None:
    target = "/calendar/2026/12"
    for _ in range(500):
        said = made_page(target)
        assert said is not None
        found = re.search(r"href='([^']*)'>The month after", said.body.decode())
        assert found
        target = found[1]

    assert target == "/calendar/2068/08"


@pytest.mark.parametrize(
    "target", ["/maze/left/right/left/", "/list?day=up&place=down", "/tickets?session=49"]
)
def test_traps_answer_what_was_never_written(web: DemoSites, target: str) -> None:
    assert answer(web, "trap.localhost", target).status == 200
    assert answer(web, "museum.localhost", target).status == 404


@pytest.mark.parametrize("target", ["/calendar/2026/13", "/calendar/x/01", "/other"])
def test_even_the_trap_does_not_hold_everything(web: DemoSites, target: str) -> None:
    assert answer(web, "trap.localhost", target).status == 404


def test_words_are_chosen_by_the_key_alone() -> None:
    words = ("owl", "heron", "swift")

    assert pick(words, "a") == pick(words, "a")
    assert sorted(some(words, 9, "k")) == sorted(words)
    assert tell("{Bird} by {place}", {"bird": words}, "k", {"place": "the weir"}).endswith("weir")
    assert tell("{Bird}", {"bird": words}, "k")[0].isupper()
    assert slug("Große Brücke, at the Miller's") == "grosse-bruecke-at-the-millers"
