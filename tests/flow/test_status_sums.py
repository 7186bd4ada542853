"""`status`, the API and the web page while a crawl runs: all figures are of one moment.

The crawl here commits once in ten minutes, so what is stored is far behind what is fetched. Before,
half of the figures came from the one and half from the other: 104 fetched, 100 statuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.a_site import Pages, Request, Site, answer, page, redirect, site_in_thread
from support.killing import started, typed, until
from web.a_browser import Browser, served

PACE = ("--delay", "0", "--workers", "0", "--set", "node.commit_every_s=600")


def some_answer(request: Request) -> bytes:
    """Pages that link to the next three; every third is missing, every fifth is broken."""
    number = int(request.target.strip("/") or 0)
    if number % 3 == 1:
        return answer(b"gone", status="404 Not Found")
    if number % 5 == 1:
        return answer(b"broken", status="500 Internal Server Error")
    if number % 7 == 1:
        return redirect(f"/{number + 1}")
    links = "".join(f"<a href=/{number + step}>x</a>" for step in range(1, 6))
    return page(f"<title>{number}</title>{links}")


@pytest.fixture
def site() -> Iterator[Site]:
    pages: Pages = {"/robots.txt": answer(b"", status="404 Not Found"), "*": some_answer}
    with site_in_thread(pages) as site:
        yield site


def assert_adds_up(figures: dict[str, Any]) -> None:
    parts = ("queued", "fetched", "redirects", "failed", "refused")
    assert figures["known"] == sum(figures[part] for part in parts)
    assert sum(figures["by_status"].values()) == figures["fetched"] + figures["redirects"]
    assert sum(figures["by_class"].values()) == figures["known"]
    assert sum(figures["refused_by"].values()) == figures["failed"] + figures["refused"]
    by_status = figures["by_status"]
    assert figures["by_class"]["4xx"] == sum(by_status[s] for s in by_status if s[0] == "4")


def test_all_figures_of_a_running_crawl_are_of_one_moment(site: Site, collection: Path) -> None:
    with started("crawl", "-c", collection, *PACE, site.url()) as running:
        until(lambda: len(site.log) >= 60, running)
        as_json = [typed("status", "-c", collection, "--json").summary for _ in range(5)]
        text = typed("status", "-c", collection).out
        server = served(collection)
        browser = Browser(server)
        from_api = [browser.get("/api/status").json() for _ in range(5)]
        markup = browser.get("/crawls/collection").text
        server.context.collections.close()

    assert as_json[0]["fetched"] > 20
    for figures in (*as_json, *from_api):
        assert figures["state"] == "running"
        assert_adds_up(figures)
    assert_text_adds_up(text)
    assert_page_adds_up(markup)


def assert_text_adds_up(text: str) -> None:
    found = re.search(r"(\d+) pages? fetched .*? (\d+) redirects?", text)
    statuses = re.search(r"  statuses: (.*)", text)
    classes = re.search(r"  responses: (.*)", text)
    assert found
    assert statuses
    assert classes
    answers = int(found[1]) + int(found[2])
    assert sum(int(n) for n in re.findall(r": (\d+)", statuses[1])) == answers
    assert sum(int(n) for n in re.findall(r"(\d+) [a-z ]+\(", classes[1])) == answers


def assert_page_adds_up(markup: str) -> None:
    """The page shows every class; answers of all classes are what was fetched and redirected."""
    shown = dict(re.findall(r'data-class="(\w+)">([\d,]+)<', markup))
    figures = dict(re.findall(r'data-figure="(\w+)">([\d,]+)<', markup))
    answers = sum(whole(shown[one]) for one in ("2xx", "3xx", "4xx", "5xx", "other"))
    assert answers == whole(figures["fetched"]) + whole(figures["redirects"])
    assert whole(shown["4xx"]) > 0


def whole(text: str) -> int:
    return int(text.replace(",", ""))


def test_a_stored_crawl_has_the_same_figures_in_all_places(site: Site, collection: Path) -> None:
    typed("crawl", "-c", collection, *PACE, "--max-pages", "40", site.url())
    server = served(collection)
    from_api = Browser(server).get("/api/status").json()
    server.context.collections.close()
    as_json = typed("status", "-c", collection, "--json").summary

    assert as_json["state"] == from_api["state"] == "stored"
    assert_adds_up(as_json)
    assert {key: from_api[key] for key in as_json} == as_json
